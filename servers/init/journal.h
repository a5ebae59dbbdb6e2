// SPDX-License-Identifier: BSD-2-Clause
// The latest of what programs have asked init for and of what has happened to them (init::Trace).
#pragma once

#include <interfaces/init.h>

namespace init {

class Journal {
public:
    /// With no events in it.
    void begin(bool on);
    void note(Kind kind, Word program, Word thread, Word what, Word more)
    {
        if (on_) write(kind, program, thread, what, more);
    }
    Events read(Word from) const;

private:
    static constexpr Word most = 512;

    void write(Kind kind, Word program, Word thread, Word what, Word more);

    bool on_ = false;
    L4_Word64_t begun_ = 0;
    Word count_ = 0; ///< of all events since then
    Event events_[most] = {};
};

} // namespace init
