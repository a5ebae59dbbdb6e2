// SPDX-License-Identifier: GPL-2.0
/*
 * Breakpoints of the processor's, as ptrace sets them. The microkernel lets each thread have its
 * own; the task's thread loads them itself, and reads what has raised its debug exception.
 */
#include <linux/errno.h>
#include <linux/mm.h>
#include <linux/sched.h>
#include <linux/string.h>
#include <asm/page.h>
#include <skas.h>
#include "cobnut.h"
#include "stub.h"

#define BREAKPOINTS	4
#define STATUS		6
#define CONTROL		7
#define ENABLED		0xFFul
#define LOCALS		0x55ul
#define GLOBAL_DETECT	(1ul << 13)

/* Whether the control word asks for supported breakpoints: kind 2 is of ports, length 2 eight bytes. */
static bool is_possible(unsigned long control)
{
	int i;

	for (i = 0; i < BREAKPOINTS; i++) {
		const unsigned long kind = control >> (16 + 4 * i) & 3;
		const unsigned long length = control >> (18 + 4 * i) & 3;

		if (control >> 2 * i & 3 && (kind == 2 || length == 2 || (!kind && length)))
			return false;
	}
	return !(control & GLOBAL_DETECT);
}

/* From ptrace: the task is stopped. */
int cobnut_set_debug(struct task_struct *task, int number, unsigned long value)
{
	if (number >= BREAKPOINTS && number < STATUS)
		return -EIO;
	if (number < BREAKPOINTS && value >= TASK_SIZE)
		return -EINVAL;
	if (number == CONTROL && !is_possible(value))
		return -EINVAL;
	task->thread.arch.debugregs[number] = value;
	task->thread.arch.cobnut.debug = 1;
	task->thread.arch.cobnut.ready = 0;
	return 0;
}

void cobnut_load_debug(struct task_struct *task)
{
	const unsigned long *registers = task->thread.arch.debugregs;
	struct mm_id *space = &task->mm->context.id;
	unsigned long *data = cobnut_stub_data(space), enabled = registers[CONTROL] & ENABLED;

	if (!data)
		return;
	memcpy(data, registers, BREAKPOINTS * sizeof(*data));
	/* global breakpoints are set as local ones: the microkernel has them for this thread alone */
	data[BREAKPOINTS] = (registers[CONTROL] & ~ENABLED) | ((enabled | enabled >> 1) & LOCALS);
	cobnut_run_stub(task, STUB_BREAKPOINTS, 0, cobnut_stub(space) + PAGE_SIZE, NULL);
}

/* After a debug exception: what has raised it. 0 if the task has no breakpoints. */
unsigned long cobnut_debug_status(struct task_struct *task)
{
	unsigned long *registers = task->thread.arch.debugregs;

	if (!(registers[CONTROL] & ENABLED) ||
	    cobnut_run_stub(task, STUB_STATUS, 0, 0, &registers[STATUS]))
		return 0;
	return registers[STATUS];
}

/*
 * Whether one of the breakpoints in `status` is of an instruction, which has not run then: it needs the
 * resume flag, or is hit again.
 */
bool cobnut_before_instruction(struct task_struct *task, unsigned long status)
{
	const unsigned long control = task->thread.arch.debugregs[CONTROL];
	int i;

	for (i = 0; i < BREAKPOINTS; i++)
		if (status >> i & 1 && control >> 2 * i & 3 && !(control >> (16 + 4 * i) & 3))
			return true;
	return false;
}
