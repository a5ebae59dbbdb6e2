// SPDX-License-Identifier: BSD-2-Clause
// Texts of users for the debug console. It is slow, so a text goes out in parts, with preemption points. A text that
// has begun is brought to its end before the next one begins, whoever runs: lines do not mix.
#pragma once

#include "core/thread.hpp"

namespace console {

// The text at `at` in the space of `t`, up to a zero, is printed before `t` runs again; then a new line, if it is one.
void print_text(Thread& t, VAddr at, bool line);
void carry_on(Thread& t);
// `t` goes away.
void forget(const Thread& t);

}  // namespace console
