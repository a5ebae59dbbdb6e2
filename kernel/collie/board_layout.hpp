// SPDX-License-Identifier: BSD-2-Clause
// Where the SA-1110 of a Sharp Zaurus SL-5500 (collie) has what the kernel uses, for C++ and the assembler alike (only
// #define).
#pragma once

#define RAM_BASE 0xc0000000
// What the four banks for dynamic memory span: a smaller memory can repeat itself there.
#define RAM_SPAN 0x20000000

// The megabytes of the bus with the devices that the kernel uses, mapped one after the other (DEVICES): sections.
#define DEVICE_SECTIONS  2
#define DEVICE_SECTION_0 0x80000000
#define DEVICE_SECTION_1 0x90000000
// Pages of those devices, which no space gets.
#define KERNEL_DEVICES 0x80010000, 0x90000000, 0x90050000

// The bank of zeros, for cleaning the cache (developer's manual: memory map, data cache).
#define ZERO_BANK 0xe0000000

// Where the process id register can move addresses to (SA-1110: 64 slots of 32 MB.)
#define SLOTS 64
