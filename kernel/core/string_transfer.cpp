// SPDX-License-Identifier: BSD-2-Clause
#include "core/string_transfer.hpp"

#include "core/arch.hpp"
#include "core/check.hpp"
#include "core/ipc.hpp"
#include "core/mapping.hpp"
#include "core/memory.hpp"
#include "core/schedule.hpp"
#include "core/space.hpp"
#include "core/timeout.hpp"
#include "core/trace.hpp"

namespace strings {
namespace {

memory::Pool pool{sizeof(Transfer)};

ItemWords source_words(const Transfer& t) { return {t.items.words, 1, t.items.count, t.items.out}; }
ItemWords buffer_words(const Transfer& t) { return {&t.receiver->utcb->acceptor(), -1, buffer_registers, nullptr}; }

// Takes both threads out of the transfer and of the queues that they wait in.
void close(Transfer& t) {
    check(t.sender->transfer == &t && t.receiver->transfer == &t);
    t.sender->transfer = nullptr;
    t.receiver->transfer = t.outer;
    Thread* threads[] = {t.sender, t.receiver};
    for (Thread* thread : threads) {
        thread->send_role = thread->receive_role = Role::user;
        ipc::detach(*thread);
    }
    t.receiver->receive_role = t.role;
    pool.free(&t, t.sender->space->account);
}

[[gnu::cold]] void fail(Transfer& t, IpcError for_sender, IpcError for_receiver) {
    Thread &s = *t.sender, &r = *t.receiver;
    Thread* threads[] = {t.sender, t.receiver};
    for (Thread* thread : threads)
        while (thread->transfer != &t) fail(*thread->transfer, IpcError::aborted, IpcError::aborted);
    s.utcb->error_code() = ipc_error_code(for_sender, Phase::send, t.bytes);
    trace::event(trace::Event::ipc_failed, s.id, s.utcb->error_code(), static_cast<Word>(Role::user), r.id.raw);
    arch::set_ipc_result(s, ThreadId::nil(), MsgTag::error_bit);
    bool to_user = t.role == Role::user;
    if (to_user) t.arrival.report(r, ipc_error_code(for_receiver, Phase::receive, t.bytes));
    close(t);
    schedule::make_ready(s);
    to_user ? schedule::make_ready(r) : ipc::wait_on(r);
}

void succeed(Transfer& t) {
    Thread &s = *t.sender, &r = *t.receiver;
    Thread* apparent = threads::find(t.apparent);
    if (t.role == Role::user) t.arrival.report(r);
    if (t.role == Role::exception) arch::exception_reply(r, s.utcb->mr + 1, MsgTag{s.utcb->mr[0]}.untyped());
    s.awaited = t.awaited;
    s.receive_timeout = t.receive_timeout;
    s.receive_follows = t.receive_follows;
    close(t);
    ipc::arrived(s, r, apparent);
}

// Opens the next buffer for the string at t.items. False if there is none.
bool open(Transfer& t) {
    constexpr Word accepts_strings = 1;
    if (t.role != Role::user || !(t.receiver->utcb->acceptor() & accepts_strings)) return false;
    ItemWords buffers = buffer_words(t);
    if (!t.target.more() || !t.target.finish(buffers) || t.target.index() == buffers.count) return false;
    Word at = t.target.index();
    Word first = buffers.read(at);
    if (!StringCursor::is_string(first)) return false;
    t.target.begin(first, at + 1);
    t.source.begin(t.items.first, t.items.at + 1);
    t.items.show_first(t.items.count);
    return true;
}

Word least(Word a, Word b) { return a < b ? a : b; }

// Sets the deadline, which counts from the first page fault (manual 5.6): by the sender's or the receiver's transfer
// timeout, whichever ends sooner.
[[gnu::cold]] void start_clock(Transfer& t, Microseconds now) {
    Time send{static_cast<std::uint16_t>(t.sender->utcb->xfer_timeouts() >> 16)};
    Time receive{static_cast<std::uint16_t>(t.receiver->utcb->xfer_timeouts())};
    Microseconds of_sender = timeouts::end_of(send, now), of_receiver = timeouts::end_of(receive, now);
    t.deadline = of_sender < of_receiver ? of_sender : of_receiver;
    t.faulted = true;
}

// A page fault of either thread is an IPC to its pager, while the other waits. After the answer the faulting thread
// continues the transfer. True if no pager is needed.
[[gnu::cold]] bool fault(Transfer& t, Thread& faulting, VAddr address, bool write) {
    check(address < paging::user_limit() && faulting.transfer == &t);
    Space& space = *faulting.space;
    VAddr page = address & ~page_mask;
    if (space.idempotent && !paging::get(space, page).present && mappings::materialise(space, page)) return true;
    Thread& other = &faulting == t.sender ? *t.receiver : *t.sender;
    Microseconds now = arch::now();
    if (!t.faulted) start_clock(t, now);
    // The pager of a controlled thread is its redirector: if that waits for this string, it cannot answer.
    if (t.deadline <= now || space.controlled_by(other)) {
        fault_unresolved(faulting);
        return false;
    }
    schedule::make_unready(other, State::transferring);
    ipc::page_fault(faulting, address, write ? right_write : right_read);
    return false;
}

enum class Copied { string, overflow, stopped };

// A translation of one page of one of the two spaces, valid until another thread runs.
struct Page {
    VAddr page = ~page_mask;
    Word distance = 0;

    // Whether `address` is accessible, by this translation or the one that replaces it.
    template <bool write> bool reach(Space& space, VAddr address) {
        if ((address ^ page) < page_size) return true;
        PAddr found = paging::access<write>(space, address);
        if (found == paging::no_frame) return false;
        page = address & ~page_mask;
        distance = found - page;
        if constexpr (paging::access_takes_long) arch::preemption_point();
        return true;
    }
};

// Copies the rest of the string.
Copied copy(Transfer& t) {
    using Next = StringCursor::Next;
    Space &from = *t.sender->space, &to = *t.receiver->space;
    Page source_page, target_page;
    for (;;) {
        if (!t.source.left()) {
            Next next = t.source.next(source_words(t), paging::user_limit());
            if (next != Next::bytes) return next == Next::end ? Copied::string : Copied::overflow;
        }
        if (!t.target.left() && t.target.next(buffer_words(t), paging::user_limit()) != Next::bytes)
            return Copied::overflow;
        VAddr source = t.source.at(), target = t.target.at();
        if (!source_page.reach<false>(from, source)) {
            if (fault(t, *t.sender, source, false)) continue;
            return Copied::stopped;
        }
        if (!target_page.reach<true>(to, target)) {
            if (fault(t, *t.receiver, target, true)) continue;
            return Copied::stopped;
        }
        Word in_source = source & page_mask, in_target = target & page_mask;
        Word n = least(least(t.source.left(), t.target.left()),
            page_size - (in_source >= in_target ? in_source : in_target));
        check(n && in_source + n <= page_size && in_target + n <= page_size);
        check(source + n <= paging::user_limit() && target + n <= paging::user_limit());
        arch::about_to_copy(from, source, n);
        arch::about_to_copy(to, target, n);
        arch::copy(target + target_page.distance, source + source_page.distance, n);
        t.source.advance(n);
        t.target.advance(n);
        t.bytes += n;
        arch::preemption_point();       // every 4 KB at least
    }
}

}  // namespace

bool begin(Thread& s, Thread& r, Thread& apparent, const Arrival& arrival, const TypedItems& items,
    TypedItems::Next next) {
    if (next != TypedItems::Next::string && next != TypedItems::Next::more) return false;
    check(&s != &r && !s.transfer && s.send_role == Role::user);
    // All other roles have no receive window, and only users have buffers (open): no transfer begins in those roles.
    check(next == TypedItems::Next::string || r.receive_role == Role::user || r.receive_role == Role::page_fault ||
          r.receive_role == Role::port_fault || r.receive_role == Role::exception);
    auto* t = static_cast<Transfer*>(pool.allocate(s.space->account));
    if (!t) return false;
    t->sender = &s;
    t->receiver = &r;
    t->arrival = arrival;
    t->apparent = apparent.id;
    t->items = items;
    t->next = next;
    t->role = r.receive_role;
    t->outer = r.transfer;
    t->awaited = s.awaited;
    t->receive_timeout = s.receive_timeout;
    t->receive_follows = s.receive_follows;
    t->target.begin(StringCursor::more_items, 0);       // as if BR0 were a buffer: the next one is at BR1
    if (next == TypedItems::Next::string && !open(*t)) {
        pool.free(t, s.space->account);
        return false;
    }
    s.transfer = r.transfer = t;
    // The running thread of the two moves the strings; if neither runs, the sender.
    Thread* running = arch::current_thread();
    schedule::make_unready(running == &r ? s : r, State::transferring);
    if (running == &s || running == &r) running->become(State::ready);
    else schedule::make_ready(s);
    return true;
}

void resume(Thread& runner) {
    Transfer& t = *runner.transfer;
    check(&runner == t.sender || &runner == t.receiver);
    check(runner.is(State::ready) && &runner == arch::current_thread());
    for (;;) {
        arch::preemption_point();       // also before the first part: the system call has moved some items
        if (t.next == TypedItems::Next::string) {
            Copied copied = copy(t);
            if (copied == Copied::stopped) return;
            if (copied == Copied::overflow) break;
            t.items.show_first(t.source.index() - t.items.at);
            t.items.at = t.source.index();
        }
        Word budget = mappings::between_points;
        t.next = t.items.transfer(*t.sender, *t.receiver, budget);
        if (t.next == TypedItems::Next::done) return succeed(t);
        if (t.next == TypedItems::Next::overflow || (t.next == TypedItems::Next::string && !open(t))) break;
    }
    fail(t, IpcError::overflow, IpcError::overflow);
}

namespace {

// The transfer that a thread takes part in by its own IPC, not by the answer to a page fault in it.
Transfer& own(const Thread& t) {
    Transfer* own = t.transfer;
    while (own->receiver == &t && own->outer) own = own->outer;
    return *own;
}

}  // namespace

bool sends(const Thread& t) { return own(t).sender == &t; }

[[gnu::cold]] void start_timeout(Thread& t) {
    if (t.transfer->deadline != timeouts::never) timeouts::start(t, t.transfer->deadline);
}

[[gnu::cold]] void fault_unresolved(Thread& t) {
    if (sends(t)) fail(*t.transfer, IpcError::xfer_timeout_mine, IpcError::xfer_timeout_partners);
    else fail(*t.transfer, IpcError::xfer_timeout_partners, IpcError::xfer_timeout_mine);
}

[[gnu::cold]] void abort(Thread& t) { fail(own(t), IpcError::aborted, IpcError::aborted); }

}  // namespace strings
