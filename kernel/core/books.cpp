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
        expect(s->partner == &t && s->is(State::sending), "a sender is in the wrong queue", s->id.raw);
        expect(arch::thread_at(s->id.number()).id == s->id, "a queued sender does not exist", s->id.raw);
    }
    expect(!(t.fast_veto & veto_senders) == t.senders.empty(), "the veto for senders is wrong", t.id.raw);
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
    expect(!t.timeout.queued() || waits, "a timeout outlives its wait", t.id.raw);
    expect(!t.timeout.queued() || timeouts::in_order(t), "timeouts are out of order", t.id.raw);
    expect(t.sender_link.queued() == (t.is(State::sending)), "state and sender queue disagree", t.id.raw);
    expect(!(t.fast_veto & veto_redirected) == !t.space->redirected(), "the veto for redirection is wrong", t.id.raw);
    if (t.active() && !t.is_interrupt())
        expect(t.utcb && spaces::valid_utcb(*t.space, t.utcb_address), "an active thread has no UTCB", t.id.raw);
    senders(t);
}

void Walk::space(Space& s) {
    charged += s.account.used;
    for (const Thread* t = s.members.front(); t; t = s.members.after(*t)) {
        members += 1;
        expect(t->space == &s, "a member has another space", t->id.raw);
    }
    Word count = 0;
    expect(mappings::consistent(s, count), "a space's mappings are wrong", reinterpret_cast<Word>(&s));
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
    walk.expect(walk.charged == memory::bytes_charged(), "the accounts' sum is wrong", walk.charged);
    walk.expect(walk.members == walk.threads, "threads are not in their spaces", walk.members);
    walk.expect(schedule::ready.count() == walk.queued, "the ready queues are wrong", walk.queued);
    walk.expect(timeouts::count() == walk.timed, "the timeouts are wrong", walk.timed);
    Word threads = threads::in_use(), mappings = mappings::in_use();
    walk.expect(threads == walk.threads, "threads were lost", threads);
    walk.expect(mappings == walk.mappings, "mappings were lost", mappings);
    return {walk.faults, memory::pages_in_use(), threads + mappings, memory::pages_unused()};
}

}  // namespace books
