// SPDX-License-Identifier: BSD-2-Clause
#pragma once

#include "ia32/trap.hpp"

// Says on the console what `f` holds, who ran, what may be return addresses from `stack` (an address) on, and which
// exception it was; then ends the run.
[[noreturn]] void panic(const KernelFrame& f, Word stack, Word vector, Word error);
