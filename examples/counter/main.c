// SPDX-License-Identifier: BSD-2-Clause
// A server: keeps a number for all clients.
//
// It is one thread that takes one request at a time, so that nothing needs a lock. A client that calls waits for its
// answer.
#include "counter.h"

#include <cobnut/payload.h>
#include <l4/ipc.h>

static L4_Word_t value;

/// Does what a request says; `message` is the request before and the answer after.
static void serve(L4_Msg_t *message)
{
    const L4_Word_t label = L4_MsgLabel(message);
    L4_Word_t answer = label;

    if (label == COUNTER_ADD && L4_UntypedWords(message->tag) == 1) {
        value += L4_MsgWord(message, 0);
        cobnut_printf("counter: %u\n", value);
    } else if (label != COUNTER_READ) {
        answer = COUNTER_UNKNOWN; // what clients send is not to be trusted
    }
    L4_MsgClear(message);
    L4_Set_MsgLabel(message, answer);
    L4_MsgAppendWord(message, value);
}

int cobnut_main(const char *command_line)
{
    L4_ThreadId_t client;
    L4_MsgTag_t tag;
    (void)command_line;

    L4_Accept(L4_UntypedWordsAcceptor); // no mappings, no strings: words only
    tag = L4_Wait(&client);
    for (;;) {
        L4_Msg_t message;
        if (L4_IpcFailed(tag)) { // the client did not wait for its answer
            tag = L4_Wait(&client);
            continue;
        }
        L4_MsgStore(tag, &message);
        serve(&message);
        L4_MsgLoad(&message);
        tag = L4_ReplyWait(client, &client); // answers this one, waits for the next
    }
}
