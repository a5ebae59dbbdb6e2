// SPDX-License-Identifier: BSD-2-Clause
// The Ipc and Lipc system calls and the functions derived from them (manual 5.6).
//
// All return the received tag (MR0). L4_IpcFailed(tag): the E bit is set and L4_ErrorCode() holds
// phase (bit 0: 0 send, 1 receive) | code << 1 | offset << 4, with code 1 timeout, 2 no such partner, 3 cancelled,
// 4 message overflow, 5 and 6 transfer timeout, 7 aborted. Calls without a timeout argument wait for ever, except
// that Reply and the send phase of ReplyWait do not wait at all.
#ifndef L4_IPC_H
#define L4_IPC_H
#include <l4/message.h>
#include <l4/thread.h>

/// Both timeouts in the form that Ipc takes.
L4_INLINE L4_Word_t L4_Timeouts(L4_Time_t send, L4_Time_t receive) { return ((L4_Word_t)send.raw << 16) | receive.raw; }

/// The system call itself; `from` (may be null) gets the sender: a local id if it lives in the caller's space.
L4_INLINE L4_MsgTag_t L4_Ipc(L4_ThreadId_t to, L4_ThreadId_t from_specifier, L4_Word_t timeouts, L4_ThreadId_t *from)
{
    return L4_RAW_(L4_MsgTag_t, __L4_Ipc_Stub(to.raw, from_specifier.raw, timeouts, from ? &from->raw : 0, L4_KIP_IPC));
}
/// Same operation; optimised for partners in the own space where a kernel can.
L4_INLINE L4_MsgTag_t L4_Lipc(L4_ThreadId_t to, L4_ThreadId_t from_specifier, L4_Word_t timeouts, L4_ThreadId_t *from)
{
    return L4_RAW_(L4_MsgTag_t,
                   __L4_Ipc_Stub(to.raw, from_specifier.raw, timeouts, from ? &from->raw : 0, L4_KIP_LIPC));
}

/// Call: sends and waits for the partner's answer. Send: only sends; Reply: only if the partner waits already.
L4_INLINE L4_MsgTag_t L4_Call_Timeouts(L4_ThreadId_t to, L4_Time_t send, L4_Time_t receive)
{
    return L4_Ipc(to, to, L4_Timeouts(send, receive), 0);
}
L4_INLINE L4_MsgTag_t L4_Call(L4_ThreadId_t to) { return L4_Call_Timeouts(to, L4_Never, L4_Never); }
L4_INLINE L4_MsgTag_t L4_Send_Timeout(L4_ThreadId_t to, L4_Time_t send)
{
    return L4_Ipc(to, L4_nilthread, L4_Timeouts(send, L4_Never), 0);
}
L4_INLINE L4_MsgTag_t L4_Send(L4_ThreadId_t to) { return L4_Send_Timeout(to, L4_Never); }
L4_INLINE L4_MsgTag_t L4_Reply(L4_ThreadId_t to) { return L4_Send_Timeout(to, L4_ZeroTime); }
/// Receive: from this partner only. Wait: from any thread; *from (may be null) is set to the sender. ReplyWait:
/// replies first.
L4_INLINE L4_MsgTag_t L4_Receive_Timeout(L4_ThreadId_t from, L4_Time_t receive)
{
    return L4_Ipc(L4_nilthread, from, L4_Timeouts(L4_Never, receive), 0);
}
L4_INLINE L4_MsgTag_t L4_Receive(L4_ThreadId_t from) { return L4_Receive_Timeout(from, L4_Never); }
L4_INLINE L4_MsgTag_t L4_Wait_Timeout(L4_Time_t receive, L4_ThreadId_t *from)
{
    return L4_Ipc(L4_nilthread, L4_anythread, L4_Timeouts(L4_Never, receive), from);
}
L4_INLINE L4_MsgTag_t L4_Wait(L4_ThreadId_t *from) { return L4_Wait_Timeout(L4_Never, from); }
L4_INLINE L4_MsgTag_t L4_ReplyWait_Timeout(L4_ThreadId_t to, L4_Time_t receive, L4_ThreadId_t *from)
{
    return L4_Ipc(to, L4_anythread, L4_Timeouts(L4_ZeroTime, receive), from);
}
L4_INLINE L4_MsgTag_t L4_ReplyWait(L4_ThreadId_t to, L4_ThreadId_t *from)
{
    return L4_ReplyWait_Timeout(to, L4_Never, from);
}
/// For partners in the own space: a call; a reply and a wait for any thread of the own space.
L4_INLINE L4_MsgTag_t L4_Lcall(L4_ThreadId_t to) { return L4_Lipc(to, to, 0, 0); }
L4_INLINE L4_MsgTag_t L4_LreplyWait(L4_ThreadId_t to, L4_ThreadId_t *from)
{
    return L4_Lipc(to, L4_anylocalthread, L4_Timeouts(L4_ZeroTime, L4_Never), from);
}
/// Waits for t: a receive from oneself that times out. MR0 is its tag.
L4_INLINE void L4_Sleep(L4_Time_t t) { L4_Set_MsgTag(L4_Receive_Timeout(L4_MyLocalId(), t)); }

/// The flags of a received tag: error, from another processor, redirected, propagated.
L4_INLINE L4_Bool_t L4_IpcFailed(L4_MsgTag_t t) { return (t.raw & 0x8000u) != 0; }
L4_INLINE L4_Bool_t L4_IpcSucceeded(L4_MsgTag_t t) { return (t.raw & 0x8000u) == 0; }
L4_INLINE L4_Bool_t L4_IpcXcpu(L4_MsgTag_t t) { return (t.raw & 0x4000u) != 0; }
L4_INLINE L4_Bool_t L4_IpcRedirected(L4_MsgTag_t t) { return (t.raw & 0x2000u) != 0; }
L4_INLINE L4_Bool_t L4_IpcPropagated(L4_MsgTag_t t) { return (t.raw & 0x1000u) != 0; }
/// Asks for the message to be sent in the name of the VirtualSender TCR.
L4_INLINE void L4_Set_Propagation(L4_MsgTag_t *t) { t->raw |= 0x1000u; }

#ifdef __cplusplus
L4_INLINE L4_MsgTag_t L4_Call(L4_ThreadId_t to, L4_Time_t send, L4_Time_t receive)
{
    return L4_Call_Timeouts(to, send, receive);
}
L4_INLINE L4_MsgTag_t L4_Send(L4_ThreadId_t to, L4_Time_t send) { return L4_Send_Timeout(to, send); }
L4_INLINE L4_MsgTag_t L4_Receive(L4_ThreadId_t from, L4_Time_t receive) { return L4_Receive_Timeout(from, receive); }
L4_INLINE L4_MsgTag_t L4_Wait(L4_Time_t receive, L4_ThreadId_t *from) { return L4_Wait_Timeout(receive, from); }
L4_INLINE L4_MsgTag_t L4_ReplyWait(L4_ThreadId_t to, L4_Time_t receive, L4_ThreadId_t *from)
{
    return L4_ReplyWait_Timeout(to, receive, from);
}

// The manual's references.
L4_INLINE L4_MsgTag_t L4_Ipc(L4_ThreadId_t to, L4_ThreadId_t from_specifier, L4_Word_t timeouts, L4_ThreadId_t &from)
{
    return L4_Ipc(to, from_specifier, timeouts, &from);
}
L4_INLINE L4_MsgTag_t L4_Lipc(L4_ThreadId_t to, L4_ThreadId_t from_specifier, L4_Word_t timeouts, L4_ThreadId_t &from)
{
    return L4_Lipc(to, from_specifier, timeouts, &from);
}
L4_INLINE L4_MsgTag_t L4_Wait(L4_ThreadId_t &from) { return L4_Wait(&from); }
L4_INLINE L4_MsgTag_t L4_Wait(L4_Time_t receive, L4_ThreadId_t &from) { return L4_Wait_Timeout(receive, &from); }
L4_INLINE L4_MsgTag_t L4_ReplyWait(L4_ThreadId_t to, L4_ThreadId_t &from) { return L4_ReplyWait(to, &from); }
L4_INLINE L4_MsgTag_t L4_ReplyWait(L4_ThreadId_t to, L4_Time_t receive, L4_ThreadId_t &from)
{
    return L4_ReplyWait_Timeout(to, receive, &from);
}
L4_INLINE L4_MsgTag_t L4_LreplyWait(L4_ThreadId_t to, L4_ThreadId_t &from) { return L4_LreplyWait(to, &from); }
L4_INLINE void L4_Set_Propagation(L4_MsgTag_t &t) { L4_Set_Propagation(&t); }
#endif

#endif
