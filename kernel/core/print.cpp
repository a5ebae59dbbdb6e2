// SPDX-License-Identifier: BSD-2-Clause
#include "core/print.hpp"

#include "core/arch.hpp"

void print_one(char c) {
    if (c == '\n') arch::console_put('\r');
    arch::console_put(c);
}

void print_one(const char* text) {
    while (*text) print_one(*text++);
}

void print_one(Word decimal) {
    if (decimal >= 10) print_one(decimal / 10);
    print_one(static_cast<char>('0' + decimal % 10));
}

void print_one(hex h) {
    for (int shift = 28; shift >= 0; shift -= 4) print_one("0123456789abcdef"[h.value >> shift & 0xf]);
}
