// SPDX-License-Identifier: BSD-2-Clause
// init: the root server of a system (docs/systems.md). It starts the programs of the boot image as their description
// says, each in a space of its own, and is their pager; it knows who may call whom, and who has which memory. It waits
// for nobody: whatever a program does, the others are served.
#include "system.h"

#include <cobnut/program.h>

namespace {

constinit init::System the_system;

} // namespace

int cobnut_main(const char *)
{
    if (!the_system.begin()) return 2;
    L4_Accept(L4_UntypedWordsAcceptor);
    L4_ThreadId_t from = L4_nilthread;
    for (bool answer = false;;) {
        if (the_system.busy()) {
            if (answer) L4_Reply(from);
            answer = false;
            the_system.attend();
        }
        const L4_Time_t patience = the_system.busy() ? L4_TimePeriod(the_system.patience_us()) : L4_Never;
        const L4_MsgTag_t tag = answer ? L4_ReplyWait_Timeout(from, patience, &from) : L4_Wait_Timeout(patience, &from);
        answer = false;
        if (L4_IpcFailed(tag)) continue;
        init::Program *const program = the_system.owner(from);
        answer = program && the_system.serve(*program, from, tag);
    }
}
