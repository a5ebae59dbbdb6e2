// SPDX-License-Identifier: GPL-2.0
/*
 * Calls of the microkernel's and of root's, as functions.
 */
#include <linux/kernel.h>
#include <linux/string.h>
#include "cobnut.h"

L4_Word_t x2_ipc_entry;

/* What is called in line. */
void x2_init(void)
{
	const L4_Word_t kip = __L4_Kip_Base();

	x2_ipc_entry = kip + *(const L4_Word_t *)(kip + L4_KIP_IPC);
}

#define TLS_CONTROL	0x110	/* of the interface page: its entry */

int x2_control(unsigned long thread, L4_Word_t what, const struct x2_registers *in,
	       struct x2_registers *out)
{
	L4_Word_t v[6] = { what };

	if (what & X2_WRITE)
		L4_LoadMRs(1, sizeof(*in) / 4, (const L4_Word_t *)in);
	if (!__L4_Raw_ExchangeRegisters(thread, v))
		return -1;
	if (what & X2_READ)
		L4_StoreMRs(1, sizeof(*out) / 4, (L4_Word_t *)out);
	return v[0] & 7;
}

/* Takes the rights that are set in `fpages` from the thread's space; with all of them the pages go. */
void x2_unmap(unsigned long thread, int pieces, const L4_Word_t *fpages)
{
	L4_LoadMRs(0, pieces, fpages);
	__L4_Raw_Unmap(0x40 | 1 << 7 | (pieces - 1), thread);
}

int x2_set_tls(unsigned long thread, unsigned long base, unsigned long *selector)
{
	L4_Registers_t r = { thread, base };

	__L4_Call_Stub(TLS_CONTROL, &r);
	if (selector)
		*selector = r.ecx;
	return r.eax ? 0 : -EINVAL;
}

int root_call(int label, int words, const L4_Word_t *parameters)
{
	L4_MsgTag_t tag;
	L4_Word_t error;

	L4_Set_MsgTag((L4_MsgTag_t){ .raw = label << 16 | words });
	L4_LoadMRs(1, words, parameters);
	tag = L4_Call((L4_ThreadId_t){ .raw = server_boot->root });
	if (L4_IpcFailed(tag))
		return -EIO;
	L4_StoreMR(1, &error);
	return error ? -ENOMEM : 0;
}

/* Maps pages of the server's at other addresses. Its receive window is open only while root maps them. */
int root_alias(unsigned long address, int pages, const unsigned long *frames)
{
	L4_MsgTag_t tag;
	int i;

	L4_LoadMR(1, address);
	for (i = 0; i < pages; i++)
		L4_LoadMR(2 + i, frames[i]);
	L4_Set_MsgTag((L4_MsgTag_t){ .raw = CALL_ALIAS << 16 | (pages + 1) });
	L4_Accept(L4_MapGrantItems(L4_CompleteAddressSpace));
	tag = L4_Call((L4_ThreadId_t){ .raw = server_boot->root });
	L4_Accept(L4_UntypedWordsAcceptor);
	return L4_IpcFailed(tag) || L4_TypedWords(tag) != 2 * pages ? -ENOMEM : 0;
}

void __noreturn root_off(int status)
{
	L4_Word_t word = status;

	for (;;)
		root_call(CALL_OFF, 1, &word);
}
