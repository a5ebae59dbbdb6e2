// SPDX-License-Identifier: BSD-2-Clause
// Messages of the kernel on the debug console: print("text ", number, " ", hex(word), "\n").
#pragma once

#include "core/x2.hpp"

struct hex {
    constexpr explicit hex(Word value) : value(value) {}
    Word value;
};

void print_one(const char* text);
void print_one(char c);
void print_one(Word decimal);
void print_one(hex h);

template <typename... Ts>
void print(Ts... things) {
    (print_one(things), ...);
}
