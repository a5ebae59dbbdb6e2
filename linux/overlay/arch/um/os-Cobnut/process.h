/* SPDX-License-Identifier: GPL-2.0 */
/*
 * What a process's thread says to the server, and how process.c and entry.S come by it.
 */
#ifndef __COBNUT_PROCESS_H
#define __COBNUT_PROCESS_H

#define INT_CODE(n)		((n) * 8 + 2)	/* error code of a system call that is not the microkernel's */
#define INT_LENGTH		2
#define SYSENTER_CODE		0x10000		/* and of one by sysenter */
#define SYSENTER_ANSWER		0x10001		/* with an answer that the program takes by lret */
#define LINUX_CALL		0x80
#define USER_FLAGS		0x202

/* Where registers are in messages about exceptions, and in those of ExchangeRegisters. */
#define MR_IP			1
#define MR_FLAGS		2
#define MR_NUMBER		3
#define MR_CODE			4
#define MR_DI			5
#define MR_SI			6
#define MR_BP			7
#define MR_SP			8
#define MR_BX			9
#define MR_DX			10
#define MR_CX			11
#define MR_AX			12
#define REGISTER_WORDS		12

/* with these a call is more than a call */
#define CALL_FLAGS		(_TIF_SYSCALL_TRACE | _TIF_SYSCALL_EMU | _TIF_SYSCALL_AUDIT | _TIF_SECCOMP | \
				 _TIF_SINGLESTEP)

#ifndef __ASSEMBLY__

#include <linux/linkage.h>
#include <linux/types.h>
#include <asm/unistd.h>
#include "cobnut.h"

struct message {
	L4_Word_t tag, from;
	L4_Word_t first[2];	/* MR1 and MR2; the others are where they belong */
};

/* By its number, whether entry.S leaves a call by sysenter to process.c. */
extern const unsigned char left_by_sysenter[__NR_syscalls];

/*
 * Sends the message registers to `to`, if that is not 0, and waits for a message from any thread.
 * Calls of Linux's that the task's thread makes then, and that nobody else wants to see, are done
 * there and then, and it goes on. Returns false when there is something else to do before it can go
 * on, or true with a message that is no such call. main_waits is 0 in the first case, 1 in the other.
 */
asmlinkage bool cobnut_exchange(struct task_struct *task, L4_Word_t to, struct message *message);
asmlinkage void cobnut_stop_behind_call(struct task_struct *task);

#endif
#endif
