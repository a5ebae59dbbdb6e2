// SPDX-License-Identifier: BSD-2-Clause
// The processor: coprocessor 15 as ARMv4 and ARMv5 have it in common, and the state that exists once a processor. What
// differs between cores is in caches.hpp.
#pragma once

#include "core/thread.hpp"
#include "core/x2.hpp"

namespace cpu {

// Register `number`, of those that need no more to be named.
template <int number>
inline Word read() {
    Word v;
    asm volatile("mrc p15, 0, %0, c%c1, c0, 0" : "=r"(v) : "i"(number));
    return v;
}
template <int number>
inline void write(Word v) {
    asm volatile("mcr p15, 0, %0, c%c1, c0, 0" : : "r"(v), "i"(number) : "memory");
}

inline Word read_control() { return read<1>(); }
inline void write_control(Word v) { write<1>(v); }
inline PAddr read_table_base() { return read<2>(); }
inline void write_table_base(PAddr v) { write<2>(v); }
inline Word read_domain_access() { return read<3>(); }
inline void write_domain_access(Word v) { write<3>(v); }
inline Word fault_status() { return read<5>(); }
inline VAddr fault_address() { return read<6>(); }
inline Word read_process_id() { return read<13>(); }
inline void write_process_id(Word v) { write<13>(v); }
inline void drain_write_buffer() { asm volatile("mcr p15, 0, %0, c7, c10, 4" : : "r"(0) : "memory"); }
inline void invalidate_tlb() { asm volatile("mcr p15, 0, %0, c8, c7, 0" : : "r"(0) : "memory"); }
inline void invalidate_data_tlb_entry(VAddr v) { asm volatile("mcr p15, 0, %0, c8, c6, 1" : : "r"(v) : "memory"); }

}  // namespace cpu

// Right above the kernel's stack, which is empty whenever a user runs: all exception modes have its address as their
// stack pointer.
struct Processor {
    Thread* current;            // nullptr while idle
    Word ready_top;             // core/schedule.hpp
    // domain access of all spaces switched to since collect() (residents.cpp)
    Word ran;
    Word left;                  // domain of the space that ran before the kernel was entered
    Word saved_pc, saved_psr;   // on the way from an exception's mode to supervisor mode
    Word copying;               // the stack pointer to go back to if copy_if_there() finds nothing; else 0
};
extern "C" Processor processor;
