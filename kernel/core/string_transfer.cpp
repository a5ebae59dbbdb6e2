// SPDX-License-Identifier: BSD-2-Clause
#include "core/string_transfer.hpp"

#include "core/arch.hpp"
#include "core/ipc.hpp"
#include "core/mapping.hpp"
#include "core/memory.hpp"
#include "core/schedule.hpp"
#include "core/space.hpp"
#include "core/timeout.hpp"

namespace strings {
namespace {

memory::Pool pool{sizeof(Transfer)};

ItemWords source_words(const Transfer& t) { return {t.items.words, 1, t.items.count, t.items.out}; }
ItemWords buffer_words(const Transfer& t) { return {&t.receiver->utcb->acceptor(), -1, buffer_registers, nullptr}; }

// Both threads out of the transfer and of whatever they wait in.
void close(Transfer& t) {
    Thread* threads[] = {t.sender, t.receiver};
    for (Thread* thread : threads) {
        thread->transfer = nullptr;
        thread->send_role = thread->receive_role = Role::user;
        ipc::detach(*thread);
    }
    pool.free(&t);
}

void fail(Transfer& t, IpcError for_sender, IpcError for_receiver) {
    Thread &s = *t.sender, &r = *t.receiver;
    s.utcb->error_code() = ipc_error_code(for_sender, Phase::send, t.bytes);
    arch::set_ipc_result(s, ThreadId::nil(), MsgTag::error_bit);
    t.arrival.report(r, ipc_error_code(for_receiver, Phase::receive, t.bytes));
    close(t);
    schedule::make_ready(s);
    schedule::make_ready(r);
}

void succeed(Transfer& t) {
    Thread &s = *t.sender, &r = *t.receiver;
    Thread* apparent = threads::find(t.apparent);
    t.arrival.report(r);
    s.awaited = t.awaited;
    s.receive_timeout = t.receive_timeout;
    s.receive_follows = t.receive_follows;
    close(t);
    ipc::arrived(s, r, apparent);
}

// The string at t.items gets the next buffer. False if there is none.
bool open(Transfer& t) {
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

// One of the two spaces, with the page that was looked up last. That holds until somebody else runs.
struct Side {
    Space& space;
    bool write;
    VAddr page = ~VAddr{0};
    PAddr frame = 0;

    bool find(VAddr address) {
        VAddr wanted = address & ~page_mask;
        if (wanted == page) return true;
        paging::Page p = paging::get(space, wanted);
        if (!p.present && space.idempotent && mappings::materialise(space, wanted)) p = paging::get(space, wanted);
        if (!p.present || (write && !p.writable)) return false;
        paging::note_access(space, wanted, write);
        page = wanted;
        frame = p.frame;
        return true;
    }
    PAddr physical(VAddr address) const { return frame | (address & page_mask); }
};

Word least(Word a, Word b) { return a < b ? a : b; }
Word rest_of_page(VAddr address) { return page_size - (address & page_mask); }

// The time for the rest of the transfer counts from its first page fault (manual 5.6): the sender's or the receiver's,
// whichever is over sooner.
void start_clock(Transfer& t, Microseconds now) {
    Time send{static_cast<std::uint16_t>(t.sender->utcb->xfer_timeouts() >> 16)};
    Time receive{static_cast<std::uint16_t>(t.receiver->utcb->xfer_timeouts())};
    Microseconds of_sender = timeouts::end_of(send, now), of_receiver = timeouts::end_of(receive, now);
    t.deadline = of_sender < of_receiver ? of_sender : of_receiver;
    t.faulted = true;
}

// A page fault of either thread is an IPC to its pager, while the other waits. After the answer it goes on with the
// transfer.
void fault(Transfer& t, Thread& faulting, VAddr address, Word rights) {
    Microseconds now = arch::now();
    if (!t.faulted) start_clock(t, now);
    if (t.deadline <= now) return fault_unresolved(faulting);
    schedule::make_unready(&faulting == t.sender ? *t.receiver : *t.sender, State::transferring);
    ipc::page_fault(faulting, address, rights);
}

enum class Copied { string, overflow, stopped };

// Moves the string under way to its end.
Copied copy(Transfer& t) {
    Side from{*t.sender->space, false}, to{*t.receiver->space, true};
    Word since = 0;
    for (;;) {
        StringCursor::Next next = t.source.next(source_words(t), paging::user_limit());
        if (next == StringCursor::Next::end) return Copied::string;
        if (next == StringCursor::Next::bad) return Copied::overflow;
        if (t.target.next(buffer_words(t), paging::user_limit()) != StringCursor::Next::bytes) return Copied::overflow;
        VAddr source = t.source.at(), target = t.target.at();
        if (!from.find(source)) {
            fault(t, *t.sender, source, right_read);
            return Copied::stopped;
        }
        if (!to.find(target)) {
            fault(t, *t.receiver, target, right_write);
            return Copied::stopped;
        }
        Word n = least(least(t.source.left(), t.target.left()), least(rest_of_page(source), rest_of_page(target)));
        arch::copy(to.physical(target), from.physical(source), n);
        t.source.advance(n);
        t.target.advance(n);
        t.bytes += n;
        since += n;
        if (since >= page_size) {
            since = 0;
            arch::preemption_point();
        }
    }
}

}  // namespace

bool begin(Thread& s, Thread& r, Thread& apparent, const Arrival& arrival, const TypedItems& items) {
    constexpr Word accepts_strings = 1;
    if (!(r.utcb->acceptor() & accepts_strings)) return false;
    auto* t = static_cast<Transfer*>(pool.allocate());
    if (!t) return false;
    t->sender = &s;
    t->receiver = &r;
    t->arrival = arrival;
    t->apparent = apparent.id;
    t->items = items;
    t->awaited = s.awaited;
    t->receive_timeout = s.receive_timeout;
    t->receive_follows = s.receive_follows;
    t->target.begin(StringCursor::more_items, 0);       // as if BR0 were a buffer: the next one is at BR1
    if (!open(*t)) {
        pool.free(t);
        return false;
    }
    s.transfer = r.transfer = t;
    // The one that runs moves the strings; of two that wait, the sender.
    Thread& runner = arch::current_thread() == &r ? r : s;
    schedule::make_unready(&runner == &s ? r : s, State::transferring);
    schedule::make_ready(runner);
    return true;
}

void carry_on(Thread& runner) {
    Transfer& t = *runner.transfer;
    for (;;) {
        Copied copied = copy(t);
        if (copied == Copied::stopped) return;
        if (copied == Copied::overflow) break;
        t.items.show_first(t.source.index() - t.items.at);
        t.items.at = t.source.index();
        TypedItems::Next next = t.items.transfer(*t.sender, *t.receiver);
        if (next == TypedItems::Next::done) return succeed(t);
        if (next == TypedItems::Next::overflow || !open(t)) break;
        arch::preemption_point();
    }
    fail(t, IpcError::overflow, IpcError::overflow);
}

bool sends(const Thread& t) { return t.transfer->sender == &t; }

void start_timeout(Thread& t) {
    if (t.transfer->deadline != timeouts::never) timeouts::start(t, t.transfer->deadline);
}

void fault_unresolved(Thread& t) {
    if (sends(t))
        fail(*t.transfer, IpcError::xfer_timeout_mine, IpcError::xfer_timeout_partners);
    else
        fail(*t.transfer, IpcError::xfer_timeout_partners, IpcError::xfer_timeout_mine);
}

void abort(Thread& t) { fail(*t.transfer, IpcError::aborted, IpcError::aborted); }

}  // namespace strings
