// SPDX-License-Identifier: GPL-2.0
/*
 * Where programs have what. A small space ends at 256 MB, so there are two layouts: in the small
 * one the stack ends below that and libraries begin at 167 MB (Uhlig et al., 2002, 3.3), and what
 * the microkernel and this layer have in the space is in the first 64 KB, where programs map
 * nothing. The layout is chosen when a program is started. If it maps more than a small space holds,
 * the microkernel makes its space large; if it needs what the small layout has no room for, it gets
 * a space with the other layout.
 */
#include <linux/elf.h>
#include <linux/mm.h>
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
#define LARGE_MMAP_BASE		0x40000000ul

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

unsigned long cobnut_mmap_base(void)
{
	return is_large() ? LARGE_MMAP_BASE : SMALL_MMAP_BASE;
}

unsigned long cobnut_program_base(void)
{
	return PROGRAM_BASE;
}

/* From the base of libraries upwards; if there is no room, below it, where the heap may grow. */
unsigned long cobnut_unmapped_area(struct file *file, unsigned long address, unsigned long length,
				   unsigned long offset, unsigned long flags)
{
	struct vm_unmapped_area_info below = {
		.length = length,
		.low_limit = PROGRAM_BASE,
		.high_limit = current->mm->mmap_base,
	};
	const unsigned long found = generic_get_unmapped_area(file, address, length, offset, flags);

	return found == -ENOMEM ? vm_unmapped_area(&below) : found;
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
