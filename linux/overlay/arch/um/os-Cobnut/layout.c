// SPDX-License-Identifier: GPL-2.0
/*
 * Where programs have what. A small space ends at 256 MB, so there are two layouts: in the small
 * one the stack ends below that and libraries begin at 167 MB (Uhlig et al., 2002, 3.3), and what
 * the microkernel and this layer have in the space is in the first 64 KB, where programs map
 * nothing. The layout is chosen when a program is started. If it maps more than a small space holds,
 * the microkernel makes its space large; if it needs what the small layout has no room for, it gets
 * a space with the other layout.
 *
 * The large layout is that of the processor's own kernel (arch/x86/mm/mmap.c), by its rule: what is
 * mapped goes downwards from below the room for the stack, and where it begins is random. In the
 * small layout there is no room to be random in.
 */
#include <linux/elf.h>
#include <linux/elf-randomize.h>
#include <linux/mm.h>
#include <linux/personality.h>
#include <linux/random.h>
#include <linux/sched.h>
#include <linux/sched/mm.h>
#include <linux/sched/signal.h>
#include <asm/mmu_context.h>
#include <registers.h>
#include <skas.h>
#include "cobnut.h"

#define MB			(1ul << 20)
#define SMALL_END		(256 * MB)
#define SMALL_MMAP_BASE		(167 * MB)
#define PROGRAM_BASE		(4 * MB)	/* as natively */
#define SMALL_HEAP		(4 * MB)	/* at least so much between a program and its libraries */
#define SMALL_STACK		(32 * MB)
#define LARGE_STACK		(128 * MB)	/* at least so much between what is mapped and the end */
#define STACK_RANDOM		(0x7FFul << PAGE_SHIFT)	/* fs/binfmt_elf.c */
#define HEAP_RANDOM		(32 * MB)

/* What this layer has in the space: code, and behind it a page of data. */
unsigned long cobnut_stub(const struct mm_id *space)
{
	return space->large ? server_boot->stub : server_boot->small_stub;
}

static bool is_large(void)
{
	return !current->mm || current->mm->context.id.large;
}

unsigned long cobnut_stack_top(void)
{
	return is_large() ? STACK_TOP_MAX : SMALL_END;
}

unsigned long cobnut_program_base(void)
{
	return PROGRAM_BASE;
}

/* How far programs that may be anywhere, and what is mapped, are from where they would be. */
unsigned long arch_mmap_rnd(void)
{
	if (!is_large() || !(current->flags & PF_RANDOMIZE))
		return 0;
	return (get_random_long() & ((1ul << mmap_rnd_bits) - 1)) << PAGE_SHIFT;
}

unsigned long arch_randomize_brk(struct mm_struct *mm)
{
	return is_large() ? randomize_page(mm->brk, HEAP_RANDOM) : mm->brk;
}

/* From the base of libraries upwards; if there is no room, below it, where the heap may grow. */
static unsigned long small_unmapped_area(struct file *file, unsigned long address,
					 unsigned long length, unsigned long offset,
					 unsigned long flags)
{
	struct vm_unmapped_area_info below = {
		.length = length,
		.low_limit = PROGRAM_BASE,
		.high_limit = current->mm->mmap_base,
	};
	const unsigned long found = generic_get_unmapped_area(file, address, length, offset, flags);

	return found == -ENOMEM ? vm_unmapped_area(&below) : found;
}

/* Large, downwards: the limit of the stack may be infinity. */
static unsigned long large_mmap_base(unsigned long stack)
{
	unsigned long gap = min(stack, TASK_SIZE) + stack_guard_gap;

	if (current->flags & PF_RANDOMIZE)
		gap += STACK_RANDOM;
	return PAGE_ALIGN(TASK_SIZE - clamp(gap, LARGE_STACK, TASK_SIZE / 6 * 5) - arch_mmap_rnd());
}

/*
 * When a program is started, behind cobnut_pick_layout(). Copies at fork have the same, and a
 * program keeps it when it gets a space with the other layout.
 */
void arch_pick_mmap_layout(struct mm_struct *mm, struct rlimit *stack)
{
	if (!mm->context.id.large) {
		mm->mmap_base = SMALL_MMAP_BASE;
		mm->get_unmapped_area = small_unmapped_area;
	} else if (current->personality & ADDR_COMPAT_LAYOUT || sysctl_legacy_va_layout) {
		mm->mmap_base = TASK_UNMAPPED_BASE + arch_mmap_rnd();
		mm->get_unmapped_area = arch_get_unmapped_area;
	} else {
		mm->mmap_base = large_mmap_base(stack->rlim_cur);
		mm->get_unmapped_area = arch_get_unmapped_area_topdown;
	}
}

/* For a program that is about to be loaded: by its segments, and by how long its stack may be. */
void cobnut_pick_layout(const struct elf32_phdr *headers, int count, unsigned long stack)
{
	unsigned long start = ~0ul, end = 0;
	int i;

	for (i = 0; i < count; i++) {
		if (headers[i].p_type != PT_LOAD)
			continue;
		start = min_t(unsigned long, start, headers[i].p_vaddr);
		end = max_t(unsigned long, end, headers[i].p_vaddr + headers[i].p_memsz);
	}
	/* one that may be anywhere begins at 0 */
	if (start < PROGRAM_BASE)
		end += PROGRAM_BASE;
	if (stack > SMALL_STACK || end > SMALL_MMAP_BASE - SMALL_HEAP)
		current->mm->context.id.large = 1;
}

/*
 * Another space for all tasks of the mm, which come to it when they are to run next. They are
 * waiting for the server or are stopped; those that have a page fault get it again.
 */
void cobnut_enlarge(struct mm_struct *mm)
{
	struct mm_id *space = &mm->context.id;
	struct task_struct *process, *task;

	if (space->large)
		return;
	rcu_read_lock();
	for_each_process_thread(process, task) {
		struct cobnut_thread *thread = &task->thread.arch.cobnut;

		if (task->mm != mm || thread->state == COBNUT_NONE)
			continue;
		cobnut_quiesce(task);
		if (cobnut_read_fpu(task))
			send_sig(SIGKILL, task, 1);
		thread->fpu = 1;
		cobnut_drop_thread(thread);
	}
	rcu_read_unlock();
	cobnut_drop_space(space);
	space->large = 1;
}

/* Called before something is mapped there. */
void arch_unmap(struct mm_struct *mm, unsigned long start, unsigned long end)
{
	if (start < server_boot->small_end && end > server_boot->small_stub)
		cobnut_enlarge(mm);
}
