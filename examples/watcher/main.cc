// SPDX-License-Identifier: BSD-2-Clause
// Another client of the counter: asks every millisecond until it has got somewhere.
#include "../counter/counter.h"

#include <cobnut/payload.h>
#include <cobnut/program.h>
#include <l4/ipc.h>
#include <l4/schedule.h>

namespace {

constexpr L4_Word_t enough = 55, no_request = 77;

struct Answer {
    L4_Word_t label, value;
};

/// Calls with a label and nothing else. A failed IPC has no answer.
Answer ask(L4_ThreadId_t server, L4_Word_t label)
{
    L4_Set_MsgTag(L4_Niltag + label);
    const L4_MsgTag_t tag = L4_Call(server);
    if (L4_IpcFailed(tag)) return {COUNTER_UNKNOWN, 0};
    Answer answer = {L4_Label(tag), 0};
    L4_StoreMR(1, &answer.value);
    return answer;
}

} // namespace

int cobnut_main(const char *)
{
    const L4_ThreadId_t counter = cobnut_find(COUNTER_NAME);
    if (counter == L4_nilthread) {
        cobnut::print("watcher: there is no " COUNTER_NAME "\n");
        return 1;
    }
    for (;;) {
        const Answer answer = ask(counter, COUNTER_READ);
        if (answer.label != COUNTER_READ) return 1;
        if (answer.value >= enough) break;
        L4_Sleep(L4_TimePeriod(1000)); // microseconds
    }
    cobnut::print("watcher: the counter has come to %u\n", enough);
    if (ask(counter, no_request).label != COUNTER_UNKNOWN) return 1;
    cobnut::print("watcher: it refuses what it does not know\n");
    return 0;
}
