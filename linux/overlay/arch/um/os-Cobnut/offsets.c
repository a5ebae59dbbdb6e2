// SPDX-License-Identifier: GPL-2.0
/*
 * Where entry.S finds the members of structures. This is compiled for its assembly text alone.
 */
#include <linux/kbuild.h>
#include <linux/mm_types.h>
#include <linux/sched.h>
#include <linux/stddef.h>
#include "process.h"

#define REGISTER(name)	OFFSET(TASK_##name, task_struct, thread.regs.regs.gp[HOST_##name])

void offsets(void);
void offsets(void)
{
	REGISTER(IP);
	REGISTER(EFLAGS);
	REGISTER(DI);
	REGISTER(SI);
	REGISTER(BP);
	REGISTER(SP);
	REGISTER(BX);
	REGISTER(DX);
	REGISTER(CX);
	REGISTER(AX);
	REGISTER(ORIG_AX);
	OFFSET(TASK_CALL, task_struct, thread.regs.regs.syscall);
	OFFSET(TASK_INFO, task_struct, stack);
	OFFSET(TASK_MM, task_struct, mm);
	OFFSET(TASK_ID, task_struct, thread.arch.cobnut.id);
	OFFSET(TASK_STATE, task_struct, thread.arch.cobnut.state);
	OFFSET(MM_VDSO, mm_struct, context.id.vdso);
	OFFSET(INFO_FLAGS, thread_info, flags);
	OFFSET(MESSAGE_TAG, message, tag);
	OFFSET(MESSAGE_FROM, message, from);
	OFFSET(MESSAGE_FIRST, message, first[0]);
	OFFSET(MESSAGE_SECOND, message, first[1]);
	DEFINE(READY, COBNUT_EXCEPTION | 1 << 8);
	DEFINE(NO_CALL, __NR_syscalls);
	DEFINE(AT_ONCE_FOR_EVER, L4_Timeouts(L4_ZeroTime, L4_Never));
}
