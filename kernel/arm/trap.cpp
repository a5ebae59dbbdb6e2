// SPDX-License-Identifier: BSD-2-Clause
// Traps by kind.
#include "arm/trap.hpp"

#include "arm/board.hpp"
#include "arm/caches.hpp"
#include "arm/cpu.hpp"
#include "arm/host.hpp"
#include "arm/layout.hpp"
#include "core/arch.hpp"
#include "core/checks.hpp"
#include "core/print.hpp"
#include "core/schedule.hpp"

namespace {

// Semihosting asks for something by a software interrupt, which no debugger has taken.
[[noreturn]] void halt() {
    for (;;) caches::wait_for_interrupt();
}

// The line with the cause comes last: programs that watch the console take it for the end of the run.
[[noreturn]] void panic(Word kind, Word pc, Word psr) {
    Thread* t = processor.current;
    print(" thread ", hex(t ? t->id.raw : 0), " cpsr ", hex(psr), " address ", hex(cpu::fault_address()), " status ",
        hex(cpu::fault_status()), "\n");
    print("cobnut: kernel fault ", kind, " at ", hex(pc), "\n");
    arch::power_off();
}

}  // namespace

extern "C" Thread* trap(Thread& t, Word kind) {
    check(checks::entered(t));
    bool again = false;
    t.fast_entry = false;
    processor.left = t.space->arch.domain;
    switch (kind) {
    case TRAP_IRQ:
        schedule::interrupted();
        board::interrupt();
        break;
    case TRAP_PREFETCH:
        if (t.frame.pc < SYSTEM_CALLS) again = faults::prefetch_abort(t);
        else again = system_calls::dispatch(t, t.frame.pc - SYSTEM_CALLS);
        break;
    case TRAP_DATA: again = faults::data_abort(t, cpu::fault_address(), cpu::fault_status()); break;
    case TRAP_SWI: faults::software_interrupt(t); break;
    default: faults::undefined(t);
    }
    if (!again) return nullptr;
    enter_host(*t.space, processor.left);
    check(checks::leaves(t));
    return &t;
}

extern "C" void kernel_trap(Word kind, Word pc, Word psr) {
    if (kind == TRAP_SWI) halt();
    if (kind != TRAP_IRQ) panic(kind, pc, psr);
    board::interrupt();
}

extern "C" void wait_for_interrupt() { caches::wait_for_interrupt(); }

namespace arch {

void stop(const char* why) {
    print("cobnut: ", why, "\n");
    power_off();
}

void power_off() { board::end(1); }

}  // namespace arch
