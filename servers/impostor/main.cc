// SPDX-License-Identifier: BSD-2-Clause
// A driver of an NE2000 that tells its client what is not so. Its arguments are words, of which its first start takes
// the first, and so on. It completes three frames rightly, questions for the client's address (RFC 826), which the
// client answers; then what the word says; then one more question. For checks that the client refuses what is wrong and
// goes on: servers/linkchecks.
//   right   nothing
//   ahead   200 more frames than there are slots for
//   back    the last frame, for a second time
//   long    a frame of 4,096 bytes, twice what a slot has: an ICMP echo of 4,000
//   short   600 frames of 0 to 13 bytes, which is less than a frame has, and more than lwIP has buffers
//   sent    a frame as sent that the client has never given it; it stays with that
//   storm   nothing, but its card interrupts, and nobody ends that
#include "../unruly/starts.h"

#include <nic/driver.h>
#include <peer/frames.h>
#include <system/ports.h>

#include <cobnut/options.h>
#include <cobnut/payload.h>
#include <string.h>

namespace {

using rpc::Word;

constexpr Word questions = 3, short_frames = 600, smallest = 60, too_many = 200, too_long = 4096, echo_bytes = 4000;
constexpr Byte hardware[] = {0x52, 0x54, 0, 0x12, 0x34, 0x56}, asker[] = {2, 0, 0, 0, 0, 1};
constexpr Address mine = 0x0A000901, theirs = 0x0A000902; // 10.0.9.1 and the client's, 10.0.9.2

constinit cobnut::Text word;

void head(Byte *frame, unsigned kind)
{
    memset(frame, 0, FrameRing::room);
    memcpy(frame + at::to, hardware, sizeof hardware);
    memcpy(frame + at::from, asker, sizeof asker);
    put16(frame + at::kind, kind);
}

void question(Byte *frame)
{
    constexpr Byte asks[] = {0, 1, 8, 0, 6, 4, 0, arp_request};
    head(frame, kind_arp);
    memcpy(frame + at::body, asks, sizeof asks);
    memcpy(frame + at::arp_sender, asker, sizeof asker);
    put32(frame + at::arp_sender + sizeof asker, mine);
    put32(frame + at::arp_asked, theirs);
}

/// It goes on in the next slot.
void echo(Byte *frame)
{
    constexpr Byte version_and_size = 0x45, hops = 64;
    head(frame, kind_ip);
    frame[at::body] = version_and_size;
    frame[at::ttl] = hops;
    frame[at::protocol] = protocol_icmp;
    put16(frame + at::length, echo_bytes);
    put32(frame + at::source, mine);
    put32(frame + at::destination, theirs);
    put16(frame + at::ip_sum, folded(add(frame + at::body, at::data - at::body)));
    frame[at::icmp_kind] = echo_request;
    put16(frame + at::icmp_sum, folded(add(frame + at::data, 8)));
}

class Impostor {
public:
    bool begin(const init::Device &device, NicMemory &memory, Word)
    {
        memory_ = &memory;
        set_interrupt(static_cast<unsigned short>(device.ranges[0].first), word == "storm");
        return device.ranges[0].is_ports;
    }
    static void address(Byte *bytes) { memcpy(bytes, hardware, sizeof hardware); }
    static void acknowledge() {}

    /// Each part begins when the client has taken what there was.
    void work(FrameSink &received, FrameSource &sent)
    {
        if (!received.empty() && !lies_) return;
        if (asked_ < questions) {
            for (; asked_ < questions; asked_++) fill(received, question, smallest);
            return;
        }
        if (!told_) told_ = !lie(received, sent);
        if (!told_ || asked_ > questions || !received.empty()) return;
        asked_++;
        fill(received, question, smallest);
    }

private:
    template <typename Make> static void fill(FrameSink &received, Make make, Word size)
    {
        char *const room = received.next();
        if (!room) return;
        make(reinterpret_cast<Byte *>(room));
        received.filled(size);
    }

    /// The word's part. True: there is more of it.
    bool lie(FrameSink &received, FrameSource &sent)
    {
        if (word == "ahead") return say_filled(received, too_many);
        if (word == "back") return say_filled(received, ~Word{0});
        if (word == "sent") memory_->sent.emptied = sent.count() + too_many;
        if (word == "long") fill(received, echo, too_long);
        if (word != "short") return false;
        for (; count_ < short_frames && received.next(); count_++) received.filled(count_ % at::body);
        return count_ < short_frames;
    }

    /// Says that so many more have come, and the next time how many really have.
    bool say_filled(FrameSink &received, Word more)
    {
        memory_->received.filled += lies_ ? ~more + 1 : more;
        received.begin(memory_->received);
        lies_ = !lies_;
        return lies_;
    }

    /// Has the card interrupt for a transfer of no bytes, or not (DP8390D data sheet, 10).
    static void set_interrupt(unsigned short base, bool on)
    {
        constexpr unsigned short command = 0, count_low = 10, count_high = 11, mask = 15;
        constexpr Byte stop = 0x21, remote_read = 0x0A, remote_done = 0x40;
        const auto out = [base](unsigned short port, Byte value) {
            ports::out8(static_cast<unsigned short>(base + port), value);
        };
        out(command, stop);
        out(mask, on ? remote_done : 0);
        out(count_low, 0);
        out(count_high, 0);
        if (on) out(command, remote_read);
    }

    NicMemory *memory_ = nullptr;
    Word asked_ = 0, count_ = 0; ///< questions; short frames
    bool told_ = false, lies_ = false; ///< the word's part is over; the counter is wrong
};

constinit Impostor impostor;

} // namespace

int cobnut_main(const char *arguments)
{
    word = starts::word_of_this(arguments);
    return cobnut::drive(impostor);
}
