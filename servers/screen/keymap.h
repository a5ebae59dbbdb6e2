// SPDX-License-Identifier: BSD-2-Clause
// What keys mean on a US keyboard: the characters that a terminal would send.
#pragma once

#include <interfaces/input.h>

namespace screen {

class Keymap {
public:
    static constexpr unsigned most = 4;
    /// The characters of an event, up to `most`, in `text`; how many.
    unsigned take(const Input::Event &event, char *text);

private:
    bool shift_ = false, control_ = false, capitals_ = false;
};

} // namespace screen
