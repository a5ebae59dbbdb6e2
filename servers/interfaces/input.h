// SPDX-License-Identifier: BSD-2-Clause
// Keys and a mouse, as the service `input` of their driver.
#pragma once

#include <rpc/rpc.h>

struct Input {
    using Word = rpc::Word;

    enum class Kind : Word {
        pressed,  ///< a key; again while it is held down
        released, ///< a key
        moved,    ///< the mouse, with its buttons
    };
    struct Event {
        Kind kind;
        Word
            key; ///< its code of scan code set 1, and 0x80 if 0xE0 goes before it; of the mouse its buttons, a bit each
        ///< (left, right, middle)
        int x, y; ///< how far the mouse has moved, to the right and down
    };
    static constexpr Word most = 8;
    struct Events {
        Word count;
        Event events[most];
    };

    /// What has happened since the last Read; waits until that is something. Of more than 64 events the latest are
    /// lost. Errors: full (another client waits).
    using Read = rpc::Operation<0x100, Events()>;

    using Operations = rpc::List<Read>;
};
