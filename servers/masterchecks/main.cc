// SPDX-License-Identifier: BSD-2-Clause
// Whether a device uses memory by itself only when its driver has asked for that in this start: an 82540EM is given a
// frame to send before and after. One line each; servers/keeper runs it twice, and it ends with the number of those
// that failed.
#include "../e1000/registers.h"

#include <system/check.h>
#include <system/memory.h>

#include <cobnut/payload.h>

namespace {

using cobnut::ask_init, cobnut::check;
using namespace e1000;

constexpr Word frame_at = init::page_size / 2, frame_size = 60;
constexpr int polls = 100000;

constinit volatile Word *registers = nullptr;
constinit volatile Descriptor *ring = nullptr;

void write(Word offset, Word value) { registers[offset / sizeof(Word)] = value; }

/// Whether the card says, in memory, that it has sent a frame. `at` is where that memory is in the machine's.
bool sends_a_frame(Word at)
{
    ring->address = at + frame_at;
    ring->address_high = 0;
    ring->length = frame_size;
    ring->command = whole | report;
    ring->status = 0;
    write(send_control, 0);
    write(send_base, at);
    write(send_base + base_high, 0);
    write(send_base + length, smallest_ring * sizeof(Descriptor));
    write(send_base + head, 0);
    write(send_base + tail, 0);
    write(send_control, sends | pads);
    write(send_base + tail, 1);
    for (int i = 0; i < polls; i++)
        if (ring->status & done) return true;
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
    ring = reinterpret_cast<volatile Descriptor *>(memory.value.address);
    check(!sends_a_frame(at.value), "master.not_before_its_driver_asks");
    check(bool(ask_init<init::BusMaster>()) && sends_a_frame(at.value), "master.when_it_has_asked");
    return cobnut::failed_checks;
}
