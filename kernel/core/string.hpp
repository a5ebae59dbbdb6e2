// SPDX-License-Identifier: BSD-2-Clause
// What a freestanding compiler expects to find, and typed fronts for it.
#pragma once

#include "core/x2.hpp"

extern "C" {
void* memset(void* to, int value, std::size_t bytes);
void* memcpy(void* __restrict to, const void* __restrict from, std::size_t bytes);
void* memmove(void* to, const void* from, std::size_t bytes);
int memcmp(const void* a, const void* b, std::size_t bytes);
std::size_t strlen(const char* s);
}

inline void fill_zero(void* to, std::size_t bytes) { memset(to, 0, bytes); }
