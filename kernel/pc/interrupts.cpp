// SPDX-License-Identifier: BSD-2-Clause
// The two 8259 interrupt controllers, the 8254 timer, and what an interrupt means: a tick of time, or a message.
#include "core/arch.hpp"
#include "core/ipc.hpp"
#include "core/timekeeping.hpp"
#include "core/trace.hpp"
#include "ia32/board.hpp"
#include "ia32/cpu.hpp"
#include "ia32/layout.hpp"
#include "pc/timer.hpp"
#include "slots/policy.hpp"

namespace {

constexpr Word pic1 = 0x20, pic2 = 0xa0;        // command ports; data ports behind them
constexpr Word cascade_line = 2;
enum PicCommand : Word { pic_init = 0x11, pic_eoi = 0x60, pic_read_service = 0x0b };

constexpr Word pit_channel0 = 0x40, pit_channel2 = 0x42, pit_command = 0x43, pit_gate = 0x61;
constexpr Word pit_divisor = 1193;

// The lines that may interrupt; the controllers' registers have the others. Reading a port takes as long as writing it.
Word open_lines;

[[gnu::noinline]] void write_mask_of(Word line) {
    Word first = line & 8;
    cpu::out8(pic1 + 1 + first * ((pic2 - pic1) / 8), ~open_lines >> first);
}

void end_of_interrupt(Word line) {
    if (line >= 8) {
        cpu::out8(pic2, pic_eoi | (line & 7));
        cpu::out8(pic1, pic_eoi | cascade_line);
    } else {
        cpu::out8(pic1, pic_eoi | line);
    }
}

// Lines 7 and 15 also report an interrupt that was withdrawn before it was acknowledged.
bool spurious(Word line) {
    if ((line & 7) != 7) return false;
    Word pic = line < 8 ? pic1 : pic2;
    cpu::out8(pic, pic_read_service);
    if (cpu::in8(pic) & 0x80) return false;
    if (line >= 8) cpu::out8(pic1, pic_eoi | cascade_line);
    return true;
}

}  // namespace

namespace board {

void initialise() {
    auto start = [](Word pic, Word vector, Word cascade) {
        cpu::out8(pic, pic_init);
        cpu::out8(pic + 1, vector);
        cpu::out8(pic + 1, cascade);
        cpu::out8(pic + 1, 1);
    };
    start(pic1, VECTOR_IRQ, 1u << cascade_line);
    start(pic2, VECTOR_IRQ + 8, cascade_line);
    open_lines = 1u << cascade_line | 1u << tick_line;
    write_mask_of(tick_line);
    write_mask_of(8);
    cpu::out8(pit_command, 0x34);               // channel 0, rate generator
    cpu::out8(pit_channel0, pit_divisor & 0xff);
    cpu::out8(pit_channel0, pit_divisor >> 8);
}

void interrupt(Word line) {
    if (spurious(line)) return;
    trace::event(trace::Event::interrupt, ThreadId::nil(), line);
    if (line == tick_line) {
        end_of_interrupt(line);
        clock::tick();
        timekeeping::tick(tick_ns / 1000);
        return;
    }
    arch::mask_interrupt(line);
    end_of_interrupt(line);
    if (Thread* t = threads::by_number(line)) ipc::interrupt(*t);
}

Word tsc_ticks_per_ms() {
    constexpr Word ms = 4, count = (1193182 * ms + 500) / 1000;
    cpu::out8(pit_gate, (cpu::in8(pit_gate) & ~2u) | 1);
    // An emulator that waits for a processor of its host's counts too much, never too little, as the counter is read
    // before the PIT begins: the least is right, once it has come again.
    Word least = 0x7fffffff;
    for (Word tries = 16; tries; --tries) {
        cpu::out8(pit_command, 0xb0);           // channel 2, one shot
        cpu::out8(pit_channel2, count & 0xff);
        Word start = static_cast<Word>(cpu::rdtsc());
        cpu::out8(pit_channel2, count >> 8);
        // About as long as a read of the port takes on a processor, which emulators take far longer for.
        while (!(cpu::in8(pit_gate) & 0x20)) {
            Word spins = 32;
            asm volatile("1: loop 1b" : "+c"(spins));
        }
        Word counted = static_cast<Word>(cpu::rdtsc()) - start;
        if (counted - least < least >> 10) break;
        if (counted < least) least = counted;
    }
    return least / ms;
}

}  // namespace board

namespace arch {

void after_tick() { slots::look(); }

bool interrupt_available(Word line) {
    return line < interrupt_lines && line != board::tick_line && line != cascade_line;
}

void mask_interrupt(Word line) {
    open_lines &= ~(1u << line);
    write_mask_of(line);
}

void unmask_interrupt(Word line) {
    open_lines |= 1u << line;
    write_mask_of(line);
}

}  // namespace arch
