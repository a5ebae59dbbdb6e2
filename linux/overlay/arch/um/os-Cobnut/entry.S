/* SPDX-License-Identifier: GPL-2.0 */
/*
 * The way of most calls: from the message of a process's thread to Linux's function, and back with
 * its answer. In C it was 137 instructions, of which gcc needed every second one to find room for
 * registers.
 */
#include <linux/linkage.h>
#include <asm/thread_info.h>
#include <generated/user_constants.h>
#include "offsets.h"
#include "process.h"
#include "vdso.h"

#define EXCEPTION_TAG	0xFFB0000C
#define STOPPED_BEHIND	(_TIF_SYSCALL_TRACE | _TIF_SINGLESTEP)	/* a tracer has set them within the call */
#define GONE_ON		(_TIF_WORK_MASK | STOPPED_BEHIND)
#define PARAMETERS	24
/* the function's own: above its callee's parameters, the registers that it saves, and where it returns */
#define TASK		(PARAMETERS + 20)(%esp)
#define TO		(PARAMETERS + 24)(%esp)
#define MESSAGE		(PARAMETERS + 28)(%esp)
#define MR(n)		4 * (n)(%edi)

	/* a word of the message becomes a register of the task's, and a parameter */
	.macro	parameter number, word, register
	movl	MR(\word), %ecx
	movl	%ecx, \register(%ebx)
	movl	%ecx, 4 * \number(%esp)
	.endm

	/* and back: a register of the task's becomes a word of the answer */
	.macro	answer word, register
	movl	\register(%ebx), %ecx
	movl	%ecx, MR(\word)
	.endm

	/*
	 * The call, and its answer: of EBX the program goes on at, of ECX the number. No other message's
	 * word stays where the answer has an error code.
	 */
	.macro	call_and_answer code
	movl	$0, main_waits
	movw	$READY, TASK_STATE(%edx)
	movl	%ebx, TASK_IP(%edx)
	movl	%edx, %ebx
	movl	%ebp, TASK_EFLAGS(%ebx)
	movl	%ecx, %eax
	movl	%eax, TASK_ORIG_AX(%ebx)
	movl	%eax, TASK_CALL(%ebx)
	movl	MR(MR_SP), %ecx
	movl	%ecx, TASK_SP(%ebx)
	parameter 0, MR_BX, TASK_BX
	parameter 1, MR_CX, TASK_CX
	parameter 2, MR_DX, TASK_DX
	parameter 3, MR_SI, TASK_SI
	parameter 4, MR_DI, TASK_DI
	parameter 5, MR_BP, TASK_BP
	call	*sys_call_table(, %eax, 4)
	movl	%eax, TASK_AX(%ebx)

	/* whether the thread can go on at once, as in userspace() */
	movl	TASK_INFO(%ebx), %ecx
	testl	$GONE_ON, INFO_FLAGS(%ecx)
	jne	.Lgone_on
	cmpw	$READY, TASK_STATE(%ebx)
	jne	.Ldone
	movl	$1, main_waits
	cmpl	$0, signals_pending
	jne	.Lpending
	/* EDI is still what it was, as all calls save it */
	movl	%eax, MR(MR_AX)
	movl	$\code, MR(MR_CODE)
	answer	MR_IP, TASK_IP
	answer	MR_FLAGS, TASK_EFLAGS
	answer	MR_DI, TASK_DI
	answer	MR_SI, TASK_SI
	answer	MR_BP, TASK_BP
	answer	MR_SP, TASK_SP
	answer	MR_BX, TASK_BX
	answer	MR_DX, TASK_DX
	answer	MR_CX, TASK_CX
	movl	TASK_ID(%ebx), %eax
	movl	$REGISTER_WORDS, %esi
	.endm

	.text
SYM_FUNC_START(cobnut_exchange)
	pushl	%ebp
	pushl	%edi
	pushl	%esi
	pushl	%ebx
	subl	$PARAMETERS, %esp
	movl	TO, %eax
	movl	%gs:0, %edi
	movl	MR(0), %esi
.Lexchange:
	orl	$-1, %edx
	movl	$AT_ONCE_FOR_EVER, %ecx
	call	*x2_ipc_entry
	cld
	/* EAX is the sender, ESI the tag; EBX and EBP are MR1 and MR2 */
	movl	TASK, %edx
	cmpl	TASK_ID(%edx), %eax
	jne	.Lother
	cmpl	$EXCEPTION_TAG, %esi
	jne	.Lother
	movl	TASK_INFO(%edx), %ecx
	testl	$CALL_FLAGS, INFO_FLAGS(%ecx)
	jne	.Lother
	movl	MR(MR_AX), %ecx
	cmpl	$NO_CALL, %ecx
	jae	.Lother
	cmpl	$INT_CODE(LINUX_CALL), MR(MR_CODE)
	jne	.Lnot_by_int
	addl	$INT_LENGTH, %ebx
	call_and_answer 0
	jmp	.Lexchange

	/*
	 * From the vdso (vdso-code.S): known to Linux as a call by the int there, to behind which it
	 * returns. But if nothing happens beside the call, it takes what is on its stack.
	 */
.Lnot_by_int:
	cmpl	$SYSENTER_CODE, MR(MR_CODE)
	jne	.Lother
	cmpb	$0, left_by_sysenter(%ecx)
	jne	.Lother
	movl	TASK_MM(%edx), %ebx
	movl	MM_VDSO(%ebx), %ebx
	addl	$VDSO_BACK, %ebx
	addl	$VDSO_FRAME, MR(MR_SP)
	call_and_answer SYSENTER_ANSWER
	/* the program gets our flags, in which NT and AC may be another's */
	pushl	$USER_FLAGS
	popfl
	addl	$VDSO_LRET - VDSO_BACK, MR(MR_IP)
	subl	$VDSO_FRAME, MR(MR_SP)
	jmp	.Lexchange

.Lother:
	movl	MESSAGE, %ecx
	movl	%esi, MESSAGE_TAG(%ecx)
	movl	%eax, MESSAGE_FROM(%ecx)
	movl	%ebx, MESSAGE_FIRST(%ecx)
	movl	%ebp, MESSAGE_SECOND(%ecx)
	movl	$1, %eax
	jmp	.Lreturn
.Lgone_on:
	testl	$STOPPED_BEHIND, INFO_FLAGS(%ecx)
	je	.Ldone
	movl	%ebx, (%esp)
	call	cobnut_stop_behind_call
	jmp	.Ldone
.Lpending:
	movl	$0, main_waits
.Ldone:
	xorl	%eax, %eax
.Lreturn:
	addl	$PARAMETERS, %esp
	popl	%ebx
	popl	%esi
	popl	%edi
	popl	%ebp
	ret
SYM_FUNC_END(cobnut_exchange)
	.section .note.GNU-stack, "", @progbits
