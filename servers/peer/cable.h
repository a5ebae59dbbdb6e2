// SPDX-License-Identifier: BSD-2-Clause
// The other end of the system's cable: a second card of the same machine, by which this program sends the frames of a
// script. All other programs run before this one, so that it goes on behind the instruction that sends a frame when the
// system has done all that there is to do about it. Nothing comes from outside: two runs are the same.
#pragma once

#include "frames.h"

#include <interfaces/nic.h>

class Cable {
public:
    using Word = rpc::Word;
    static constexpr Address mine = 0x0A000901, theirs = 0x0A000902; ///< 10.0.9.1 and the system's, 10.0.9.2

    /// Starts the card, and asks for the system's until it answers; false if one of them does not.
    bool begin();

    /// The next frame to be sent, with all of Ethernet and IP that does not depend on the packet, and zeros up to
    /// at::tcp_data.
    Byte *packet(unsigned protocol);
    /// Waits, and sends it with so many bytes behind IP's head, as one iteration of the laboratory's case `number`,
    /// which ends when this program runs again, or at marks before that.
    void send(unsigned number, Word size);
    /// The next packet that has come for this end, until the next call; nullptr if there is none. `end` is behind it.
    const Byte *receive(unsigned protocol, const Byte *&end);
    /// Lets some time pass, in which whoever else has something to do does it. The machine is never idle then, and an
    /// emulator has nothing to wait for either.
    static void wait();

private:
    bool ask();
    const Byte *next(Word &size);

    FrameSink received_, out_; ///< filled by the card, and by the script
    FrameSource in_, sent_; ///< emptied by the script, and by the card
    Byte address_[6] = {}, their_address_[6] = {};
    bool held_ = false; ///< the frame that has been received last has not been emptied yet
};
