// SPDX-License-Identifier: BSD-2-Clause
// The task segment's I/O bitmap: there is one, filled for the space whose thread used ports last, and in force only
// while a thread of it runs that has used them since it came to run (held_ports, arch/context.hpp). All others find
// none. A bitmap, for an access that the kernel carries out takes some 540 instructions, and string instructions would
// have to be taken apart.
#pragma once

#include "core/thread.hpp"
#include "ia32/ports.hpp"

namespace port_bitmap {

// Lets `t` use these ports, which its space holds. False if nothing stood in the way before.
bool open(Thread& t, ports::Range range);
// The thread that has it open stops to run.
void close();

}  // namespace port_bitmap
