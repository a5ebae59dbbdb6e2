// SPDX-License-Identifier: BSD-2-Clause
#include <cobnut/program.h>
#include <l4/ipc.h>

namespace cobnut {

// The kernel knows how to end a run on its board's emulator.
void machine_off(int code)
{
    L4_Word_t word = static_cast<L4_Word_t>(code);
    __L4_KDB(__L4_KDB_END, word);
    for (;;) L4_Sleep(L4_Never);
}

} // namespace cobnut
