// SPDX-License-Identifier: BSD-2-Clause
// A fixed number of objects of one type, which are used or not. Numbers begin at 1.
#pragma once

#include <l4/types.h>

namespace mach {

template <typename T, unsigned size> class Pool {
public:
    /// A new one; nullptr if all are used.
    T *take()
    {
        for (unsigned i = 0; i < size; i++) {
            if (used_[i]) continue;
            used_[i] = true;
            all_[i] = T{};
            return &all_[i];
        }
        return nullptr;
    }
    void give_back(T &one) { used_[&one - all_] = false; }

    unsigned number_of(const T &one) const { return static_cast<unsigned>(&one - all_) + 1; }
    T *by_number(unsigned number)
    {
        return number && number <= size && used_[number - 1] ? &all_[number - 1] : nullptr;
    }
    unsigned used() const
    {
        unsigned count = 0;
        for (bool one : used_) count += one;
        return count;
    }
    bool full() const { return used() == size; }
    template <typename F> void each(F body)
    {
        for (unsigned i = 0; i < size; i++)
            if (used_[i]) body(all_[i]);
    }

private:
    bool used_[size] = {};
    T all_[size] = {};
};

} // namespace mach
