// SPDX-License-Identifier: BSD-2-Clause
// A network card, as the service `nic` of its driver. Frames lie in memory that the driver makes and shares with its
// client: two rings, one for each direction. Neither side trusts the other one's numbers.
#pragma once

#include <rpc/rpc.h>

/// Frames in the order in which they come. One side fills slots, the other one empties them; each counts its own, for
/// ever, so that the difference is what there is.
struct FrameRing {
    static constexpr rpc::Word slots = 64, room = 2048; ///< bytes of a frame, without its checksum

    rpc::Word filled, emptied;
    rpc::Word sizes[slots];
    rpc::Word tell; ///< not 0: the side that fills it waits for room, and is told when half of the slots are empty
    alignas(4096) char frames[slots][room];
};

struct NicMemory {
    FrameRing received, sent;
    static constexpr rpc::Word pages = 2 * (1 + FrameRing::slots * FrameRing::room / 4096);
};
static_assert(sizeof(NicMemory) == NicMemory::pages * 4096);

/// The counters. Both sides are threads of one processor: it is the compiler that has to keep the order.
namespace counter {

inline rpc::Word load(const rpc::Word &number)
{
    const rpc::Word value = __atomic_load_n(&number, __ATOMIC_RELAXED);
    __atomic_signal_fence(__ATOMIC_ACQUIRE);
    return value;
}
inline void store(rpc::Word &number, rpc::Word value)
{
    __atomic_signal_fence(__ATOMIC_RELEASE);
    __atomic_store_n(&number, value, __ATOMIC_RELAXED);
}

} // namespace counter

/// The side that fills a ring.
class FrameSink {
public:
    void begin(FrameRing &ring)
    {
        ring_ = &ring;
        count_ = ring.filled;
    }
    /// Where the next frame goes; nullptr if there is no room. With `ahead`, so many frames behind that.
    char *next(rpc::Word ahead = 0)
    {
        const rpc::Word there = count_ - counter::load(ring_->emptied);
        return there + ahead < FrameRing::slots ? ring_->frames[(count_ + ahead) % FrameRing::slots] : nullptr;
    }
    /// It is there, and has so many bytes.
    void filled(rpc::Word size)
    {
        ring_->sizes[count_ % FrameRing::slots] = size;
        counter::store(ring_->filled, ++count_);
    }
    /// How many there have been: that number modulo the slots is the next one's slot.
    rpc::Word count() const { return count_; }
    /// Whether the other side has emptied all of them.
    bool empty() const { return count_ == counter::load(ring_->emptied); }

private:
    FrameRing *ring_ = nullptr;
    rpc::Word count_ = 0;
};

/// The side that empties it.
class FrameSource {
public:
    void begin(FrameRing &ring)
    {
        ring_ = &ring;
        count_ = ring.emptied;
    }
    /// The next frame and its size; nullptr if there is none. With `ahead`, so many frames behind that.
    const char *next(rpc::Word &size, rpc::Word ahead = 0) const
    {
        const rpc::Word there = counter::load(ring_->filled) - count_;
        if (there <= ahead || there > FrameRing::slots) return nullptr;
        const rpc::Word slot = (count_ + ahead) % FrameRing::slots, said = ring_->sizes[slot];
        size = said < FrameRing::room ? said : FrameRing::room;
        return ring_->frames[slot];
    }
    rpc::Word count() const { return count_; }
    /// Whether the other side is to be told that there is room; true once.
    bool owes_room()
    {
        if (!counter::load(ring_->tell) || counter::load(ring_->filled) - count_ > FrameRing::slots / 2) return false;
        counter::store(ring_->tell, 0);
        return true;
    }
    void emptied() { counter::store(ring_->emptied, ++count_); }

private:
    FrameRing *ring_ = nullptr;
    rpc::Word count_ = 0;
};

struct Nic {
    struct Card {
        unsigned char address[8]; ///< the first six
        rpc::Word handle; ///< a dataspace of the size of NicMemory, which has been passed on to the client
        rpc::Word at; ///< where the client is to attach it if it can, as the driver has; 0: anywhere
    };

    /// The caller's program is the client from now on. Errors: full (another one is).
    using Begin = rpc::Operation<0x100, Card()>;
    /// Returns when a frame has been received and not been emptied, or there is room that FrameRing::tell asks for.
    /// Errors: full (another thread waits, or no Begin).
    using Wait = rpc::Operation<0x101, rpc::Nothing()>;
    /// There are frames to be sent. It has no answer, so that nobody waits for a driver: send it without patience.
    using Kick = rpc::Operation<0x102, rpc::Nothing()>;

    using Operations = rpc::List<Begin, Wait, Kick>;
};
