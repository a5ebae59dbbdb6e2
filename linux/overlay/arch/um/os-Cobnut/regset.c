// SPDX-License-Identifier: GPL-2.0
/*
 * The registers of a task that is stopped, as sets that debuggers ask for by the types of a core
 * dump's notes (PTRACE_GETREGSET). Requests for one set each are in arch/x86/um/ptrace_32.c.
 */
#include <linux/elf.h>
#include <linux/ptrace.h>
#include <linux/regset.h>
#include <linux/sched.h>
#include <linux/uaccess.h>
#include <asm/user.h>
#include <registers.h>

static int general_get(struct task_struct *task, const struct user_regset *set, struct membuf to)
{
	unsigned int at;

	for (at = 0; at < set->n * set->size; at += set->size)
		membuf_store(&to, getreg(task, at));
	return 0;
}

static int general_set(struct task_struct *task, const struct user_regset *set, unsigned int pos,
		       unsigned int count, const void *kbuf, const void __user *ubuf)
{
	unsigned long value;
	int err = 0;

	while (count && !err) {
		err = user_regset_copyin(&pos, &count, &kbuf, &ubuf, &value, pos, pos + sizeof(value));
		err = err ?: putreg(task, pos - sizeof(value), value);
	}
	return err;
}

static int i387_get(struct task_struct *task, const struct user_regset *set, struct membuf to)
{
	struct user_i387_struct fp;

	return cobnut_save_i387(task, (unsigned long *)&fp) ?: membuf_write(&to, &fp, sizeof(fp));
}

static int i387_set(struct task_struct *task, const struct user_regset *set, unsigned int pos,
		    unsigned int count, const void *kbuf, const void __user *ubuf)
{
	struct user_i387_struct fp;

	return cobnut_save_i387(task, (unsigned long *)&fp) ?:
	       user_regset_copyin(&pos, &count, &kbuf, &ubuf, &fp, 0, sizeof(fp)) ?:
	       cobnut_restore_i387(task, (unsigned long *)&fp);
}

static int fxsr_get(struct task_struct *task, const struct user_regset *set, struct membuf to)
{
	struct user_fxsr_struct fp;

	return cobnut_save_fpx(task, (unsigned long *)&fp) ?: membuf_write(&to, &fp, sizeof(fp));
}

static int fxsr_set(struct task_struct *task, const struct user_regset *set, unsigned int pos,
		    unsigned int count, const void *kbuf, const void __user *ubuf)
{
	struct user_fxsr_struct fp;

	return cobnut_save_fpx(task, (unsigned long *)&fp) ?:
	       user_regset_copyin(&pos, &count, &kbuf, &ubuf, &fp, 0, sizeof(fp)) ?:
	       cobnut_restore_fpx(task, (unsigned long *)&fp);
}

#define WORDS(type)	(sizeof(type) / sizeof(long))
#define SET(note, words, name)	{ .core_note_type = note, .n = words, .size = sizeof(long), \
				  .align = sizeof(long), .regset_get = name##_get, .set = name##_set }

static const struct user_regset sets[] = {
	SET(NT_PRSTATUS, WORDS(struct user_regs_struct), general),
	SET(NT_PRFPREG, WORDS(struct user_i387_struct), i387),
	SET(NT_PRXFPREG, WORDS(struct user_fxsr_struct), fxsr),
};

static const struct user_regset_view view = {
	.name = "i386", .e_machine = EM_386, .regsets = sets, .n = ARRAY_SIZE(sets),
};

const struct user_regset_view *task_user_regset_view(struct task_struct *task)
{
	return &view;
}
