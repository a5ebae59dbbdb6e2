// SPDX-License-Identifier: BSD-2-Clause
// Whether a device uses memory by itself only when its driver has asked for that in this start: an 82540EM
// (servers/e1000/card.h) is given a frame to send before and after. One line each; servers/keeper runs it twice, and
// it ends with the number of those that failed.
#include <system/check.h>
#include <system/memory.h>

#include <cobnut/payload.h>

namespace {

using cobnut::ask_init, cobnut::check;
using rpc::Word;

constexpr Word send_control = 0x0400, send_base = 0x3800, ring_size = 8, head = 16, tail = 24;
constexpr Word sends = 1 << 1, pads = 1 << 3, whole = 1 << 24, report = 8 << 24, done = 1, smallest_ring = 128;
constexpr Word frame_at = init::page_size / 2, frame_size = 60;
constexpr int polls = 100000;

constinit volatile Word *registers = nullptr, *descriptor = nullptr;

void write(Word offset, Word value) { registers[offset / sizeof(Word)] = value; }

/// Whether the card says, in memory, that it has sent a frame. `at` is where that memory is in the machine's.
bool sends_a_frame(Word at)
{
    const Word words[] = {at + frame_at, 0, frame_size | whole | report, 0};
    for (Word i = 0; i < 4; i++) descriptor[i] = words[i];
    write(send_control, 0);
    write(send_base, at);
    write(send_base + 4, 0);
    write(send_base + ring_size, smallest_ring);
    write(send_base + head, 0);
    write(send_base + tail, 0);
    write(send_control, sends | pads);
    write(send_base + tail, 1);
    for (int i = 0; i < polls; i++)
        if (descriptor[3] & done) return true;
    return false;
}

} // namespace

int cobnut_main(const char *)
{
    const auto range = cobnut::map_range(0);
    const auto memory = cobnut::make_memory(1);
    const auto at = ask_init<init::Physical>(memory.value.handle, Word{0});
    if (!range || !memory || !at) return 100;
    registers = reinterpret_cast<volatile Word *>(range.value.address);
    descriptor = reinterpret_cast<volatile Word *>(memory.value.address);
    check(!sends_a_frame(at.value), "master.not_before_its_driver_asks");
    check(bool(ask_init<init::BusMaster>()) && sends_a_frame(at.value), "master.when_it_has_asked");
    return cobnut::failed_checks;
}
