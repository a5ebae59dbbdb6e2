// SPDX-License-Identifier: BSD-2-Clause
// The service `adder`: as small as a service can be, for tests and for measuring what a call costs.
#pragma once

#include <rpc/rpc.h>

struct Adder {
    using Null = rpc::Operation<0x100, rpc::Nothing()>;
    using Add = rpc::Operation<0x101, rpc::Word(rpc::Word, rpc::Word)>;
    /// How many programs the server knows: those that have called it and have not ended since.
    using Clients = rpc::Operation<0x102, rpc::Word()>;
    /// Faults, on purpose.
    using Crash = rpc::Operation<0x103, rpc::Nothing()>;
    /// The sum of so many words of a dataspace that the caller has passed on. Errors: of init::Shared and init::Attach.
    using Sum = rpc::Operation<0x104, rpc::Word(rpc::Word handle, rpc::Word words)>;
    /// The server keeps a dataspace attached, which the caller has passed on; and adds 1 to its first word, which it
    /// returns. Errors: of init::Shared and init::Attach; not_found (it keeps none).
    using Keep = rpc::Operation<0x105, rpc::Nothing(rpc::Word handle)>;
    using Count = rpc::Operation<0x106, rpc::Word()>;

    using Operations = rpc::List<Null, Add, Clients, Crash, Sum, Keep, Count>;
};
