// SPDX-License-Identifier: GPL-2.0
/*
 * Segments of programs: three of each task's own, by set_thread_area, and those of a process's
 * local descriptor table, by modify_ldt. They are data segments behind FS and GS: limits and rights
 * are not kept, and no other register can have one.
 *
 * The microkernel gives each thread one segment. A program with one behind FS and another behind GS
 * has them in turns: GS is empty while FS is in turn, and FS has the whole space from 0 while GS is, of
 * which programs have nothing at its beginning. So an access through the other one is a fault, which
 * gives it its turn. glibc's, behind GS, is the first to have it and keeps it in programs that have no
 * other.
 */
#include <linux/gfp.h>
#include <linux/init.h>
#include <linux/sched.h>
#include <linux/sched/signal.h>
#include <linux/syscalls.h>
#include <linux/uaccess.h>
#include <asm/ldt.h>
#include <asm/mmu.h>
#include <asm/ptrace-abi.h>
#include <skas.h>
#include "cobnut.h"
#include "stub.h"

#define NO_SEGMENT		~0ul
#define USER_RIGHTS		3u
#define IN_LDT			4u
#define OF_GATE			2u	/* in an error code */
#define PRESENT			0x8000u
#define ACCESSED		0x100u	/* the processor's own kernel marks all */
#define CODE			0x800u
#define DEFAULT_LDT		(5 * LDT_ENTRY_SIZE)	/* bytes of the one that function 2 reads */

static unsigned long selector;	/* the microkernel's, for the segment that is in turn */

void __init cobnut_tls_init(void)
{
	x2_set_tls(main_thread.raw, NO_SEGMENT, &selector);
}

/* The first of a task's own entries has the microkernel's number, which programs load without a fault. */
static int entry(void)
{
	return selector >> 3;
}

static struct uml_tls_struct *tls_of(struct task_struct *task, int number)
{
	const unsigned int index = number - entry();

	return index < GDT_ENTRY_TLS_ENTRIES ? &task->thread.arch.tls_array[index] : NULL;
}

static unsigned long base_in_ldt(struct mm_struct *mm, unsigned int number)
{
	const struct ldt_entry *page = mm->context.arch.ldt.u.pages[number / LDT_ENTRIES_PER_PAGE];
	const struct ldt_entry *found = page ? &page[number % LDT_ENTRIES_PER_PAGE] : NULL;

	if (!found || !(found->b & PRESENT) || found->b & CODE)
		return NO_SEGMENT;
	return found->a >> 16 | (found->b & 0xFF) << 16 | (found->b & 0xFF000000);
}

/* Where the segment begins that a selector names, or NO_SEGMENT. */
static unsigned long base_of(struct task_struct *task, unsigned int which)
{
	const struct uml_tls_struct *tls;

	unsigned long base = NO_SEGMENT;

	which &= 0xFFFF;
	tls = tls_of(task, which >> 3);
	if (which & IN_LDT)
		base = base_in_ldt(task->mm, which >> 3);
	else if (tls && tls->present)
		base = tls->tls.base_addr;
	/* not where no program has memory */
	return base < TASK_SIZE ? base : NO_SEGMENT;
}

static unsigned long base_behind(struct task_struct *task, int reg)
{
	return base_of(task, task->thread.regs.regs.gp[reg]);
}

/* Tells the microkernel where the segment in turn begins, and has the thread load it. */
void cobnut_load_tls(struct task_struct *task)
{
	struct cobnut_thread *thread = &task->thread.arch.cobnut;
	unsigned long base;
	int in_turn;

	/* it has been taken from the table, or a handler that had it has returned */
	if (thread->fs_in_turn && base_behind(task, HOST_FS) == NO_SEGMENT)
		thread->fs_in_turn = 0;
	in_turn = thread->fs_in_turn ? STUB_LOAD_FS : STUB_LOAD_GS;
	base = base_behind(task, thread->fs_in_turn ? HOST_FS : HOST_GS);
	if (base != thread->tls) {
		x2_set_tls(thread->id, base, NULL);
		thread->tls = base;
	}
	if (base == NO_SEGMENT)
		thread->loaded = 0;
	else if (thread->loaded != in_turn)
		thread->loaded = cobnut_run_stub(task, in_turn, selector, 0, NULL) ? 0 : in_turn;
}

/* An instruction, as far as it can be read, and what its prefixes say. */
struct instruction {
	unsigned char byte[15];
	int length, at;		/* bytes there are; the opcode's place */
	bool operand16, address16;
	unsigned char segment;	/* the last prefix that names one, or 0 */
};

static void read_instruction(struct instruction *i, unsigned long ip)
{
	memset(i, 0, sizeof(*i));
	while (i->length < sizeof(i->byte) &&
	       !get_user(i->byte[i->length], (unsigned char __user *)ip + i->length))
		i->length++;
	for (; i->at < i->length; i->at++) {
		const unsigned char byte = i->byte[i->at];

		switch (byte) {
		case 0x26: case 0x2E: case 0x36: case 0x3E: case 0x64: case 0x65:
			i->segment = byte;
			break;
		case 0x66:
			i->operand16 = true;
			break;
		case 0x67:
			i->address16 = true;
			break;
		case 0xF0: case 0xF2: case 0xF3:
			break;
		default:
			return;
		}
	}
}

/* Bytes of an operand that begins with this one, by 32-bit addresses; `next` is the byte behind it. */
static int operand_length(unsigned char operand, unsigned char next)
{
	const int mode = operand >> 6, base = operand & 7;
	const bool scaled = base == 4;

	switch (mode) {
	case 0:
		return 1 + scaled + (base == 5 || (scaled && (next & 7) == 5) ? 4 : 0);
	case 1:
		return 1 + scaled + 1;
	case 2:
		return 1 + scaled + 4;
	default:
		return 1;
	}
}

/* A load of FS or GS with a selector that the microkernel does not know: done here, if it names a segment. */
static bool load_segment(struct uml_pt_regs *regs, const struct instruction *i, unsigned int which)
{
	enum { MOV = 0x8E, TWO_BYTES = 0x0F, POP_FS = 0xA1, POP_GS = 0xA9, FS_NUMBER = 4, GS_NUMBER = 5 };
	const unsigned char *byte = &i->byte[i->at];
	int number, length = i->at, popped = 0;

	if (i->at + 2 > i->length)
		return false;
	if (byte[0] == MOV && !i->address16) {
		number = byte[1] >> 3 & 7;
		length += 1 + operand_length(byte[1], byte[2]);
	} else if (byte[0] == TWO_BYTES && (byte[1] == POP_FS || byte[1] == POP_GS)) {
		number = byte[1] == POP_FS ? FS_NUMBER : GS_NUMBER;
		length += 2;
		popped = i->operand16 ? 2 : 4;
	} else {
		return false;
	}
	if ((number != FS_NUMBER && number != GS_NUMBER) || base_of(current, which) == NO_SEGMENT)
		return false;
	regs->gp[number == FS_NUMBER ? HOST_FS : HOST_GS] = which | USER_RIGHTS;
	regs->gp[HOST_IP] += length;
	regs->gp[HOST_SP] += popped;
	current->thread.arch.cobnut.fs_in_turn = number == FS_NUMBER;
	current->thread.arch.cobnut.ready = 0;
	return true;
}

/* An access through the register that is not in turn: it gets its turn. */
static bool give_turn(struct uml_pt_regs *regs)
{
	enum { FS_PREFIX = 0x64, GS_PREFIX = 0x65 };
	struct cobnut_thread *thread = &current->thread.arch.cobnut;
	struct instruction i;

	/* nearly all programs have one segment; to read the instruction is dear */
	if (base_behind(current, thread->fs_in_turn ? HOST_GS : HOST_FS) == NO_SEGMENT)
		return false;
	read_instruction(&i, regs->gp[HOST_IP]);
	if (i.segment != (thread->fs_in_turn ? GS_PREFIX : FS_PREFIX))
		return false;
	thread->fs_in_turn = !thread->fs_in_turn;
	thread->ready = 0;
	return true;
}

/*
 * A protection fault with this error code, or, with 0, a page fault for which Linux has no page:
 * true if the program can go on, because it has loaded a segment or a register has its turn.
 */
bool cobnut_segment_fault(struct uml_pt_regs *regs, unsigned int code)
{
	struct instruction i;

	if (!code)
		return give_turn(regs);
	if (code & OF_GATE)
		return false;
	read_instruction(&i, regs->gp[HOST_IP]);
	return load_segment(regs, &i, code & ~USER_RIGHTS);
}

/* As the processor's own kernel: what clears an entry, and what may be in one beside. */
static bool is_clear(const struct user_desc *info)
{
	return LDT_empty(info) ||
	       !(info->base_addr || info->limit || info->contents || info->read_exec_only || info->seg_32bit ||
		 info->limit_in_pages || info->seg_not_present || info->useable);
}

static bool is_data(const struct user_desc *info)
{
	return info->seg_32bit && info->contents <= 1 && !info->seg_not_present;
}

static void clear(struct user_desc *info, int number)
{
	memset(info, 0, sizeof(*info));
	info->entry_number = number;
	info->read_exec_only = 1;
	info->seg_not_present = 1;
}

static int set(struct task_struct *task, const struct user_desc *info)
{
	struct uml_tls_struct *tls = tls_of(task, info->entry_number);

	if (!tls || !(is_clear(info) || is_data(info)))
		return -EINVAL;
	tls->tls = *info;
	tls->present = !is_clear(info);
	task->thread.arch.cobnut.ready = 0;
	if (tls->present && info->entry_number == entry())
		task->thread.regs.regs.gp[HOST_GS] = selector;
	return 0;
}

int arch_set_tls(struct task_struct *new, unsigned long address)
{
	struct user_desc info;

	if (copy_from_user(&info, (void __user *)address, sizeof(info)))
		return -EFAULT;
	return is_clear(&info) ? -EINVAL : set(new, &info);
}

static int free_entry(struct task_struct *task)
{
	int number;

	for (number = entry(); number < entry() + GDT_ENTRY_TLS_ENTRIES; number++)
		if (!tls_of(task, number)->present)
			return number;
	return -ESRCH;
}

SYSCALL_DEFINE1(set_thread_area, struct user_desc __user *, user_info)
{
	struct user_desc info;
	int number;

	if (copy_from_user(&info, user_info, sizeof(info)))
		return -EFAULT;
	if (!is_clear(&info) && !is_data(&info))
		return -EINVAL;
	if (info.entry_number == -1) {
		number = free_entry(current);
		if (number < 0)
			return number;
		info.entry_number = number;
		if (put_user(info.entry_number, &user_info->entry_number))
			return -EFAULT;
	}
	return set(current, &info);
}

static int get(struct task_struct *task, int number, struct user_desc __user *to)
{
	const struct uml_tls_struct *tls = tls_of(task, number);
	struct user_desc info;

	if (!tls)
		return -EINVAL;
	if (tls->present)
		info = tls->tls;
	else
		clear(&info, number);
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
	info.entry_number = number;
	return set(child, &info);
}

/* All is done when the thread is to run. */
int arch_switch_tls(struct task_struct *to)
{
	return 0;
}

void clear_flushed_tls(struct task_struct *task)
{
}

/* The table of a new process, which has its parent's in it, or none: gets a copy of its own. */
long init_new_ldt(struct mm_context *to, struct mm_context *from)
{
	struct ldt_entry **pages = to->arch.ldt.u.pages;
	int n;

	for (n = 0; n < LDT_PAGES_MAX; n++) {
		const struct ldt_entry *original = pages[n];

		if (!original)
			continue;
		pages[n] = (struct ldt_entry *)__get_free_page(GFP_KERNEL);
		if (!pages[n]) {
			while (++n < LDT_PAGES_MAX)
				pages[n] = NULL;
			free_ldt(to);
			return -ENOMEM;
		}
		memcpy(pages[n], original, PAGE_SIZE);
	}
	return 0;
}

void free_ldt(struct mm_context *mm)
{
	int n;

	for (n = 0; n < LDT_PAGES_MAX; n++) {
		free_page((unsigned long)mm->arch.ldt.u.pages[n]);
		mm->arch.ldt.u.pages[n] = NULL;
	}
}

/* Bytes behind the last entry that was written are 0, and the result is the length of all. */
static int read_ldt(void __user *to, unsigned long bytes)
{
	const struct uml_ldt *ldt = &current->mm->context.arch.ldt;
	unsigned long at, part;

	if (!ldt->entry_count)
		return 0;
	bytes = min_t(unsigned long, bytes, LDT_ENTRIES * LDT_ENTRY_SIZE);
	for (at = 0; at < bytes; at += part) {
		const struct ldt_entry *page = ldt->u.pages[at / PAGE_SIZE];

		part = min(bytes - at, PAGE_SIZE);
		if (page ? copy_to_user(to + at, page, part) : clear_user(to + at, part))
			return -EFAULT;
	}
	return bytes;
}

/* All threads of the process find the table as it is now when they run next. */
static void table_has_changed(struct mm_struct *mm)
{
	struct task_struct *process, *task;

	rcu_read_lock();
	for_each_process_thread(process, task)
		if (task->mm == mm)
			task->thread.arch.cobnut.ready = 0;
	rcu_read_unlock();
}

/* As arch/x86/kernel/ldt.c; `old`: bit `useable` is not kept, and a base and limit of 0 clear the entry. */
static int write_ldt(const void __user *from, unsigned long bytes, bool old)
{
	struct uml_ldt *ldt = &current->mm->context.arch.ldt;
	struct ldt_entry new = { 0 };
	struct ldt_entry **page;
	struct user_desc info;
	unsigned long fresh;

	if (bytes != sizeof(info))
		return -EINVAL;
	if (copy_from_user(&info, from, sizeof(info)))
		return -EFAULT;
	if (info.entry_number >= LDT_ENTRIES)
		return -EINVAL;
	if (info.contents == 3 && (old || !info.seg_not_present))
		return -EINVAL;
	if (!(old && !info.base_addr && !info.limit) && !LDT_empty(&info)) {
		if (old)
			info.useable = 0;
		new.a = LDT_entry_a(&info);
		new.b = LDT_entry_b(&info) | ACCESSED;
	}
	page = &ldt->u.pages[info.entry_number / LDT_ENTRIES_PER_PAGE];
	if (!*page) {
		fresh = get_zeroed_page(GFP_KERNEL);
		if (!fresh)
			return -ENOMEM;
		/* another thread of the process may have run */
		if (*page)
			free_page(fresh);
		else
			*page = (struct ldt_entry *)fresh;
	}
	(*page)[info.entry_number % LDT_ENTRIES_PER_PAGE] = new;
	ldt->entry_count = max_t(int, ldt->entry_count, info.entry_number + 1);
	table_has_changed(current->mm);
	return 0;
}

SYSCALL_DEFINE3(modify_ldt, int, function, void __user *, pointer, unsigned long, bytes)
{
	enum { READ_LDT = 0, WRITE_OLD = 1, READ_DEFAULT = 2, WRITE_LDT = 0x11 };

	switch (function) {
	case READ_LDT:
		return read_ldt(pointer, bytes);
	case READ_DEFAULT:
		bytes = min_t(unsigned long, bytes, DEFAULT_LDT);
		return clear_user(pointer, bytes) ? -EFAULT : bytes;
	case WRITE_OLD:
	case WRITE_LDT:
		return write_ldt(pointer, bytes, function == WRITE_OLD);
	default:
		return -ENOSYS;
	}
}
