// SPDX-License-Identifier: BSD-2-Clause
// The card at the other end of the cable. ia32/ and arm/ have one each: an Intel 82545EM, and an NE2000 behind the
// Versatile's bridge to PCI. It is asked and never interrupts.
#pragma once

#include <interfaces/nic.h>

namespace card {

/// Finds it and starts it with the rings of `memory`, which is all of the dataspace `handle`; false if it does not
/// answer.
bool begin(NicMemory &memory, rpc::Word handle);
void address(unsigned char *bytes); ///< six of them
/// Takes what has been received.
void collect(FrameSink &received);
/// Gives the card the next frame to be sent; false if there is none.
bool load(FrameSource &sent);
/// Has it send that.
void transmit();

} // namespace card
