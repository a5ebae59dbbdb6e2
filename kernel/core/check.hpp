// SPDX-License-Identifier: BSD-2-Clause
// Assertions of the kernel's invariants. In the checked kernel (CMake option COBNUT_CHECKED) a failed assertion ends
// the run: one line with the condition, then the report of a kernel fault. The ordinary kernel does not evaluate it.
#pragma once

#include "core/x2.hpp"

#ifdef COBNUT_CHECKED
#define check(...) ((__VA_ARGS__) ? static_cast<void>(0) : checks::failed(#__VA_ARGS__, __FILE__, __LINE__))
#else
#define check(...) static_cast<void>(sizeof((__VA_ARGS__) ? 1 : 0))
#endif

namespace checks {

#ifdef COBNUT_CHECKED
constexpr bool on = true;
#else
constexpr bool on = false;
#endif

[[noreturn, gnu::cold]] void failed(const char* condition, const char* file, Word line);

// The initial value of a counter that may wrap: in the checked kernel shortly before it does.
constexpr Word counter_start = on ? ~Word{99} : 0;

}  // namespace checks
