// SPDX-License-Identifier: GPL-2.0
/*
 * Spaces and threads of the microkernel for processes and tasks: made when they are first needed
 * to run, since many a task never runs a user instruction in the space it begins with.
 *
 * A space begins with a thread that never runs, its anchor: it lives as long as the mm, however the
 * tasks come and go, and unmapping names the space by it.
 */
#include <linux/bitmap.h>
#include <linux/mm.h>
#include <linux/sched.h>
#include <linux/slab.h>
#include <asm/mmu_context.h>
#include <registers.h>
#include <skas.h>
#include "cobnut.h"

#define LARGE_UTCBS	2048	/* in the area that root gives a space */
#define SMALL_UTCBS	64
#define ANCHOR_UTCB	0

static unsigned long *numbers_used;
static unsigned short *versions;
static unsigned int next_number;

static int take_number(void)
{
	unsigned int most = server_boot->threads, number;

	if (!numbers_used) {
		numbers_used = bitmap_zalloc(most, GFP_KERNEL);
		versions = kvcalloc(most, sizeof(*versions), GFP_KERNEL);
		if (!numbers_used || !versions)
			return -ENOMEM;
	}
	/* the lowest last: a number's old ids should stay unknown for long */
	number = find_next_zero_bit(numbers_used, most, next_number);
	if (number >= most)
		number = find_first_zero_bit(numbers_used, most);
	if (number >= most)
		return -EAGAIN;
	__set_bit(number, numbers_used);
	next_number = number + 1;
	do
		versions[number] = (versions[number] + 1) & 0x3FFF;
	while (!(versions[number] & 0x3F));
	return number;
}

static unsigned long id_of(unsigned int number)
{
	return L4_GlobalId(server_boot->first_thread + number, versions[number]).raw;
}

static void delete_thread(unsigned long id)
{
	L4_Word_t word = id;

	root_call(CALL_DELETE_THREAD, 1, &word);
	__clear_bit(L4_ThreadNo((L4_ThreadId_t){ .raw = id }) - server_boot->first_thread,
		    numbers_used);
}

static int utcbs_of(const struct mm_id *space)
{
	return space->large ? LARGE_UTCBS : SMALL_UTCBS;
}

static int make_space(struct mm_id *space)
{
	L4_Word_t words[2];
	int number, err;

	space->utcbs = bitmap_zalloc(LARGE_UTCBS, GFP_KERNEL);
	if (!space->utcbs)
		return -ENOMEM;
	number = take_number();
	err = number;
	if (number >= 0) {
		words[0] = id_of(number);
		words[1] = !space->large;
		err = root_call(CALL_MAKE_SPACE, 2, words);
		if (!err) {
			space->anchor = words[0];
			__set_bit(ANCHOR_UTCB, space->utcbs);
			return 0;
		}
		__clear_bit(number, numbers_used);
	}
	bitmap_free(space->utcbs);
	space->utcbs = NULL;
	return err;
}

/* A thread for the task, in its mm's space; it is stopped. */
int cobnut_make_thread(struct task_struct *task)
{
	struct cobnut_thread *thread = &task->thread.arch.cobnut;
	struct mm_id *space = &task->mm->context.id;
	L4_Word_t words[4];
	int number, err;

	if (space->anchor && !space->large && bitmap_full(space->utcbs, SMALL_UTCBS))
		cobnut_enlarge(task->mm);
	if (!space->anchor) {
		err = make_space(space);
		if (err)
			return err;
	}
	words[2] = find_first_zero_bit(space->utcbs, utcbs_of(space));
	if (words[2] >= utcbs_of(space))
		return -EAGAIN;
	number = take_number();
	if (number < 0)
		return number;
	words[0] = id_of(number);
	words[1] = space->anchor;
	words[3] = !space->large;
	err = root_call(CALL_MAKE_THREAD, 4, words);
	if (err) {
		__clear_bit(number, numbers_used);
		return err;
	}
	__set_bit(words[2], space->utcbs);
	thread->id = words[0];
	thread->space = space;
	thread->utcb = words[2];
	thread->state = COBNUT_STOPPED;
	thread->tls = ~0ul;
	thread->loaded = 0;
	thread->debug = task->thread.arch.debugregs[7] != 0;
	return 0;
}

void cobnut_drop_thread(struct cobnut_thread *thread)
{
	if (thread->state == COBNUT_NONE)
		return;
	delete_thread(thread->id);
	__clear_bit(thread->utcb, thread->space->utcbs);
	thread->state = COBNUT_NONE;
	thread->ready = 0;
	thread->space = NULL;
}

/* With the anchor, the last thread, goes the space. */
void cobnut_drop_space(struct mm_id *space)
{
	if (!space->anchor)
		return;
	delete_thread(space->anchor);
	space->anchor = 0;
	bitmap_free(space->utcbs);
	space->utcbs = NULL;
}

/* A page of the space's that stubs read and write; made on first use. */
void *cobnut_stub_data(struct mm_id *space)
{
	if (!space->stub_data)
		space->stub_data = get_zeroed_page(GFP_ATOMIC);
	return (void *)space->stub_data;
}

int init_new_context(struct task_struct *task, struct mm_struct *mm)
{
	/* a copy at fork has its addresses where its original has them; in others these are 0 */
	mm->context.id = (struct mm_id){
		.large = mm->context.id.large || !server_boot->small_stub,
		.vdso = mm->context.id.vdso };
	return init_new_ldt(&mm->context, NULL);
}

void destroy_context(struct mm_struct *mm)
{
	struct mm_id *space = &mm->context.id;

	cobnut_drop_space(space);
	free_page(space->stub_data);
	space->stub_data = 0;
	free_ldt(&mm->context);
}

void flush_thread(void)
{
	arch_flush_thread(&current->thread.arch);
	current->thread.arch.cobnut.fs_in_turn = 0;
	memset(current->thread.arch.debugregs, 0, sizeof(current->thread.arch.debugregs));
	memset(&current->thread.regs.regs, 0, sizeof(current->thread.regs.regs));
	get_safe_registers(current->thread.regs.regs.gp, current->thread.regs.regs.fp);
}

void start_thread(struct pt_regs *regs, unsigned long ip, unsigned long sp)
{
	PT_REGS_IP(regs) = ip;
	PT_REGS_SP(regs) = sp;
	clear_thread_flag(TIF_SINGLESTEP);
}
EXPORT_SYMBOL(start_thread);
