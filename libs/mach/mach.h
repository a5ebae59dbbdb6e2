// SPDX-License-Identifier: BSD-2-Clause
// What a Mach task calls its kernel for (servers/interfaces/mach.h has each operation and its errors), and how a
// program of a system becomes the first task.
#pragma once

#include <interfaces/mach.h>

namespace mach {

/// Calls the kernel, from a task.
template <typename Op, typename... A> rpc::Result<typename Op::Value> ask(const A &...arguments)
{
    return rpc::call<Op>(L4_Pager(), arguments...);
}

/// From a program that uses the service `mach`: the first task begins in `entry`, with a copy of this program's image
/// for its memory. Returns the code with which it ends.
rpc::Result<Word> boot(int (*entry)());

/// As POSIX's: a copy of the calling task goes on from here, too. Its only right is a send right, by the name 1, to the
/// port `bootstrap` of the caller's (0: none). The caller gets a send right to its port, the copy 0.
rpc::Result<Name> fork(Name bootstrap);

/// Ends the calling task.
[[noreturn]] void exit(Word code);

} // namespace mach
