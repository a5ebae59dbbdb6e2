// SPDX-License-Identifier: BSD-2-Clause
#include "cable.h"

#include "card.h"

#include <system/memory.h>

#include <cobnut/lab.h>
#include <l4/schedule.h>
#include <string.h>

namespace {

constexpr int before_first = 4000, questions = 100; // waits
constexpr rpc::Word arp_bytes = at::arp_asked + sizeof(Address);

} // namespace

bool Cable::begin()
{
    const auto made = cobnut::make_memory(NicMemory::pages);
    if (!made) return false;
    auto &memory = *reinterpret_cast<NicMemory *>(made.value.address);
    received_.begin(memory.received);
    in_.begin(memory.received);
    out_.begin(memory.sent);
    sent_.begin(memory.sent);
    if (!card::begin(memory, made.value.handle)) return false;
    card::collect(received_);
    card::address(address_);
    for (int i = 0; i < before_first; i++) wait(); // the emulator's cards receive nothing in their first second
    for (int i = 0; i < questions; i++) {
        if (ask()) return true;
        wait();
    }
    return false;
}

void Cable::wait()
{
    unsigned turns = 40'000; // of two instructions, each of which the laboratory has take 4 ns, on ARM 8 ns
    do __asm__ volatile("");
    while (--turns);
}

/// Asks which card has the system's address (RFC 826); false if there is no answer yet.
bool Cable::ask()
{
    constexpr Byte head[] = {0, 1, 8, 0, 6, 4, 0, arp_request};
    Byte *const out = packet(0);
    memset(out + at::to, 0xFF, sizeof address_);
    put16(out + at::kind, kind_arp);
    memcpy(out + at::body, head, sizeof head);
    memcpy(out + at::arp_sender, address_, sizeof address_);
    put32(out + at::arp_sender + sizeof address_, mine);
    put32(out + at::arp_asked, theirs);
    out_.filled(arp_bytes);
    if (card::load(sent_)) card::transmit();
    Word size;
    while (const Byte *const in = next(size)) {
        if (get16(in + at::kind) != kind_arp || get16(in + at::arp_operation) != arp_reply) continue;
        memcpy(their_address_, in + at::arp_sender, sizeof their_address_);
        return true;
    }
    return false;
}

Byte *Cable::packet(unsigned protocol)
{
    constexpr Byte version_and_size = 0x45, hops = 64;
    auto *const out = reinterpret_cast<Byte *>(out_.next());
    memset(out, 0, at::tcp_data);
    memcpy(out + at::to, their_address_, sizeof their_address_);
    memcpy(out + at::from, address_, sizeof address_);
    put16(out + at::kind, kind_ip);
    out[at::body] = version_and_size;
    out[at::ttl] = hops;
    out[at::protocol] = static_cast<Byte>(protocol);
    put32(out + at::source, mine);
    put32(out + at::destination, theirs);
    return out;
}

void Cable::send(unsigned number, Word size)
{
    auto *const out = reinterpret_cast<Byte *>(out_.next());
    put16(out + at::length, at::data - at::body + size);
    put16(out + at::ip_sum, folded(add(out + at::body, at::data - at::body)));
    out_.filled(at::data + size);
    card::load(sent_);
    wait(); // the emulator's card interrupts again 128 us behind its last interrupt
    cobnut_lab_mark(COBNUT_LAB_BEGIN, number);
    cobnut_lab_mark(COBNUT_LAB_ITER, 0);
    card::transmit();
    cobnut_lab_mark(COBNUT_LAB_ITER, 0);
    cobnut_lab_mark(COBNUT_LAB_END, number);
}

const Byte *Cable::next(Word &size)
{
    if (held_) in_.emptied();
    card::collect(received_);
    const char *const frame = in_.next(size);
    held_ = frame != nullptr;
    return reinterpret_cast<const Byte *>(frame);
}

const Byte *Cable::receive(unsigned protocol, const Byte *&end)
{
    Word size;
    while (const Byte *const in = next(size)) {
        if (get16(in + at::kind) != kind_ip || in[at::protocol] != protocol) continue;
        const Word length = get16(in + at::length);
        if (at::body + length > size || get32(in + at::destination) != mine) continue;
        end = in + at::body + length;
        return in;
    }
    return nullptr;
}
