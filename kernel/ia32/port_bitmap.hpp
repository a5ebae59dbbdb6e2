// SPDX-License-Identifier: BSD-2-Clause
// The task segment's I/O bitmap. There is one, filled for the space that used ports last, and in force only while a
// thread of it runs that has used them since it was last switched to (held_ports, arch/context.hpp). For all others no
// port is open. An access that the kernel carried out instead would take some 540 instructions, and string
// instructions would have to be decomposed.
#pragma once

#include "core/thread.hpp"
#include "ia32/ports.hpp"

namespace port_bitmap {

// Lets `t` use these ports, which its space holds. False if they were open already.
bool open(Thread& t, ports::Range range);
// Another thread is about to run.
void close();

}  // namespace port_bitmap
