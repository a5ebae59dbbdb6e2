// SPDX-License-Identifier: BSD-2-Clause
// Texts of users for the debug console. The console is slow, so a text is printed in parts, with preemption points. A
// text is completed before the next one begins, whichever threads run: lines do not mix.
#pragma once

#include "core/thread.hpp"

namespace console {

// Prints the text at `at` in the space of `t`, up to a zero, before `t` runs again; then a new line, if `line`.
void print_text(Thread& t, VAddr at, bool line);
void resume(Thread& t);
// `t` is being deleted.
void forget(const Thread& t);

}  // namespace console
