/* SPDX-License-Identifier: BSD-2-Clause */
/* What the attackers' code (agent.S) and the controller share: a block for each thread, at its stack pointer, in the
 * keeper's page of its space. The code is position-independent and touches nothing but this block, so that it runs at
 * any address. */
#ifndef COBNUT_COMPOSE_AGENT_H
#define COBNUT_COMPOSE_AGENT_H

#define BLOCK_STUB 0   /* address of the IPC stub in this space */
#define BLOCK_SIGNATURE 4   /* a number that no other space has here */
#define BLOCK_CONTROLLER 8
#define BLOCK_ARGUMENT 12  /* a selector, an offset */
#define BLOCK_WORD 16  /* to be written there */
#define BLOCK_TARGET 20  /* a system call's stub, and its registers: EAX ECX EDX ESI EDI EBX EBP */
#define BLOCK_REGISTERS 24
#define BLOCK_EAX 52  /* results of a call; what was read */
#define BLOCK_ESI 56
#define BLOCK_COUNT 60  /* probes made */
#define BLOCK_CS_LIMIT 64  /* lsl of the user's code before and after the others, of its data, of the thread's own */
#define BLOCK_CS_AGAIN 68
#define BLOCK_DS_LIMIT 72
#define BLOCK_TLS_LIMIT 76
#define BLOCK_TLS_RIGHTS 80  /* lar; 0: there is no such segment */
#define BLOCK_NAMED 84  /* by selector / 8: those that lar knows */
#define BLOCK_SELECTORS 88  /* DS ES FS GS SS */
#define BLOCK_FOREIGN 108 /* bit n: DS ES FS CS do not show the signature */
#define BLOCK_GS_LIMIT 112

#define AGENT_USER_CODE 0x1B
#define AGENT_USER_DATA 0x23
#define AGENT_UTCB_WORD 0x2B
#define AGENT_TLS 0x3B
#define AGENT_SELECTORS 12

#define AGENT_REPORT_LABEL 0x0C05
#endif
