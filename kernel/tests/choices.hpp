// SPDX-License-Identifier: BSD-2-Clause
// Where a property takes its operations from: pseudo-random numbers in the unit tests, a fuzzer's input elsewhere.
#pragma once

#include <cstddef>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <random>

class Choices {
public:
    virtual ~Choices() = default;
    virtual bool more() = 0;
    // From 0 to n - 1, n at most 256.
    virtual unsigned below(unsigned n) = 0;
    bool one_in(unsigned n) { return below(n) == 0; }
};

class RandomChoices : public Choices {
public:
    RandomChoices(unsigned seed, int operations) : random_(seed), left_(operations) {}
    bool more() override { return left_-- > 0; }
    unsigned below(unsigned n) override { return static_cast<unsigned>(random_() % n); }

private:
    std::mt19937 random_;
    int left_;
};

// Bytes, and zeros behind their end.
class GivenChoices : public Choices {
public:
    GivenChoices(const std::uint8_t* data, std::size_t size) : next_(data), end_(data + size) {}
    bool more() override { return next_ != end_; }
    unsigned below(unsigned n) override { return next_ == end_ ? 0 : *next_++ % n; }

private:
    const std::uint8_t *next_, *end_;
};

// A property that does not hold ends the process: both kinds of runs report that with the operation at hand.
inline void require(bool holds, const char* what, int operation) {
    if (holds) return;
    std::fprintf(stderr, "operation %d: %s\n", operation, what);
    std::abort();
}

// What must hold for whatever sequence of operations.
void mapping_property(Choices& choices);
void schedule_property(Choices& choices);
void timeout_property(Choices& choices);
