// SPDX-License-Identifier: BSD-2-Clause
#include "core/console.hpp"

#include "core/arch.hpp"
#include "core/print.hpp"
#include "core/schedule.hpp"

namespace console {
namespace {

constexpr Word longest_text = 1024;

Thread* speaker;                // the thread whose text is being printed

void finish(Thread& t) {
    Printing& text = t.printing;
    char c;
    while (text.left && user_memory::read(*t.space, text.at, &c, 1) && c) {
        while (!arch::console_ready()) arch::preemption_point();
        ++text.at, --text.left;
        print(c);
        arch::preemption_point();
    }
    if (text.line) print("\n");
    speaker = nullptr;
    schedule::end_pending(t, State::ready);
    schedule::make_ready(t);
}

}  // namespace

void print_text(Thread& t, VAddr at, bool line) {
    t.printing = {.at = at, .left = longest_text, .line = line};
    t.pending = Continuation::print;
}

void resume(Thread& t) {
    if (speaker && speaker != &t) finish(*speaker);
    speaker = &t;
    finish(t);
}

void forget(const Thread& t) {
    if (speaker == &t) speaker = nullptr;
}

}  // namespace console
