// SPDX-License-Identifier: BSD-2-Clause
#include "card.h"

#include <system/memory.h>

using namespace e1000;

namespace {

using cobnut::ask_init;

constexpr Word smallest = 14, largest = 1514;
constexpr int patience = 100000; // polls

} // namespace

/// Where a ring's frames are in the machine's memory, two a page.
bool E1000::find_frames(Word handle, Word first_page, Word *addresses)
{
    for (Word slot = 0; slot < slots; slot += 2) {
        const auto page = ask_init<init::Physical>(handle, first_page + slot / 2);
        if (!page) return false;
        addresses[slot] = page.value;
        addresses[slot + 1] = page.value + FrameRing::room;
    }
    return true;
}

bool E1000::begin(const init::Device &device, NicMemory &memory, Word handle)
{
    const auto range = cobnut::map_range(0);
    const auto ring = cobnut::make_memory(1);
    if (!range || !ring || device.ranges[0].is_ports) return false;
    const auto ring_page = ask_init<init::Physical>(ring.value.handle, Word{0});
    if (!ring_page) return false;
    registers_ = reinterpret_cast<volatile Word *>(range.value.address);
    receive_ = reinterpret_cast<volatile Descriptor *>(ring.value.address);
    send_ = receive_ + init::page_size / 2 / sizeof(Descriptor);
    constexpr Word pages_of_ring = NicMemory::pages / 2;
    if (!find_frames(handle, 1, receive_frames_) || !find_frames(handle, pages_of_ring + 1, send_frames_)) return false;
    if (!stop() || !read_address()) return false;
    offered_ = memory.received.filled;
    started_ = memory.sent.emptied;
    set_rings(ring_page.value, ring_page.value + init::page_size / 2);
    if (!ask_init<init::BusMaster>()) return false;
    write(send_control, sends | pads | collisions);
    write(receive_control, receives | broadcasts | without_checksum);
    write(mask_set, sent | link_changed | few_left | overrun | received);
    return true;
}

/// The card does what an earlier driver told it until it is reset; QEMU's goes on receiving even then.
bool E1000::stop()
{
    write(mask_clear, ~0u);
    write(receive_control, 0);
    write(send_control, 0);
    write(control, reset);
    int polls = 0;
    while (read(control) & reset)
        if (++polls == patience) return false;
    write(mask_clear, ~0u);
    return true;
}

void E1000::set_rings(Word receive_at, Word send_at)
{
    write(control, read(control) | link_up);
    for (Word i = 0; i < multicast_words; i++) write(multicast + i * sizeof(Word), 0);
    const auto ring = [this](Word base, Word at, Word next) {
        write(base, at);
        write(base + base_high, 0);
        write(base + length, slots * sizeof(Descriptor));
        write(base + head, next % slots);
        write(base + tail, next % slots);
    };
    ring(receive_base, receive_at, offered_);
    ring(send_base, send_at, started_);
    write(send_gap, usual_gap);
}

/// The card's address, which it is also to receive for.
bool E1000::read_address()
{
    Word words[3];
    for (Word i = 0; i < 3; i++) {
        write(memory_read, i << 8 | read_start);
        int polls = 0;
        while (!(read(memory_read) & read_done))
            if (++polls == patience) return false;
        words[i] = read(memory_read) >> 16;
        address_[2 * i] = static_cast<unsigned char>(words[i]);
        address_[2 * i + 1] = static_cast<unsigned char>(words[i] >> 8);
    }
    write(address_low, words[0] | words[1] << 16);
    write(address_high, words[2] | address_valid);
    return true;
}

void E1000::address(unsigned char *bytes) const
{
    for (size_t i = 0; i < sizeof address_; i++) bytes[i] = address_[i];
}

void E1000::acknowledge() { (void)read(cause); }

void E1000::collect(FrameSink &received)
{
    while (offered_ != received.count() && receive_[received.count() % slots].status & done) {
        const volatile Descriptor &d = receive_[received.count() % slots];
        received.filled(d.errors ? 0 : d.length); // one of no bytes is nothing to its client
    }
    // one slot stays empty: a ring whose head and tail are the same has nothing
    const Word before = offered_;
    while (offered_ - received.count() < slots - 1 && received.next(offered_ - received.count())) {
        volatile Descriptor &d = receive_[offered_ % slots];
        d.address = receive_frames_[offered_ % slots];
        d.address_high = 0;
        d.status = 0;
        offered_++;
    }
    if (offered_ != before) write(receive_base + tail, offered_ % slots);
}

bool E1000::load(FrameSource &sent)
{
    while (sent.count() != started_ && send_[sent.count() % slots].status & done) sent.emptied();
    const Word started = started_;
    Word size;
    while (started_ - sent.count() < slots - 1 && sent.next(size, started_ - sent.count())) {
        volatile Descriptor &d = send_[started_ % slots];
        d.address = send_frames_[started_ % slots];
        d.address_high = 0;
        d.length = static_cast<unsigned short>(size < smallest ? smallest : size > largest ? largest : size);
        d.command = whole | with_checksum | report;
        d.status = 0;
        started_++;
    }
    return started_ != started;
}

void E1000::work(FrameSink &received, FrameSource &sent)
{
    collect(received);
    if (load(sent)) transmit();
}
