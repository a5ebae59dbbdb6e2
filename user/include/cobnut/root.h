// SPDX-License-Identifier: BSD-2-Clause
// What a root server consists of that makes threads, has one of them measure, and is their pager: its end when
// something goes wrong, and what its threads tell it beside their faults. The program has a name, COBNUT_PROGRAM.
#ifndef COBNUT_ROOT_H
#define COBNUT_ROOT_H
#include <cobnut/pager.h>
#include <cobnut/program.h>
#include <l4/schedule.h>

namespace cobnut {

/// Ends the run on an emulator with status 1 and a line `NAME: FAIL WHAT (a, b)`, both in hexadecimal.
[[noreturn]] inline void fail(const char *what, L4_Word_t a = 0, L4_Word_t b = 0)
{
    print("%s: FAIL %s (%08x, %08x)\n", COBNUT_PROGRAM, what, a, b);
    machine_off(1);
}

/// Labels of what a thread tells the root server: `failed` comes with the error code (or tag) of a call of its own.
inline constexpr L4_Word_t done_label = 0x0D01, failed_label = 0x0D02;

/// Tells the caller's pager, and is done: sleeps for ever.
[[noreturn]] inline void tell_root(L4_Word_t label, L4_Word_t value)
{
    L4_Set_MsgTag(L4_MsgTag_t{.raw = label << 16 | 1});
    L4_LoadMR(1, value);
    L4_Send(L4_Pager());
    for (;;) L4_Sleep(L4_Never);
}

/// What a thread has said that is not a fault: MR1 is `value`.
struct Said {
    L4_ThreadId_t from;
    L4_Word_t label, value;
};

/// Answers page faults of all threads until one sends another message, which must not report a failed call. `from` and
/// `answer` as for serve_faults().
template <typename Answer> Said page_until_said(L4_ThreadId_t from, Answer answer)
{
    const L4_MsgTag_t tag = serve_faults(from, answer);
    if (L4_IpcFailed(tag)) fail("the pager's IPC", from.raw, L4_ErrorCode());
    L4_Word_t value;
    L4_StoreMR(1, &value);
    if (L4_Label(tag) == failed_label) fail("a call", from.raw, value);
    return {from, L4_Label(tag), value};
}

} // namespace cobnut
#endif
