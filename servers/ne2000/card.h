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

private:
    bool restart();
    /// Takes the next frame that has been received out of the card; false if there is none.
    bool receive(char *frame, Word &size);
    /// Sends a frame of at most 1,514 bytes.
    void send(const char *frame, Word size);
    void overflown();

    void out(Word port, Word value) const;
    Word in(Word port) const;
    void remote(Word at, Word bytes, Word command) const;
    void read(Word from, void *to, Word bytes) const;
    void write(Word to, const void *from, Word bytes) const;

    Word base_ = 0;
    unsigned char address_[6] = {};
    unsigned next_ = 0; ///< the page where the next frame begins
    bool sending_ = false;
};
