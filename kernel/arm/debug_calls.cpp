// SPDX-License-Identifier: BSD-2-Clause
// Calls of the debug console, by jumps like system calls (docs/x2-arm.md): R0 in and out. All spaces but controlled
// ones may print and read; audit and end are for the initial servers.
#include "arm/board.hpp"
#include "arm/layout.hpp"
#include "arm/trap.hpp"
#include "core/arch.hpp"
#include "core/books.hpp"
#include "core/console.hpp"
#include "core/print.hpp"
#include "core/schedule.hpp"
#include "core/space.hpp"

namespace debug_calls {
namespace {

enum Call : Word {
    print_char = 0x60,
    print_string = 0x64,
    read_char = 0x68,
    read_char_blocked = 0x6c,
    audit = 0x70,
    end = 0x74
};

}  // namespace

bool dispatch(Thread& t, Word n) {
    if (t.space->controlled) return false;
    Word* r = t.registers.r;
    switch (n) {
    case print_char:
        // If the port is busy the call is repeated, not to wait with interrupts off.
        if (arch::console_ready()) print(static_cast<char>(r[0]));
        else t.frame.pc = SYSTEM_CALLS + n;
        return true;
    case print_string: console::print_text(t, r[0], false); return true;
    case read_char: r[0] = static_cast<Word>(arch::console_get()); return true;
    case read_char_blocked:
        r[0] = static_cast<Word>(arch::console_get());
        if (static_cast<int>(r[0]) < 0) {
            // No input yet: other threads run, then the call is repeated.
            t.frame.pc = SYSTEM_CALLS + n;
            schedule::yield(t, nullptr);
        }
        return true;
    case audit: {
        if (!t.space->privileged) return false;
        books::Audit a = books::audit();
        r[0] = a.faults, r[1] = a.pages, r[2] = a.objects, r[3] = a.unused;
        return true;
    }
    case end:
        if (!t.space->privileged) return false;
        board::end(r[0]);
    default: return false;
    }
}

}  // namespace debug_calls
