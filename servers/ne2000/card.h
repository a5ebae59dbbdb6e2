// SPDX-License-Identifier: BSD-2-Clause
// An NE2000 on PCI: National's DP8390 with 16 KB of memory of its own, which is read and written through a port
// (DP8390D data sheet, 1995). It uses none of the machine's memory.
#pragma once

#include <interfaces/init.h>
#include <interfaces/nic.h>

class Ne2000 {
public:
    using Word = rpc::Word;

    /// Resets the card and starts it; false if it does not answer.
    bool begin(const init::Device &device, NicMemory &, Word handle);
    void address(unsigned char *bytes) const;
    /// Notes what has happened, and ends the interrupt.
    void acknowledge();
    void work(FrameSink &received, FrameSource &sent);

    // What `work` is made of.
    /// Takes out of the card what has been received.
    void collect(FrameSink &received);
    /// Puts the next frame to be sent into the card; false if there is none, or if the card still sends.
    bool load(FrameSource &sent);
    /// Has the card send it.
    void transmit();

private:
    bool restart();
    /// Takes the next frame that has been received out of the card; false if there is none.
    bool receive(char *frame, Word &size);
    void overflown();

    // ia32/ and arm/ have one each: ports of the processor's, and those behind a bridge.
    void out(Word port, Word value) const;
    Word in(Word port) const;
    /// So many times 16 bits out of a port, and into it.
    void take(Word port, unsigned short *to, Word count) const;
    void give(Word port, const unsigned short *from, Word count) const;

    void remote(Word at, Word bytes, Word command) const;
    void read(Word from, void *to, Word bytes) const;
    void write(Word to, const void *from, Word bytes) const;

    Word base_ = 0; ///< the first port; on ARM where the program has it in memory
    unsigned char address_[6] = {};
    unsigned next_ = 0; ///< the page where the next frame begins
    bool sending_ = false;
    Word loaded_ = 0; ///< bytes of the frame that is to be sent
};
