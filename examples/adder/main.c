// SPDX-License-Identifier: BSD-2-Clause
// A client of the counter: adds 1 to 10.
#include "../counter/counter.h"

#include <cobnut/payload.h>
#include <l4/ipc.h>

int cobnut_main(const char *command_line)
{
    const L4_ThreadId_t counter = cobnut_find(COUNTER_NAME); // root knows who that is
    L4_Word_t amount, value = 0;
    (void)command_line;

    if (L4_IsNilThread(counter)) {
        cobnut_printf("adder: there is no " COUNTER_NAME "\n");
        return 1;
    }
    for (amount = 1; amount <= 10; amount++) {
        L4_Msg_t message;
        L4_MsgTag_t tag;
        L4_MsgClear(&message);
        L4_Set_MsgLabel(&message, COUNTER_ADD);
        L4_MsgAppendWord(&message, amount);
        L4_MsgLoad(&message);   // into the message registers, which lie in the UTCB
        tag = L4_Call(counter); // sends them, and waits for the answer, which lies there then
        if (L4_IpcFailed(tag) || L4_Label(tag) != COUNTER_ADD) return 1;
        L4_StoreMR(1, &value);
    }
    cobnut_printf("adder: 1 to 10 added, the counter is at %u\n", value);
    return 0;
}
