// SPDX-License-Identifier: BSD-2-Clause
// The scheduler's choices against a plain list of those who want to run, searched from its front each time; the timeout
// queue against a list that is searched for the soonest.
#include <algorithm>
#include <map>
#include <memory>
#include <vector>

#include "choices.hpp"
#include "core/schedule.hpp"
#include "core/timeout.hpp"

namespace {

constexpr unsigned thread_count = 24;

// Threads that can run and do not, in the order in which equals come up.
struct Model {
    std::vector<Thread*> ready;
    Thread* favourite = nullptr;
    bool yields = false, slice_over = false;
    // The taker of a donated time slice runs as if it had the donor's priority, before its own time begins to count.
    std::map<const Thread*, Word> own;  // priorities as they were set
    Thread* taker = nullptr;
    Word giver_priority = 0;
    Microseconds given = 0;

    bool queued(const Thread* t) const { return std::find(ready.begin(), ready.end(), t) != ready.end(); }
    void take(Thread* t) { std::erase(ready, t); }
    void last(Thread* t) { ready.push_back(t); }
    void front(Thread* t) { ready.insert(ready.begin(), t); }
    Thread* best() const {
        Thread* found = nullptr;
        for (Thread* t : ready)
            if (!found || priority(t) > priority(found)) found = t;
        return found;
    }
    Word priority(const Thread* t) const {
        return t == taker && giver_priority > own.at(t) ? giver_priority : own.at(t);
    }
    // Among those of another priority it is the last.
    void requeue(Thread* t) {
        if (!queued(t)) return;
        take(t);
        last(t);
    }
    void end_gift(Thread* t) {
        if (!t || taker != t) return;
        taker = nullptr;
        requeue(t);
    }
    Thread* choose(Thread* t) {
        if (t) take(t);
        return t;
    }
    Thread* next(Thread* current, bool can_run) {
        Thread* wished = favourite && queued(favourite) ? favourite : nullptr;
        auto first = [&](Thread* t) {
            Thread* top = best();
            return t && queued(t) && priority(t) >= priority(top);
        };
        bool gives_way = yields, over = slice_over;
        favourite = nullptr, yields = slice_over = false;
        if (can_run && gives_way) {
            Thread* top = best();
            last(current);
            if (!wished && top && priority(top) == priority(current)) return choose(top);
        } else if (can_run) {
            Thread* top = best();
            if (!top || priority(top) < priority(current) || (priority(top) == priority(current) && !over))
                return current;
            over ? last(current) : front(current);
            wished = nullptr;
        }
        return choose(first(wished) ? wished : best());
    }
};

struct Property {
    Choices& choices;
    int operation = 0;
    Model model;
    std::unique_ptr<Thread[]> thread{new Thread[thread_count]{}};
    std::unique_ptr<Utcb[]> utcb{new Utcb[thread_count]{}};
    Thread* current = nullptr;

    explicit Property(Choices& c) : choices(c) {
        ready_top = 0;
        for (unsigned i = 0; i < thread_count; ++i) {
            Thread& t = thread[i];
            t.utcb = &utcb[i];
            t.become(State::receiving);
            t.priority = model.own[&t] = any_priority();
            schedule::set_timeslice(t, Time{4 << 10 | 625});
        }
    }
    ~Property() {
        for (unsigned i = 0; i < thread_count; ++i) schedule::make_unready(thread[i], State::receiving);
        schedule::next(nullptr);
        expect(schedule::ready.count() == 0, "threads are left over");
    }
    void expect(bool holds, const char* what) { require(holds, what, operation); }
    Word any_priority() { return choices.one_in(2) ? 100 + choices.below(3) : choices.below(256); }
    Thread& any_thread() { return thread[choices.below(thread_count)]; }

    void wake(bool hand_over) {
        Thread& t = any_thread();
        if (&t == current) return;
        if (!t.is(State::ready)) model.end_gift(&t);
        if (!model.queued(&t)) model.last(&t);
        if (hand_over) model.favourite = &t;
        hand_over ? schedule::hand_over(t) : schedule::make_ready(t);
    }
    void block() {
        Thread& t = choices.one_in(2) || !current ? any_thread() : *current;
        if (model.favourite == &t) model.favourite = nullptr;
        model.end_gift(&t);
        model.take(&t);
        schedule::make_unready(t, State::receiving);
    }
    void change_priority() {
        Thread& t = any_thread();
        Word priority = any_priority();
        schedule::set_priority(t, priority);
        model.own[&t] = priority;
        model.requeue(&t);
    }
    void yield() {
        if (!current || !current->is(State::ready)) return;
        Thread& to = any_thread();
        Thread* named = choices.one_in(2) || &to == current ? nullptr : &to;
        model.yields = true;
        model.favourite = named && model.queued(named) ? named : nullptr;
        if (!model.favourite) {
            model.end_gift(current);
        } else {
            // of what it was given itself, the rest; and of its own what is left
            bool on = model.taker == current;
            Microseconds own = on ? current->timeslice_left - model.given : 0;
            if (!on) model.giver_priority = model.own[current];
            model.given = current->timeslice_left - own;
            if (!on) model.end_gift(model.taker);
            model.taker = named;
            model.requeue(named);
        }
        schedule::yield(*current, named);
    }
    void tick() {
        if (!current) return;
        Microseconds left = current->timeslice_left;
        schedule::tick(*current, 1000);
        if (left <= 1000) model.slice_over = true;
        if (model.taker != current) return;
        if (model.given <= 1000) model.taker = nullptr;
        else model.given -= 1000;
    }
    void next() {
        Thread* wanted = model.next(current, current && current->is(State::ready));
        Thread* found = schedule::next(current);
        expect(found == wanted, "another thread was chosen");
        current = found;
    }

    void run() {
        for (; choices.more(); ++operation) {
            switch (choices.below(8)) {
            case 0: wake(true); break;
            case 1: block(); break;
            case 2: change_priority(); break;
            case 3: yield(); break;
            case 4: tick(); break;
            case 5:
            case 6: next(); break;
            default: wake(false);
            }
            expect(schedule::ready.count() == model.ready.size(), "the queues hold others than those who want to run");
            Thread* top = model.best();
            expect(schedule::ready.front() == top && ready_top == (top ? model.priority(top) : 0),
                "the queues' best is another");
        }
    }
};

}  // namespace

void schedule_property(Choices& choices) { Property{choices}.run(); }

void timeout_property(Choices& choices) {
    constexpr unsigned thread_count = 200;  // a heap of some depth
    std::unique_ptr<Thread[]> thread{new Thread[thread_count]{}};
    std::vector<Thread*> model;  // in the order in which they began to wait
    Microseconds now = 0;
    for (int operation = 0; choices.more(); ++operation) {
        Thread& t = thread[choices.below(thread_count)];
        bool waits = std::find(model.begin(), model.end(), &t) != model.end();
        if (choices.one_in(3)) {
            timeouts::cancel(t);
            std::erase(model, &t);
        } else if (!waits && !choices.one_in(3)) {
            timeouts::start(t, now + choices.below(64));
            model.push_back(&t);
        } else {
            now += choices.below(16);
            auto soonest = std::min_element(model.begin(), model.end(),
                [](auto* a, auto* b) { return a->timeout.deadline < b->timeout.deadline; });
            Thread* wanted = soonest != model.end() && (*soonest)->timeout.deadline <= now ? *soonest : nullptr;
            require(timeouts::expired(now) == wanted, "another timeout is over", operation);
            std::erase(model, wanted);
        }
        require(timeouts::count() == model.size(), "others than those who wait have a timeout", operation);
        for (const Thread* t : model) require(timeouts::in_order(*t), "timeouts are out of order", operation);
    }
    for (Thread* t : model) timeouts::cancel(*t);
}
