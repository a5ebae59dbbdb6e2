// SPDX-License-Identifier: BSD-2-Clause
// Where the ARM Versatile platform baseboard has what the kernel uses, for C++ and the assembler alike (only #define).
#pragma once

#define RAM_BASE 0x00000000
// What the two chip selects for dynamic memory span: a smaller memory repeats itself there.
#define RAM_SPAN 0x10000000

// The megabytes of the bus with the devices that the kernel uses, mapped one after the other (DEVICES): sections.
#define DEVICE_SECTIONS  2
#define DEVICE_SECTION_0 0x10000000
#define DEVICE_SECTION_1 0x10100000
// Pages of those devices, which no space gets.
#define KERNEL_DEVICES 0x10003000, 0x10140000, 0x101e2000, 0x101f1000

// Where the process id register can move addresses to (ARM926EJ-S: 128 slots; the upper ones are where no user is.)
#define SLOTS 104
