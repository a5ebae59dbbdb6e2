// SPDX-License-Identifier: BSD-2-Clause
// The service `tally`: sums, one for each client.
#pragma once

#include <rpc/rpc.h>

struct Tally {
    static constexpr rpc::Word most = 1000; ///< a sum

    /// Adds to the caller's sum, and returns it. Errors: bad_value, the sum would be too large, and stays as it was.
    using Add = rpc::Operation<0x100, rpc::Word(rpc::Word amount)>;

    using Operations = rpc::List<Add>;
};
