// SPDX-License-Identifier: BSD-2-Clause
#ifndef COBNUT_COMPOSE_RANDOM_H
#define COBNUT_COMPOSE_RANDOM_H
#include <l4/types.h>

namespace compose {

using Word = L4_Word_t;

/// Deterministic pseudo-random numbers (xorshift).
class Random {
public:
    explicit Random(Word seed) : state_(seed * 2654435761u | 1) {}
    Word next()
    {
        state_ ^= state_ << 13;
        state_ ^= state_ >> 17;
        state_ ^= state_ << 5;
        return state_;
    }
    /// From 0 to n - 1. By the product's upper half: emulators divide slowly.
    Word below(Word n) { return static_cast<Word>(static_cast<unsigned long long>(next()) * n >> 32); }
    /// An index of `weights`, each as often as its weight says.
    template <Word n> Word weighted(const Word (&weights)[n])
    {
        Word total = 0;
        for (const Word weight : weights) total += weight;
        Word left = below(total), index = 0;
        while (left >= weights[index]) left -= weights[index++];
        return index;
    }

private:
    Word state_;
};

} // namespace compose
#endif
