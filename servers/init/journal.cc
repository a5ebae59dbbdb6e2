// SPDX-License-Identifier: BSD-2-Clause
#include "journal.h"

#include <l4/schedule.h>

namespace init {

void Journal::begin(bool on)
{
    if (on) {
        count_ = 0;
        begun_ = L4_SystemClock().raw;
    }
    on_ = on;
}

void Journal::write(Kind kind, Word program, Word thread, Word what, Word more)
{
    const Word us = static_cast<Word>(L4_SystemClock().raw - begun_);
    events_[count_++ % most] = {us, kind, program, thread, what, more};
}

Events Journal::read(Word from) const
{
    const Word oldest = count_ < most ? 0 : count_ - most;
    Events some{};
    some.first = from < oldest ? oldest : from < count_ ? from : count_;
    for (some.next = some.first; some.next < count_ && some.next - some.first < Events::most; some.next++)
        some.events[some.next - some.first] = events_[some.next % most];
    return some;
}

} // namespace init
