// SPDX-License-Identifier: BSD-2-Clause
// How much of the processor a thread may take before ordinary programs: a quantum in each period. Who has used it up
// runs as they do until the period is over, so whatever a driver does leaves them three quarters of the processor; and
// whatever runs between a driver's priority and theirs, the driver has its quarter.
//
// A period is shorter than what the drivers' clients wait for: TCP sends again what was not answered within 200 ms.
#pragma once

#include <stdint.h>

namespace init {

class Budget {
public:
    static constexpr uint32_t quantum_us = 50'000, period_us = 200'000;

    /// Another quantum, if the period is over: true, and the next one begins.
    bool renew(uint64_t now_us)
    {
        if (now_us < end_us_) return false;
        end_us_ = now_us + period_us;
        return true;
    }
    /// When the period is over.
    uint64_t end_us() const { return end_us_; }

private:
    uint64_t end_us_ = 0;
};

} // namespace init
