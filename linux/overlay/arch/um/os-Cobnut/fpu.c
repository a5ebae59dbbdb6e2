// SPDX-License-Identifier: GPL-2.0
/*
 * The coprocessor's registers. The microkernel keeps them with each thread; what Linux reads and
 * writes of them (signal frames, fork, ptrace, core dumps) it has the thread itself save and load.
 */
#include <linux/mm.h>
#include <linux/sched.h>
#include <linux/signal.h>
#include <linux/string.h>
#include <asm/user.h>
#include <skas.h>
#include <registers.h>
#include "cobnut.h"
#include "stub.h"

#define FXSR_BYTES	512
#define FSAVE_BYTES	108
#define CONTROL_WORD	0x37F
#define MXCSR		0x1F80
#define FEATURE_FXSR	(1 << 24)

int have_fpx_regs;
long elf_aux_hwcap;

void __init cobnut_fpu_init(void)
{
	unsigned int ax = 1, bx, cx, dx;

	asm("cpuid" : "+a" (ax), "=b" (bx), "=c" (cx), "=d" (dx));
	elf_aux_hwcap = dx;
	have_fpx_regs = !!(dx & FEATURE_FXSR);
}

static void initial_state(unsigned long *fp)
{
	memset(fp, 0, FXSR_BYTES);
	if (have_fpx_regs) {
		struct user_fxsr_struct *fx = (void *)fp;

		fx->cwd = CONTROL_WORD;
		fx->mxcsr = MXCSR;
	} else {
		fp[0] = 0xFFFF0000 | CONTROL_WORD;
		fp[1] = 0xFFFF0000;
		fp[2] = 0xFFFFFFFF;
	}
}

/* Into the task's regs.fp. The task is the caller itself, or is stopped: its thread does not run. */
int cobnut_read_fpu(struct task_struct *task)
{
	struct cobnut_thread *thread = &task->thread.arch.cobnut;
	unsigned long *fp = task->thread.regs.regs.fp;
	void *data;
	int err;

	if (thread->fpu)
		return 0;
	if (thread->state == COBNUT_NONE) {
		initial_state(fp);
		return 0;
	}
	data = cobnut_stub_data(&task->mm->context.id);
	if (!data)
		return -ENOMEM;
	err = cobnut_run_stub(task, have_fpx_regs ? STUB_FXSAVE : STUB_FSAVE, 0,
			      cobnut_stub(&task->mm->context.id) + PAGE_SIZE, NULL);
	if (!err)
		memcpy(fp, data, have_fpx_regs ? FXSR_BYTES : FSAVE_BYTES);
	return err;
}

/* Loads the thread's registers from there at once. */
int cobnut_write_fpu(struct task_struct *task)
{
	void *data = cobnut_stub_data(&task->mm->context.id);

	if (!data)
		return -ENOMEM;
	memcpy(data, task->thread.regs.regs.fp, have_fpx_regs ? FXSR_BYTES : FSAVE_BYTES);
	return cobnut_run_stub(task, have_fpx_regs ? STUB_FXRSTOR : STUB_FRSTOR, 0,
			       cobnut_stub(&task->mm->context.id) + PAGE_SIZE, NULL);
}

/* Why its coprocessor has raised an exception: the first of the unmasked ones, in the processor's order. */
int cobnut_fpu_code(struct task_struct *task, bool simd)
{
	const unsigned long *fp = task->thread.regs.regs.fp;
	const struct user_fxsr_struct *fx = (const void *)fp;
	unsigned int raised, masked;

	if (cobnut_read_fpu(task))
		return FPE_FLTUNK;
	if (simd) {
		raised = fx->mxcsr;
		masked = fx->mxcsr >> 7;
	} else {
		raised = have_fpx_regs ? fx->swd : fp[1];
		masked = have_fpx_regs ? fx->cwd : fp[0];
	}
	raised &= ~masked;
	if (raised & 0x01)
		return FPE_FLTINV;
	if (raised & 0x04)
		return FPE_FLTDIV;
	if (raised & 0x08)
		return FPE_FLTOVF;
	if (raised & 0x12)
		return FPE_FLTUND;
	return raised & 0x20 ? FPE_FLTRES : FPE_FLTUNK;
}

static int read_to(struct task_struct *task, unsigned long *to, size_t bytes)
{
	int err = cobnut_read_fpu(task);

	memcpy(to, task->thread.regs.regs.fp, bytes);
	return err;
}

static int write_from(struct task_struct *task, const unsigned long *from, size_t bytes)
{
	unsigned long *fp = task->thread.regs.regs.fp;

	memcpy(fp, from, bytes);
	/* bits that no processor has make the load fault */
	if (have_fpx_regs)
		((struct user_fxsr_struct *)fp)->mxcsr &= 0xFFBF;
	task->thread.arch.cobnut.fpu = 1;
	task->thread.arch.cobnut.ready = 0;
	return 0;
}

/* To what they are when a program begins. */
void cobnut_reset_fpu(struct task_struct *task)
{
	initial_state(task->thread.regs.regs.fp);
	task->thread.arch.cobnut.fpu = 1;
	task->thread.arch.cobnut.ready = 0;
}

int cobnut_save_fpx(struct task_struct *task, unsigned long *fp)
{
	return have_fpx_regs ? read_to(task, fp, FXSR_BYTES) : -EIO;
}

int cobnut_restore_fpx(struct task_struct *task, unsigned long *fp)
{
	return have_fpx_regs ? write_from(task, fp, FXSR_BYTES) : -EIO;
}

/* The older form: seven words, then the eight registers of ten bytes. */
int cobnut_save_i387(struct task_struct *task, unsigned long *fp)
{
	struct user_fxsr_struct fx;
	unsigned int i, tags = 0;
	int err;

	if (!have_fpx_regs)
		return read_to(task, fp, FSAVE_BYTES);
	err = read_to(task, (unsigned long *)&fx, FXSR_BYTES);
	if (err)
		return err;
	for (i = 0; i < 8; i++) {
		const unsigned short *st = (unsigned short *)fx.st_space + i * 8;
		const int top = fx.swd >> 11 & 7, physical = (top + i) & 7;
		unsigned int tag = 0;

		if (!(fx.twd & 1 << physical))
			tag = 3;
		else if ((st[4] & 0x7FFF) == 0x7FFF)
			tag = 2;
		else if (!(st[4] & 0x7FFF))
			tag = st[0] | st[1] | st[2] | st[3] ? 2 : 1;
		else if (!(st[3] & 0x8000))
			tag = 2;
		tags |= tag << physical * 2;
		memcpy((char *)(fp + 7) + i * 10, st, 10);
	}
	fp[0] = fx.cwd | 0xFFFF0000;
	fp[1] = fx.swd | 0xFFFF0000;
	fp[2] = tags | 0xFFFF0000;
	fp[3] = fx.fip;
	fp[4] = fx.fcs | fx.fop << 16;
	fp[5] = fx.foo;
	fp[6] = fx.fos;
	return 0;
}

int cobnut_restore_i387(struct task_struct *task, unsigned long *fp)
{
	struct user_fxsr_struct fx;
	unsigned int i;
	int err;

	if (!have_fpx_regs)
		return write_from(task, fp, FSAVE_BYTES);
	err = read_to(task, (unsigned long *)&fx, FXSR_BYTES);
	if (err)
		return err;
	fx.cwd = fp[0];
	fx.swd = fp[1];
	fx.twd = 0;
	for (i = 0; i < 8; i++) {
		if ((fp[2] >> i * 2 & 3) != 3)
			fx.twd |= 1 << i;
		memcpy((unsigned short *)fx.st_space + i * 8, (char *)(fp + 7) + i * 10, 10);
	}
	fx.fip = fp[3];
	fx.fcs = fp[4];
	fx.fop = fp[4] >> 16;
	fx.foo = fp[5];
	fx.fos = fp[6];
	return write_from(task, (unsigned long *)&fx, FXSR_BYTES);
}
