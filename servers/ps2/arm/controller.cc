// SPDX-License-Identifier: BSD-2-Clause
// The two controllers of a Versatile baseboard, PL050s (ARM DDI 0143, chapter 3), one a device. Their interrupts are
// one line of the board's first interrupt controller.
#include "../controller.h"

#include <system/memory.h>

namespace ps2 {
namespace {

using rpc::Word;

enum Register { control = 0x00, status = 0x04, data = 0x08, divider = 0x0C };
constexpr Word enabled = 1 << 2, receive_interrupt = 1 << 4;     // of the control
constexpr Word receive_full = 1 << 4, transmit_empty = 1 << 6;   // of the status
constexpr Word divide_by_3 = 2;                                  // 24 MHz to 8 MHz
constexpr Word scan_codes = 0xF0, which_set = 0, set_1 = 1, defaults = 0xF6, report = 0xF4; // what devices are told
constexpr Word acknowledged = 0xFA, refused = 0xFE;
constexpr unsigned most_before = 32; // bytes of keys, before an answer
constexpr unsigned patience = 100'000; // looks at the status

class Port {
public:
    bool map(Word range)
    {
        const auto registers = cobnut::map_range(range);
        if (!registers) return false;
        base_ = reinterpret_cast<volatile Word *>(registers.value.address);
        at(control) = enabled;
        at(divider) = divide_by_3;
        return true;
    }
    void interrupts() const { at(control) = enabled | receive_interrupt; }
    bool full() const { return at(status) & receive_full; }
    unsigned char get() const { return static_cast<unsigned char>(at(data)); }
    void drain() const
    {
        while (full()) get();
    }
    /// What it sends next, if that comes soon; 0 otherwise.
    Word answer() const
    {
        for (unsigned i = 0; i < patience; i++)
            if (full()) return get();
        return 0;
    }
    /// False if the device does not acknowledge it.
    bool tell(Word value) const
    {
        for (unsigned i = 0; i < patience && !(at(status) & transmit_empty); i++) {}
        at(data) = value;
        for (unsigned i = 0; i < most_before; i++)
            if (const Word said = answer(); !said || said == refused || said == acknowledged)
                return said == acknowledged;
        return false;
    }

private:
    volatile Word &at(Register r) const { return base_[r / sizeof *base_]; }
    volatile Word *base_ = nullptr;
};

constinit Port keyboard, mouse;

} // namespace

const unsigned lines[] = {31};
const unsigned line_count = 1;

bool begin()
{
    if (!keyboard.map(0) || !mouse.map(1)) return false;
    keyboard.tell(report); // or it ends what the last driver has begun
    // what was typed by the codes of another set says nothing, and what was typed while a driver died is kept
    if (!keyboard.tell(scan_codes) || !keyboard.tell(which_set)) return false;
    if (keyboard.answer() != set_1) {
        if (!keyboard.tell(scan_codes) || !keyboard.tell(set_1)) return false;
        keyboard.drain();
    }
    if (!keyboard.tell(report)) return false;
    mouse.tell(defaults);
    mouse.tell(report);
    mouse.drain();
    keyboard.interrupts();
    mouse.interrupts();
    return true;
}

Byte get()
{
    if (keyboard.full()) return {true, false, keyboard.get()};
    if (mouse.full()) return {true, true, mouse.get()};
    return {false, false, 0};
}

} // namespace ps2
