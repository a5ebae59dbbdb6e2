// SPDX-License-Identifier: BSD-2-Clause
// A server without an interface, for measuring what stubs cost: it answers everybody with nothing.
#include <cobnut/payload.h>
#include <l4/ipc.h>

int cobnut_main(const char *)
{
    L4_Accept(L4_UntypedWordsAcceptor);
    L4_ThreadId_t from = L4_nilthread;
    for (;;) {
        L4_Set_MsgTag(L4_MsgTag_t{.raw = 0});
        L4_ReplyWait(from, &from);
    }
}
