// SPDX-License-Identifier: BSD-2-Clause
// When the server's main thread has something to do though nobody has called: lwIP's timers, and calls whose time is
// over. A thread waits for that, so that the main thread waits without a timeout, which the kernel's fast path needs.
#pragma once

#include <rpc/rpc.h>

class Alarm {
public:
    using Word = rpc::Word;

    /// Makes the thread, which rings at once; false if there is none left.
    bool begin();
    /// The main thread has been called: whether it was by this, and the next time has to be set.
    bool rang();
    /// Rings in so many ms, or after a longest time that lwIP's own timers allow.
    void set(Word ms);
    /// Rings in so many ms unless it does so before that. Where the thread is on its way to wait at this very moment
    /// it may ring as late as that longest time.
    void not_later_than(Word ms);

private:
    [[noreturn]] static void run();

    L4_ThreadId_t main_ = {}, thread_ = {};
    L4_Word64_t at_ = 0; ///< us of the system's clock
    bool rings_ = false;
};

extern Alarm the_alarm;
