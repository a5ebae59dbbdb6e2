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

/// Whether a program has checked in as `service`: one that begins with the system, or has been started again, is waited
/// for, ten seconds at most.
bool is_there(const char *service);

/// A memory object that the pager `service`, a program of the system (pager.h), has by a path of up to 64 bytes, as a
/// send right, and how long it is. Errors: not_found (no such pager), those of the pager, and of Call.
struct Opened {
    Name object;
    Word bytes;
};
rpc::Result<Opened> open_object(const char *service, const char *path);

struct Mapped {
    Word address; ///< at which page it begins
    Word bytes;   ///< of what has the path; the rest of its last page is zeros
};

/// Maps all of such an object, at most 256 KB. With `copy`, what is written stays the caller's own; otherwise the pager
/// gets it when nobody has it mapped any more. Errors: of open_object() and VmMap.
rpc::Result<Mapped> map_object(const char *service, const char *path, bool copy = false);

/// Ends the calling task.
[[noreturn]] void exit(Word code);

} // namespace mach
