// SPDX-License-Identifier: BSD-2-Clause
// Deterministic pseudo-random numbers (xorshift, Marsaglia 2003).
#ifndef COBNUT_STRESS_RANDOM_H
#define COBNUT_STRESS_RANDOM_H

namespace stress {

class Random {
public:
    constexpr explicit Random(unsigned seed) : state_(seed * 2654435761u | 1) {}
    unsigned next()
    {
        state_ ^= state_ << 13;
        state_ ^= state_ >> 17;
        state_ ^= state_ << 5;
        return state_;
    }
    unsigned below(unsigned n) { return (next() >> 8) % n; }
    bool once_in(unsigned n) { return below(n) == 0; }

private:
    unsigned state_;
};

} // namespace stress
#endif
