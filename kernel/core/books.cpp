// SPDX-License-Identifier: BSD-2-Clause
#include "core/books.hpp"

#include "core/arch.hpp"
#include "core/mapping.hpp"
#include "core/memory.hpp"
#include "core/print.hpp"
#include "core/schedule.hpp"
#include "core/space.hpp"
#include "core/timeout.hpp"

namespace books {
namespace {

constexpr Word most_printed = 8;

struct Walk {
    Word faults = 0, threads = 0, queued = 0, timed = 0, members = 0, mappings = 0, charged = memory::kernel.used;

    void expect(bool good, const char* what, Word which) {
        if (good) return;
        if (++faults <= most_printed) print("books: ", what, " (", hex(which), ")\n");
    }
    void thread(const Thread& t, Word number);
    void senders(const Thread& t);
    void space(Space& s);
};

void Walk::senders(const Thread& t) {
    for (const Thread* s = t.senders.front(); s; s = t.senders.after(*s)) {
        expect(s->partner == &t && s->is(State::sending), "a sender is queued where it does not send to", s->id.raw);
        expect(arch::thread_at(s->id.number()).id == s->id, "a sender is queued that does not exist", s->id.raw);
    }
    expect(!(t.fast_veto & veto_senders) == t.senders.empty(), "the fast path is wrong about senders", t.id.raw);
}

void Walk::thread(const Thread& t, Word number) {
    threads += 1;
    queued += t.ready_link.queued();
    timed += t.timeout.queued();
    expect(t.id.number() == number, "a thread has another's number", t.id.raw);
    bool has_place = t.ready_link.queued() || &t == arch::current_thread();
    expect(!t.ready_link.queued() || schedule::can_run(t), "a queued thread cannot run", t.id.raw);
    expect(has_place || !schedule::can_run(t), "a ready thread is in no queue", t.id.raw);
    bool waits = t.is(State::sending) || t.is(State::receiving);
    expect(!t.timeout.queued() || waits, "a thread has a timeout and does not wait", t.id.raw);
    expect(!t.timeout.queued() || timeouts::in_order(t), "the timeouts are in no order", t.id.raw);
    expect(t.sender_link.queued() == (t.is(State::sending)), "a sender is in no queue, or no sender in one", t.id.raw);
    expect(!(t.fast_veto & veto_redirected) == !t.space->redirected(), "the fast path is wrong about redirection",
        t.id.raw);
    if (t.active() && !t.is_interrupt())
        expect(t.utcb && spaces::valid_utcb(*t.space, t.utcb_address), "an active thread has no UTCB", t.id.raw);
    senders(t);
}

void Walk::space(Space& s) {
    charged += s.account.used;
    for (const Thread* t = s.members.front(); t; t = s.members.after(*t)) {
        members += 1;
        expect(t->space == &s, "a thread is among those of another space", t->id.raw);
    }
    Word count = 0;
    expect(mappings::consistent(s, count), "the mappings of a space do not agree", reinterpret_cast<Word>(&s));
    mappings += count;
    if (const char* what = arch::disagreement(s)) expect(false, what, reinterpret_cast<Word>(&s));
}

}  // namespace

Audit audit() {
    Walk walk;
    for (Word number = 0; number < arch::thread_numbers; ++number)
        if (const Thread& t = arch::thread_at(number); &t != &arch::nobody()) walk.thread(t, number);
    for (Space* s = spaces::all.front(); s; s = spaces::all.after(*s)) walk.space(*s);
    if (const Space* s = spaces::leaving()) walk.charged += s->account.used;
    walk.expect(walk.charged == memory::bytes_charged(), "the accounts' sum is not what is in use", walk.charged);
    walk.expect(walk.members == walk.threads, "threads are not in the spaces that they should be in", walk.members);
    walk.expect(schedule::ready.count() == walk.queued, "the ready queues hold others than the ready threads",
        walk.queued);
    walk.expect(timeouts::count() == walk.timed, "others than those who wait have a timeout", walk.timed);
    Word threads = threads::in_use(), mappings = mappings::in_use();
    walk.expect(threads == walk.threads, "threads were lost", threads);
    walk.expect(mappings == walk.mappings, "mappings were lost", mappings);
    return {walk.faults, memory::pages_in_use(), threads + mappings, memory::pages_unused()};
}

}  // namespace books
