// SPDX-License-Identifier: BSD-2-Clause
// A fixed number of objects of one type, which are used or not. Numbers begin at 1.
#pragma once

#include <l4/types.h>

namespace mach {

/// Calls `body` with the number of each bit that is set when its turn comes.
template <typename F> void each_bit(const L4_Word_t &bits, F body)
{
    for (L4_Word_t left = bits; left;) {
        const unsigned bit = static_cast<unsigned>(__builtin_ctzl(left));
        body(bit);
        left = bits & ~((L4_Word_t{2} << bit) - 1);
    }
}

template <typename T, unsigned size> class Pool {
public:
    /// A new one; nullptr if all are used.
    T *take()
    {
        for (unsigned first = 0; first < size; first += bits) {
            const L4_Word_t unused = ~used_[first / bits];
            const unsigned i = first + (unused ? static_cast<unsigned>(__builtin_ctzl(unused)) : bits);
            if (!unused || i >= size) continue;
            used_[i / bits] |= bit_of(i);
            all_[i] = T{};
            return &all_[i];
        }
        return nullptr;
    }
    void give_back(T &one) { used_[(&one - all_) / bits] &= ~bit_of(static_cast<unsigned>(&one - all_)); }

    unsigned number_of(const T &one) const { return static_cast<unsigned>(&one - all_) + 1; }
    T *by_number(unsigned number)
    {
        const unsigned i = number - 1;
        return number && number <= size && used_[i / bits] & bit_of(i) ? &all_[i] : nullptr;
    }
    unsigned used() const
    {
        unsigned count = 0;
        for (unsigned i = 0; i < size; i++) count += (used_[i / bits] & bit_of(i)) != 0;
        return count;
    }
    bool full() const { return used() == size; }
    template <typename F> void each(F body)
    {
        for (unsigned first = 0; first < size; first += bits)
            each_bit(used_[first / bits], [&](unsigned bit) { body(all_[first + bit]); });
    }

private:
    static constexpr unsigned bits = 8 * sizeof(L4_Word_t);
    static constexpr L4_Word_t bit_of(unsigned i) { return L4_Word_t{1} << i % bits; }
    L4_Word_t used_[(size + bits - 1) / bits] = {}; ///< a bit for each
    T all_[size] = {};
};

} // namespace mach
