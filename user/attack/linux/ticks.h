// SPDX-License-Identifier: BSD-2-Clause
// The time-stamp counter, read in order.
#ifndef COBNUT_ATTACK_LINUX_TICKS_H
#define COBNUT_ATTACK_LINUX_TICKS_H

namespace attack {

inline unsigned long long ticks()
{
    unsigned low, high;
    __asm__ volatile("mfence; lfence; rdtsc; lfence" : "=a"(low), "=d"(high) : : "memory");
    return static_cast<unsigned long long>(high) << 32 | low;
}

} // namespace attack
#endif
