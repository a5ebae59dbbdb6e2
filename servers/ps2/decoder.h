// SPDX-License-Identifier: BSD-2-Clause
// Events out of the bytes that a keyboard (scan code set 1) and a mouse (packets of three bytes) send.
#pragma once

#include <interfaces/input.h>

namespace ps2 {

class Decoder {
public:
    /// Takes a byte; true if it completes `event`.
    bool take_keyboards(unsigned char byte, Input::Event &event);
    bool take_mouses(unsigned char byte, Input::Event &event);

private:
    bool extended_ = false;
    unsigned skipped_ = 0; ///< bytes of a sequence that are still to come and say nothing
    unsigned char packet_[3] = {};
    unsigned size_ = 0;
};

} // namespace ps2
