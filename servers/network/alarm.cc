// SPDX-License-Identifier: BSD-2-Clause
#include "alarm.h"

#include <system/system.h>

#include <l4/schedule.h>
#include <l4/thread.h>

using rpc::Word;

namespace {

// lwIP may have begun a timer of this time since it has last been asked (TCP_TMR_INTERVAL)
constexpr Word longest_ms = 250, longest_us = longest_ms * 1000;

alignas(16) constinit char stack[1024];

} // namespace

constinit Alarm the_alarm;

bool Alarm::begin()
{
    main_ = L4_Myself();
    const auto made = cobnut::ask_init<init::MakeThread>(reinterpret_cast<Word>(run),
                                                         reinterpret_cast<Word>(stack + sizeof stack - 16));
    thread_.raw = made.value;
    return bool(made);
}

bool Alarm::rang()
{
    const bool by_this = rings_;
    rings_ = false;
    return by_this;
}

void Alarm::set(Word ms)
{
    at_ = L4_SystemClock().raw + static_cast<L4_Word64_t>(ms < longest_ms ? ms : longest_ms) * 1000;
}

void Alarm::not_later_than(Word ms)
{
    if (ms >= longest_ms || L4_SystemClock().raw + static_cast<L4_Word64_t>(ms) * 1000 >= at_) return;
    set(ms);
    L4_Set_MsgTag(L4_Niltag);
    L4_Send_Timeout(thread_, L4_ZeroTime); // it looks at its time again
}

void Alarm::run()
{
    for (;;) {
        const L4_Word64_t now = L4_SystemClock().raw, at = the_alarm.at_, left = at > now ? at - now : 0;
        // `at` is two words: of one old and one new comes a ring too soon, or later by no more than this
        const L4_Time_t patience = left ? L4_TimePeriod(left < longest_us ? left : longest_us) : L4_ZeroTime;
        if (L4_IpcSucceeded(L4_Receive_Timeout(the_alarm.main_, patience))) continue;
        the_alarm.rings_ = true;
        L4_Set_MsgTag(L4_Niltag);
        L4_Call(the_alarm.main_);
    }
}
