// SPDX-License-Identifier: BSD-2-Clause
#include "drive.h"

#include <system/ports.h>

#include <l4/schedule.h>

namespace ide {
namespace {

constexpr unsigned short data = 0x1F0, count_port = 0x1F2, low = 0x1F3, middle = 0x1F4, high = 0x1F5, select = 0x1F6,
                         command_port = 0x1F7, status_port = 0x1F7, control = 0x3F6, alternate_status = 0x3F6;
constexpr unsigned char busy = 0x80, ready = 0x40, fault = 0x20, data_request = 0x08, error = 0x01;
constexpr unsigned char software_reset = 4, no_interrupts = 2, by_block_number = 0xE0, identify_device = 0xEC;
constexpr size_t words_a_block = Drive::block_size / 2;
constexpr unsigned most_blocks = 1u << 28; // that have a number of 28 bits
constexpr L4_Word64_t patience_us = 1'000'000;

enum class Answer { no, yes, never };

/// Asks again and again for up to a second: true if the answer is yes.
template <typename Ask> bool wait_until(Ask ask)
{
    L4_Word64_t end = 0;
    for (;;) {
        if (const Answer answer = ask(); answer != Answer::no) return answer == Answer::yes;
        const L4_Word64_t now = L4_SystemClock().raw;
        if (!end) end = now + patience_us;
        if (now >= end) return false;
    }
}

/// Until the drive is not busy and its status has the bits `wanted`; false if it does not come to that, or if the
/// status gets one of the bits `bad`, of which those of the last command are there until the next one.
bool wait_for(unsigned char wanted, unsigned char bad = 0)
{
    return wait_until([=] {
        const unsigned char status = ports::in8(alternate_status);
        if (status == 0xFF) return Answer::never; // nothing drives the bus
        if (status & busy) return Answer::no;
        if (status & bad) return Answer::never;
        return (status & wanted) == wanted ? Answer::yes : Answer::no;
    });
}

} // namespace

bool Drive::reset()
{
    command_ = Command::flush; // nothing is transferred any more
    left_ = 0;
    ports::out8(control, software_reset | no_interrupts);
    for (int i = 0; i < 16; i++) ports::in8(alternate_status); // 5 us (9.2)
    ports::out8(control, no_interrupts);
    const bool there = wait_until([this] {
        // again and again: a channel that is busy does not take it, and does not say so if the other drive is missing
        ports::out8(select, by_number(0));
        const unsigned char status = ports::in8(alternate_status);
        if (status == 0xFF) return Answer::never;
        return (status & (busy | ready)) == ready ? Answer::yes : Answer::no; // only disks are ready after it (9.1)
    });
    ports::in8(status_port); // takes back an interrupt
    ports::out8(control, 0);
    return there;
}

bool Drive::identify()
{
    unsigned short words[words_a_block];
    ports::out8(control, no_interrupts);
    ports::out8(select, by_number(0));
    if (!wait_for(0)) return false;
    ports::out8(command_port, identify_device);
    if (ports::in8(alternate_status) == 0 || !wait_for(data_request, error | fault)) return false;
    ports::in16s(data, words, words_a_block);
    ports::in8(status_port);
    ports::out8(control, 0);
    blocks_ = words[60] | static_cast<unsigned>(words[61]) << 16; // 8.15: what 28 bits reach
    return blocks_ && blocks_ <= most_blocks;
}

/// What the register `select` takes: the drive, and the highest bits of a block's number.
unsigned char Drive::by_number(unsigned block) const
{
    return static_cast<unsigned char>(by_block_number | number_ << 4 | block >> 24);
}

bool Drive::begin(unsigned number)
{
    number_ = number;
    return reset() && identify();
}

bool Drive::start(Command command, unsigned block, unsigned count, char *memory)
{
    command_ = command;
    left_ = count;
    memory_ = memory;
    if (!wait_for(0)) return false;
    ports::out8(select, by_number(block));
    if (!wait_for(ready)) return false;
    ports::out8(count_port, static_cast<unsigned char>(count));
    ports::out8(low, static_cast<unsigned char>(block));
    ports::out8(middle, static_cast<unsigned char>(block >> 8));
    ports::out8(high, static_cast<unsigned char>(block >> 16));
    ports::out8(command_port, static_cast<unsigned char>(command));
    if (command != Command::write) return true;
    if (!wait_for(data_request, error | fault)) return false;
    next_block(true); // the first one is asked for without an interrupt
    return true;
}

void Drive::next_block(bool write)
{
    if (write) ports::out16s(data, memory_, words_a_block);
    else ports::in16s(data, memory_, words_a_block);
    memory_ += block_size;
    left_--;
}

Progress Drive::interrupted()
{
    const unsigned char status = ports::in8(status_port); // which ends the interrupt
    if (status & busy) return Progress::goes_on;
    if (status & (error | fault)) return Progress::failed;
    if (command_ == Command::read) {
        if (!left_ || !(status & data_request)) return Progress::goes_on; // a drive may say more than it was asked
        next_block(false);
        return left_ ? Progress::goes_on : Progress::done;
    }
    if (!left_) return Progress::done;
    if (!(status & data_request)) return Progress::goes_on;
    next_block(true);
    return Progress::goes_on;
}

} // namespace ide
