/* SPDX-License-Identifier: GPL-2.0 */
/*
 * What a task has of the microkernel.
 */
#ifndef __COBNUT_THREAD_H
#define __COBNUT_THREAD_H

enum cobnut_state {
	COBNUT_NONE,		/* no thread yet, or none any more */
	COBNUT_STOPPED,		/* halted: registers are set, then it goes on */
	COBNUT_EXCEPTION,	/* waits for the answer to an exception */
	COBNUT_FAULT,		/* waits for the answer to a page fault */
};

struct cobnut_thread {
	unsigned long id;	/* its global id */
	struct mm_id *space;	/* where it is */
	unsigned short utcb;	/* in the space's area */
	unsigned char state;
	unsigned char ready;	/* exists, and has its segment, coprocessor registers and breakpoints;
				   entry.S looks at both at once */
	unsigned char fs_in_turn;	/* the segment is behind FS, not behind GS (tls.c) */
	unsigned char loaded;	/* the piece of the stub that has loaded it, or 0 */
	unsigned char fpu;	/* regs.fp has what the thread is to get */
	unsigned char debug;	/* its breakpoints are to be loaded */
	unsigned long fault_address;
	unsigned long fault_access;
	unsigned long tls;	/* base that the microkernel knows */
};

#endif
