// SPDX-License-Identifier: BSD-2-Clause
// SMSC's SMC91C111, as the Versatile baseboard has it (LAN91C111 data sheet, DS00002276; chapter 7 has packets in its
// memory, 8 the registers, which are in banks). A memory of 8 KB holds what is to be sent and what has been received;
// it uses none of the machine's. Its PHY is left as it is.
#pragma once

#include <interfaces/init.h>
#include <interfaces/nic.h>

class Smc91c111 {
public:
    using Word = rpc::Word;
    /// Where driver and client have the rings: the processor does not relocate what lies there (docs/tags-arm.md).
    static constexpr Word rings_at = 0x60000000;

    /// Resets the card and starts it; false if it is none.
    bool begin(const init::Device &device, NicMemory &, Word handle);
    void address(unsigned char *bytes) const;
    /// Notes what has happened. The interrupt ends with work(), which takes what has been received or shuts it out.
    void acknowledge();
    void work(FrameSink &received, FrameSource &sent);

private:
    enum Bank : unsigned short { mode, configuration, packets };

    void select(Bank bank) const;
    template <typename T> volatile T &at(Word offset) const { return *reinterpret_cast<volatile T *>(base_ + offset); }
    /// Takes the next frame that has been received out of the card; false if there is none. One with an error has no
    /// bytes.
    bool receive(char *frame, Word &size) const;
    /// A place in the card's memory for a frame to be sent; false if there is none yet, and then it interrupts.
    bool allocate();
    /// Sends a frame of at most 1,514 bytes from that place.
    void send(const char *frame, Word size) const;

    Word base_ = 0;
    bool allocating_ = false; ///< a place has been asked for
    unsigned char place_ = 0; ///< its number
};
