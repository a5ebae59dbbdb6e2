// SPDX-License-Identifier: BSD-2-Clause
#include "core/timeout.hpp"

namespace timeouts {
namespace {

List<Thread, &Thread::timeout_link> queue;

}  // namespace

Microseconds end_of(Time timeout, Microseconds now) { return timeout.is_never() ? never : timeout.deadline(now); }

void start(Thread& t, Microseconds deadline) {
    t.deadline = deadline;
    Thread* later = queue.front();
    while (later && later->deadline <= deadline) later = queue.after(*later);
    queue.insert_before(t, later);
}

void cancel(Thread& t) {
    if (t.timeout_link.queued()) queue.remove(t);
}

Word count() {
    Word waiting = 0;
    Microseconds last = 0;
    for (const Thread* t = queue.front(); t; last = t->deadline, t = queue.after(*t), ++waiting)
        if (t->deadline < last) return ~Word{0};
    return waiting;
}

Thread* expired(Microseconds now) {
    Thread* t = queue.front();
    if (!t || t->deadline > now) return nullptr;
    queue.remove(*t);
    return t;
}

}  // namespace timeouts
