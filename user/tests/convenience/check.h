// SPDX-License-Identifier: BSD-2-Clause
// Checks for programs without GoogleTest, which does not exist for -m32.
#ifndef COBNUT_CHECK_H
#define COBNUT_CHECK_H
#include <cstdio>

inline int failures = 0;

/// Notes a failure and goes on. Both sides are converted to 64-bit numbers.
#define EXPECT(actual, expected)                                                                                       \
    do {                                                                                                               \
        const unsigned long long actual_ = (actual), expected_ = (expected);                                           \
        if (actual_ != expected_) {                                                                                    \
            std::printf("%s:%d: %s is %#llx, not %#llx\n", __FILE__, __LINE__, #actual, actual_, expected_);           \
            failures++;                                                                                                \
        }                                                                                                              \
    } while (0)

void test_values();  ///< values_test.cc
void test_messages(); ///< messages_test.cc
void test_calls();   ///< calls_test.cc
#endif
