// SPDX-License-Identifier: BSD-2-Clause
// Intel's 82540EM. It reads and writes the rings' frames in memory by itself: descriptor n is slot n's.
#pragma once

#include "registers.h"

#include <interfaces/init.h>
#include <interfaces/nic.h>

class E1000 {
public:
    using Word = rpc::Word;

    /// Resets the card and starts it with the frames of `memory`, which is all of the dataspace `handle`; false if it
    /// does not answer, or if the description lets it use no memory.
    bool begin(const init::Device &device, NicMemory &memory, Word handle);
    void address(unsigned char *bytes) const;
    /// Notes what has happened, and ends the interrupt.
    void acknowledge();
    void work(FrameSink &received, FrameSource &sent);

    // What `work` is made of.
    /// Takes what has been received, and gives the card room for more.
    void collect(FrameSink &received);
    /// Puts frames to be sent into the card's ring; false if there are none.
    bool load(FrameSource &sent);
    /// Has the card send them.
    void transmit() { write(e1000::send_base + e1000::tail, started_ % slots); }

private:
    using Descriptor = e1000::Descriptor;
    static constexpr Word slots = FrameRing::slots;

    bool read_address();
    bool find_frames(Word handle, Word first_page, Word *addresses);
    bool stop();
    void set_rings(Word receive_at, Word send_at);
    void write(Word offset, Word value) { registers_[offset / sizeof(Word)] = value; }
    Word read(Word offset) const { return registers_[offset / sizeof(Word)]; }

    volatile Word *registers_ = nullptr;
    unsigned char address_[6] = {};
    volatile Descriptor *receive_ = nullptr, *send_ = nullptr; ///< a page, the first and the second half
    Word receive_frames_[slots] = {}, send_frames_[slots] = {}; ///< where they are in memory
    Word offered_ = 0; ///< frames that the card may fill, of all there ever were
    Word started_ = 0; ///< frames that it has been told to send
};
