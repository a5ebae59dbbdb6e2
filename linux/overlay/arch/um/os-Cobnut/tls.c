// SPDX-License-Identifier: GPL-2.0
/*
 * Segments for thread-local storage. The microkernel gives each thread one, so there is one entry
 * where the processor's own kernel has three: nobody is known to use more. Where it begins is told
 * to the microkernel when the thread is to run.
 */
#include <linux/init.h>
#include <linux/sched.h>
#include <linux/syscalls.h>
#include <linux/uaccess.h>
#include <asm/ldt.h>
#include <asm/ptrace-abi.h>
#include <skas.h>
#include "cobnut.h"

static unsigned long selector;

void __init cobnut_tls_init(void)
{
	x2_set_tls(main_thread.raw, ~0ul, &selector);
}

static int entry(void)
{
	return selector >> 3;
}

static struct uml_tls_struct *tls_of(struct task_struct *task)
{
	return &task->thread.arch.tls_array[0];
}

static void clear(struct user_desc *info)
{
	memset(info, 0, sizeof(*info));
	info->entry_number = entry();
	info->read_exec_only = 1;
	info->seg_not_present = 1;
}

static int set(struct task_struct *task, const struct user_desc *info)
{
	struct uml_tls_struct *tls = tls_of(task);

	tls->tls = *info;
	tls->present = !LDT_empty(info);
	task->thread.arch.cobnut.ready = 0;
	if (tls->present)
		task->thread.regs.regs.gp[HOST_GS] = selector;
	return 0;
}

int arch_set_tls(struct task_struct *new, unsigned long address)
{
	struct user_desc info;

	if (copy_from_user(&info, (void __user *)address, sizeof(info)))
		return -EFAULT;
	if (LDT_empty(&info) || info.entry_number != entry())
		return -EINVAL;
	return set(new, &info);
}

SYSCALL_DEFINE1(set_thread_area, struct user_desc __user *, user_info)
{
	struct user_desc info;

	if (copy_from_user(&info, user_info, sizeof(info)))
		return -EFAULT;
	if (info.entry_number == -1) {
		if (tls_of(current)->present)
			return -ESRCH;
		info.entry_number = entry();
		if (put_user(info.entry_number, &user_info->entry_number))
			return -EFAULT;
	}
	return info.entry_number == entry() ? set(current, &info) : -EINVAL;
}

static int get(struct task_struct *task, int number, struct user_desc __user *to)
{
	struct user_desc info;

	if (number != entry())
		return -EINVAL;
	if (tls_of(task)->present)
		info = tls_of(task)->tls;
	else
		clear(&info);
	return copy_to_user(to, &info, sizeof(info)) ? -EFAULT : 0;
}

SYSCALL_DEFINE1(get_thread_area, struct user_desc __user *, user_info)
{
	int number;

	if (get_user(number, &user_info->entry_number))
		return -EFAULT;
	return get(current, number, user_info);
}

int ptrace_get_thread_area(struct task_struct *child, int number, struct user_desc __user *to)
{
	return get(child, number, to);
}

int ptrace_set_thread_area(struct task_struct *child, int number, struct user_desc __user *from)
{
	struct user_desc info;

	if (copy_from_user(&info, from, sizeof(info)))
		return -EFAULT;
	return number == entry() ? set(child, &info) : -EINVAL;
}

/* All is done when the thread is to run. */
int arch_switch_tls(struct task_struct *to)
{
	return 0;
}

void clear_flushed_tls(struct task_struct *task)
{
}

SYSCALL_DEFINE3(modify_ldt, int, function, void __user *, pointer, unsigned long, bytes)
{
	return -ENOSYS;
}
