/* SPDX-License-Identifier: GPL-2.0 */
/*
 * The IPC that every system call of a process's comes down to, in line.
 */
#ifndef __COBNUT_IPC_H
#define __COBNUT_IPC_H

#include <l4/ipc.h>

extern L4_Word_t x2_ipc_entry;

/*
 * Sends the message registers to `to`, if that is not 0, and waits for a message from any thread.
 * Returns the tag, and in `first` MR1 and MR2.
 */
static __always_inline L4_Word_t x2_reply_wait(L4_Word_t to, L4_Word_t *from, L4_Word_t first[2])
{
	L4_Word_t *utcb = (L4_Word_t *)__L4_Utcb();
	/* at once, or not at all; as long as it takes */
	L4_Word_t timeouts = L4_Timeouts(L4_ZeroTime, L4_Never);
	L4_Word_t any = ~0u, tag = utcb[0], second;

	asm volatile("pushl %%ebp\n\t"
		     "call *%[entry]\n\t"
		     "movl %%ebp, %%ecx\n\t"
		     "popl %%ebp\n\t"
		     "cld"
		     : "+a" (to), "+S" (tag), "=b" (first[0]), "=c" (second), "+d" (any)
		     : "c" (timeouts), "D" (utcb), [entry] "m" (x2_ipc_entry)
		     : "memory", "cc");
	first[1] = second;
	*from = to;
	return tag;
}

#endif
