// SPDX-License-Identifier: BSD-2-Clause
#pragma once

#include "ia32/trap.hpp"

// Prints on the console what `f` holds, the running thread, possible return addresses from `stack` (an address) on,
// and the exception; then ends the run.
[[noreturn]] void panic(const KernelFrame& f, Word stack, Word vector, Word error);
