// SPDX-License-Identifier: BSD-2-Clause
// Many threads that all wait, and many spaces: what makes queues of the kernel long.
#ifndef COBNUT_X2TEST_CROWD_H
#define COBNUT_X2TEST_CROWD_H
#include "harness.h"

namespace x2test {

inline constexpr Word most_in_crowd = 200; ///< as many as there is room for in main's UTCB area

/// Threads in main's space, each in an IPC like all others, while this lives. Their number is that of the command line.
class Crowd {
public:
    /// Each runs `prepare`, if that is given, then the IPC.
    Crowd(L4_ThreadId_t to, L4_ThreadId_t from, L4_Time_t send_timeout, L4_Time_t receive_timeout,
          void (*prepare)() = nullptr);
    ~Crowd();
    Crowd(const Crowd &) = delete;
    static L4_ThreadId_t id(Word n);
    static Word utcb(Word n);
    bool complete() const { return count_ == wish.threads; }

private:
    Word count_ = 0;
};

/// Spaces with a thread each, which waits for its start for ever; as many as the command line says. False after fail().
bool make_spaces();

} // namespace x2test
#endif
