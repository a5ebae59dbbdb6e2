// SPDX-License-Identifier: BSD-2-Clause
// The X.2 system calls other than IPC, as functions of their parameters. The architecture knows in which registers
// these travel (ia32/system_calls.cpp). A call that fails says so in the caller's ErrorCode TCR and changes nothing
// (but SpaceControl without memory leaves a space without areas).
#pragma once

#include "core/thread.hpp"

namespace system_calls {

// A parameter that says "as it is" (manual 2.4, 3.5).
constexpr Word unchanged = ~Word{0};

// The end of a call that fails: its result, and the reason in the caller's ErrorCode TCR.
inline Word fail(Thread& caller, Error error) {
    caller.utcb->error_code() = static_cast<Word>(error);
    return 0;
}

// Manual 2.4. Result: 1, or 0 and an error.
Word thread_control(Thread& caller, ThreadId dest, ThreadId space, ThreadId scheduler, ThreadId pager, Word utcb);

// Manual 2.3. Values in: what to set; out: what was before. Result: the other id of the thread, nil on error. All
// registers, if the control word says so, stand in MR1 and those that follow (arch::read_registers), also in and out.
struct Exchange {
    Word control, sp, ip, flags, user_handle, pager;
};
ThreadId exchange_registers(Thread& caller, ThreadId dest, Exchange& values);

// Manual 3.4. Never fails.
void thread_switch(Thread& caller, ThreadId dest);

// Manual 3.5. Result: thread state (0 = error); `time_control` out: what is left of time slice and total quantum.
Word schedule(Thread& caller, ThreadId dest, Word& time_control, Word processor_control, Word priority,
    Word preemption_control);

// Manual 4.2. The fpages stand in MR0..MRk of the caller's UTCB; their statuses are put into their rights.
// resume_unmapping() does the work. Where the control word says so they are addresses of the space of the thread
// `whose`, and it is done as if that called; error 3 in the caller's ErrorCode TCR if the caller does not control that
// space.
void unmap(Thread& caller, Word control, ThreadId whose);

// The next part of the running thread's Unmap.
void resume_unmapping(Thread& t);

// Ends an Unmap in progress, of a thread that leaves its space.
void end_unmapping(Thread& t);

// Manual 4.3. Result: 1, or 0 and an error; `control` out: the old control word. begin_space_control() is the call, the
// port's resume_space_control() does the work with its parameters, from the beginning when an interrupt was let in.
void begin_space_control(Thread& caller);
void resume_space_control(Thread& t);
Word space_control(Thread& caller, ThreadId space, Word& control, Fpage kip_area, Fpage utcb_area, ThreadId redirector);

// Manual 6.3. No board known so far can change frequencies or voltages: error 5, unless all are `unchanged`.
Word processor_control(Thread& caller, Word processor, Word internal_khz, Word external_khz, Word millivolts);

// Manual 6.4. The fpages stand in MR0..MRk of the caller's UTCB. Result: 1, or 0 and an error.
Word memory_control(Thread& caller, Word control, const Word (&attributes)[4]);

}  // namespace system_calls
