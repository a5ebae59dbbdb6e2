// SPDX-License-Identifier: BSD-2-Clause
// Names everything of the manual in C++ with its signature: that this file compiles is the test.
#include "everything.h"

#define FUNCTION(section, result, name, parameters)                                                                    \
    [[maybe_unused]] constexpr result(*function_##name) parameters = L4_##name;
#include "functions.def"

#define JOIN(a, b) a##b
#define UNIQUE(line) JOIN(overload_, line)
#define OVERLOAD(section, result, name, parameters)                                                                    \
    [[maybe_unused]] constexpr result(*UNIQUE(__LINE__)) parameters = name;
#include "overloads.def"

#define TYPE(section, name, bytes)                                                                                     \
    static_assert(sizeof(L4_##name##_t) == (bytes) && sizeof(L4_##name##_t::raw) <= (bytes));
#define WORD(section, name, value) static_assert(L4_##name == (value));
#define OBJECT(section, type, name, value) static_assert(L4_##type##_t(L4_##name).raw == (value));
#include "types.def"
