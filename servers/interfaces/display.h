// SPDX-License-Identifier: BSD-2-Clause
// A display, as the service `display` of its driver. One program at a time has it: the first that sets a mode, until
// it ends. It draws into the display's own memory.
#pragma once

#include <rpc/rpc.h>

struct Display {
    using Word = rpc::Word;

    struct Mode {
        Word handle; ///< of a dataspace, the display's memory, which the caller now holds
        Word width, height; ///< pixels; each is a word 0x00RRGGBB
        Word line; ///< bytes from one line's first pixel to the next one's
    };
    /// Errors: full (another program has the display), bad_value (not a size that it can show), not_found (there is no
    /// display).
    using SetMode = rpc::Operation<0x100, Mode(Word width, Word height)>;

    /// A rectangle has been drawn, and is to be seen now. A client that gets Error::dead sets the mode again, for
    /// memory that is still a display's. Errors: denied (the caller does not have the display).
    using Show = rpc::Operation<0x101, rpc::Nothing(Word x, Word y, Word width, Word height)>;

    using Operations = rpc::List<SetMode, Show>;
};
