// SPDX-License-Identifier: BSD-2-Clause
// The time of day, and waiting, as the service `clock` of the driver of the machine's clock.
#pragma once

#include <rpc/rpc.h>

struct Clock {
    using Word = rpc::Word;

    struct Time {
        Word seconds;      ///< since 1970, as the machine's clock has it, without leap seconds: to the year 2106
        Word microseconds; ///< of the second
    };
    /// Errors: failed (the clock says no time).
    using Now = rpc::Operation<0x100, Time()>;

    /// Returns after so many microseconds or a little more. Errors: full (more than 64 threads wait).
    using Sleep = rpc::Operation<0x101, rpc::Nothing(Word microseconds)>;

    using Operations = rpc::List<Now, Sleep>;
};
