// SPDX-License-Identifier: BSD-2-Clause
// Spaces that their redirector controls (docs/controlled-spaces.md): all registers of their threads, and what is mapped
// there; by no other thread, and for no other space.
#include <cobnut/control.h>

#include "forest.h"
#include "harness.h"
#include "machine.h"

namespace x2test {
namespace {

using cobnut::AllRegisters, cobnut::control_thread;

constexpr Word nothing = ~0u;
constexpr Word stop_and_read = cobnut::control_halt | cobnut::control_read;
constexpr Word set_and_go = cobnut::control_resume | cobnut::control_write;

/// An agent in a space that `controller` controls, and which is this thread's redirector. Null after fail().
Agent *controlled_by(L4_ThreadId_t controller, Kind kind = Kind::other)
{
    Agent *a = agent(kind);
    if (!a) return nullptr;
    if (redirect(a, controller) && cobnut::set_controlled(a->id, true)) return a;
    fail("no control: error %u", L4_ErrorCode());
    return nullptr;
}

constinit volatile Word counter = 0;
Word do_count(Word, Word, Word)
{
    for (;;) counter = counter + 1;
}

Word &instruction(AllRegisters &r)
{
#ifdef __arm__
    return r.pc;
#else
    return r.eip;
#endif
}

/// Other values than `r` has, but at `ip`, and with the flags as they are.
AllRegisters other_values(const AllRegisters &r, const void *ip)
{
    AllRegisters other = r;
    Word *words = reinterpret_cast<Word *>(&other);
    for (Word i = 0; i < AllRegisters::words; i++) words[i] = 0xC0DE0000 + i * 4;
#ifdef __arm__
    other.cpsr = r.cpsr;
#else
    other.eflags = r.eflags;
    other.zero[0] = other.zero[1] = 0;
#endif
    instruction(other) = reinterpret_cast<Word>(ip);
    return other;
}

bool equal(const AllRegisters &a, const AllRegisters &b)
{
    const Word *x = reinterpret_cast<const Word *>(&a), *y = reinterpret_cast<const Word *>(&b);
    for (Word i = 0; i < AllRegisters::words; i++)
        if (x[i] != y[i]) return fail("word %u is %x, not %x", i, x[i], y[i]), false;
    return true;
}

/// A thread that counts is stopped, does something else with other values in all registers, and counts on with its own.
void all_registers()
{
    constexpr Kind kinds[] = {Kind::large, Kind::small};
    for (const Kind kind : kinds) {
        Agent *a = controlled_by(main_id, kind);
        if (!a) return;
        begin(a, do_count);
        pause(2000);
        AllRegisters own, seen;
        CHECK_EQUAL(control_thread(a->id, stop_and_read, nullptr, &own), 0);
        const Word counted = counter;
        CHECK(counted);
        const AllRegisters other = other_values(own, x2test_spin);
        CHECK_EQUAL(control_thread(a->id, set_and_go, &other), 1);
        pause(2000);
        CHECK_EQUAL(control_thread(a->id, stop_and_read | cobnut::control_write, &own, &seen), 0);
        CHECK(equal(seen, other));
        CHECK_EQUAL(counter, counted);
        CHECK_EQUAL(control_thread(a->id, cobnut::control_resume), 1);
        pause(2000);
        CHECK(counter != counted);
        remove(a);
    }
}

/// Flags that no user may have do not come in by that.
void no_privileged_flags()
{
    Agent *a = controlled_by(main_id);
    if (!a) return;
    begin(a, do_count);
    pause(1000);
    AllRegisters own, bad, seen;
    CHECK_EQUAL(control_thread(a->id, stop_and_read, nullptr, &own), 0);
    bad = own;
#ifdef __arm__
    bad.cpsr |= machine::harmful_flags;
#else
    bad.eflags |= machine::harmful_flags;
#endif
    CHECK_EQUAL(control_thread(a->id, cobnut::control_write, &bad), 1);
    CHECK_EQUAL(control_thread(a->id, cobnut::control_read, nullptr, &seen), 1);
    CHECK(equal(seen, own));
}

void stops_at_once()
{
    Agent *a = controlled_by(main_id);
    if (!a) return;
    begin(a, do_count);
    for (int round = 0; round < 20; round++) {
        pause(1000);
        CHECK_EQUAL(control_thread(a->id, cobnut::control_halt), 0);
        const Word counted = counter;
        pause(1000);
        CHECK_EQUAL(counter, counted);
        CHECK_EQUAL(control_thread(a->id, cobnut::control_resume), 1);
    }
}

Word do_wait(Word, Word, Word)
{
    L4_ThreadId_t from;
    L4_Wait(&from);
    return L4_ErrorCode();
}
/// In a wait of its own a thread comes back with "canceled", or goes on elsewhere.
void in_an_ipc()
{
    Agent *a = controlled_by(main_id);
    if (!a) return;
    begin(a, do_wait);
    pause(1000);
    CHECK_EQUAL(control_thread(a->id, cobnut::control_cancel), 2);
    CHECK_EQUAL(finish(a).value, 7);
    begin(a, do_wait);
    pause(1000);
    AllRegisters r, seen;
    CHECK_EQUAL(control_thread(a->id, stop_and_read, nullptr, &r), 2);
    const AllRegisters other = other_values(r, x2test_spin);
    CHECK_EQUAL(control_thread(a->id, set_and_go | cobnut::control_cancel, &other), 3);
    pause(1000);
    CHECK_EQUAL(control_thread(a->id, stop_and_read, nullptr, &seen), 0);
    CHECK_EQUAL(instruction(seen), reinterpret_cast<Word>(x2test_spin));
}

/// In a page fault that is not answered, all registers are those at the fault; without the wait it goes on where it is
/// told.
void in_a_fault()
{
    Agent *a = controlled_by(main_id);
    if (!a) return;
    begin(a, x2test_read_at, free_area);
    const L4_MsgTag_t tag = L4_Receive_Timeout(a->id, second);
    CHECK(L4_IpcSucceeded(tag) && L4_Label(tag) >> 4 == 0xFFE);
    AllRegisters r;
    CHECK_EQUAL(control_thread(a->id, stop_and_read, nullptr, &r), 2);
    CHECK_EQUAL(instruction(r), reinterpret_cast<Word>(x2test_read_ip));
    instruction(r) = reinterpret_cast<Word>(x2test_spin);
    CHECK_EQUAL(control_thread(a->id, set_and_go | cobnut::control_cancel, &r), 3);
    pause(1000);
    CHECK_EQUAL(control_thread(a->id, stop_and_read, nullptr, &r), 0);
    CHECK_EQUAL(instruction(r), reinterpret_cast<Word>(x2test_spin));
}

/// ErrorCode of what it tries with a thread of another space.
Word do_control(Word thread, Word, Word)
{
    AllRegisters r;
    const L4_ThreadId_t id = {.raw = thread};
    if (control_thread(id, cobnut::control_read, nullptr, &r) != nothing) return 0;
    const Word error = L4_ErrorCode();
    if (cobnut::unmap_in(id, 0x40) != L4_ErrInvalidSpace) return 0;
    return error;
}
Word do_set_controlled(Word thread, Word, Word)
{
    return cobnut::set_controlled(L4_ThreadId_t{.raw = thread}, true) ? 0 : L4_ErrorCode();
}

/// Only the redirector itself, only where its space's creator said so, and only as long as it is that.
void by_nobody_else()
{
    Agent *controller = agent(Kind::other), *beside = controller ? agent_beside(controller) : nullptr;
    Agent *a = beside ? controlled_by(main_id) : nullptr;
    if (!a) return;
    CHECK(cobnut::is_controlled(a->id) && !cobnut::is_controlled(controller->id));
    CHECK_EQUAL(ask(a, do_control, controller->id.raw).value, L4_ErrInvalidThread);
    CHECK_EQUAL(ask(a, do_set_controlled, a->id.raw).value, L4_ErrNoPrivilege);
    CHECK_EQUAL(ask(controller, do_control, a->id.raw).value, L4_ErrInvalidThread);
    CHECK(redirect(a, controller->id));
    CHECK_EQUAL(ask(controller, do_control, a->id.raw).value, 0);
    CHECK_EQUAL(ask(beside, do_control, a->id.raw).value, L4_ErrInvalidThread);
    CHECK_EQUAL(ask(controller, do_control, main_id.raw).value, L4_ErrInvalidThread);
    CHECK_EQUAL(ask(controller, do_control, L4_GlobalId(L4_ThreadNo(a->id), L4_Version(a->id) + 2).raw).value,
                L4_ErrInvalidThread);
    AllRegisters r;
    CHECK_EQUAL(control_thread(a->id, cobnut::control_read, nullptr, &r), nothing); // the creator, either
    CHECK(cobnut::set_controlled(a->id, false) && !cobnut::is_controlled(a->id));
    CHECK_EQUAL(ask(controller, do_control, a->id.raw).value, L4_ErrInvalidThread);
    CHECK(cobnut::set_controlled(a->id, true));
    CHECK(redirect(a, beside->id));
    CHECK_EQUAL(ask(controller, do_control, a->id.raw).value, L4_ErrInvalidThread);
    CHECK_EQUAL(ask(beside, do_control, a->id.raw).value, 0);
    CHECK(redirect(a, L4_anythread));
    CHECK_EQUAL(ask(beside, do_control, a->id.raw).value, L4_ErrInvalidThread);
}

/// A new thread's exception handler is the redirector: its first exception comes there.
void handler_of_new_threads()
{
    for (int on = 0; on < 2; on++) {
        Agent *mate = controlled_by(main_id);
        if (!mate) return;
        ask(mate, do_read, reinterpret_cast<Word>(x2test_undefined_at)); // the page is there
        CHECK(cobnut::set_controlled(mate->id, on));
        Agent *later = create(mate->id, Kind::other);
        if (!later) return;
        L4_Set_MsgTag(L4_MsgTag_t{.raw = 2});
        L4_LoadMR(1, reinterpret_cast<Word>(x2test_undefined_at));
        L4_LoadMR(2, stack_of(later));
        CHECK(L4_IpcSucceeded(L4_Send_Timeout(later->id, second)));
        const L4_MsgTag_t tag = L4_Receive_Timeout(later->id, short_time);
        CHECK_EQUAL(L4_IpcSucceeded(tag), on);
        if (on) {
            Word mr[2];
            L4_StoreMRs(0, 2, mr);
            CHECK_EQUAL(tag.raw >> 20, 0xFFB);
            CHECK_EQUAL(mr[1], reinterpret_cast<Word>(x2test_undefined_at));
        }
        remove(later), remove(mate);
    }
}

/// A page goes from one space, with what that has passed on; others keep theirs, and so does the mapper.
void unmap_in_one()
{
    Agent *a = controlled_by(main_id), *b = controlled_by(main_id), *child = agent(Kind::other);
    if (!a || !b || !child) return;
    mark_arena(0xA0);
    give_page(a, 0, free_area, L4_FullyAccessible), give_page(b, 0, free_area, L4_FullyAccessible);
    CHECK(redirect(a, L4_anythread)); // for what it passes on
    CHECK(pass(a, child, page_at(free_area, L4_FullyAccessible), 0, L4_FpageLog2(free_area, 12)));
    CHECK(redirect(a, main_id));
    CHECK_EQUAL(ask(a, do_write, free_area, 0xA1).faults, 0);
    CHECK_EQUAL(cobnut::flush_in(a->id, page_at(free_area, 0)).raw & 7, L4_FullyAccessible); // written and read
    CHECK_EQUAL(cobnut::flush_in(a->id, page_at(free_area, 0)).raw & 7, 0);
    cobnut::flush_in(a->id, page_at(free_area, L4_Writable));
    CHECK_EQUAL(seen(a, free_area), 0xA1);
    CHECK_EQUAL(seen(child, free_area), 0xA1);
    L4_LoadMR(0, page_at(free_area, L4_FullyAccessible).raw);
    CHECK_EQUAL(cobnut::unmap_in(a->id, 0), 0); // not from the space itself
    CHECK_EQUAL(seen(a, free_area), 0xA1);
    CHECK(faults_on_read(child, free_area));
    CHECK(faults_on_write(a, free_area));
    give_page(a, 0, free_area, L4_FullyAccessible);
    cobnut::flush_in(a->id, page_at(free_area, L4_FullyAccessible));
    CHECK(faults_on_read(a, free_area));
    CHECK(!faults_on_write(b, free_area));
    CHECK_EQUAL(arena_word(0), 0x5A5A5A5A);
}

/// What is not the caller's to control keeps what it has, also when it was once.
void unmap_is_refused()
{
    Agent *a = controlled_by(main_id);
    if (!a) return;
    mark_arena(0xB0);
    give_page(a, 0, free_area, L4_FullyAccessible);
    const L4_ThreadId_t others[] = {
        L4_nilthread, L4_anythread, unused_id(), main_id, L4_GlobalId(L4_ThreadNo(a->id), L4_Version(a->id) + 2),
        a->local};
    const Word fpage = page_at(free_area, L4_FullyAccessible).raw;
    for (const L4_ThreadId_t other : others) {
        L4_LoadMR(0, fpage);
        CHECK_EQUAL(cobnut::unmap_in(other, 0x40), L4_ErrInvalidSpace);
        Word now;
        L4_StoreMR(0, &now);
        CHECK_EQUAL(now, fpage);
    }
    CHECK(cobnut::set_controlled(a->id, false));
    L4_LoadMR(0, fpage);
    CHECK_EQUAL(cobnut::unmap_in(a->id, 0x40), L4_ErrInvalidSpace);
    CHECK_EQUAL(seen(a, free_area), 0xB0);
    CHECK_EQUAL(arena_word(0), 0xB0);
}

/// Takes writing from all that came of a thread's pages, until that is refused. How often it was not.
Word do_unmap_in(Word thread, Word, Word)
{
    for (Word times = 0;; times++) {
        L4_LoadMR(0, region(first_log2, L4_Writable).raw);
        if (cobnut::unmap_in(L4_ThreadId_t{.raw = thread}, 0) == L4_ErrInvalidSpace) return times;
    }
}
/// While that goes on the space ends, or its control, or its redirector's part in it.
void ends_meanwhile()
{
    for (int what = 0; what < 3; what++) {
        Agent *controller = agent(Kind::other);
        Forest forest;
        if (!controller || !forest.complete()) return;
        const L4_ThreadId_t top = forest.root->id;
        CHECK(redirect(forest.root, controller->id) && cobnut::set_controlled(top, true));
        begin(controller, do_unmap_in, top.raw);
        pause(1500);
        switch (what) {
        case 0: remove(forest.root); break;
        case 1: CHECK(cobnut::set_controlled(top, false)); break;
        case 2: CHECK(redirect(forest.root, L4_anythread)); break;
        }
        CHECK(finish(controller).done);
        remove(controller);
        if (what) remove(forest.root);
        remove(forest.left), remove(forest.right);
    }
}

Word do_unmap_once(Word thread, Word, Word)
{
    L4_LoadMR(0, region(first_log2, L4_Writable).raw);
    return cobnut::unmap_in(L4_ThreadId_t{.raw = thread}, 0x40);
}
/// An Unmap goes on in no other space that the caller controls as well, where the named thread is now.
void thread_leaves_meanwhile()
{
    Agent *controller = agent(Kind::other), *to = agent(Kind::large);
    Forest forest;
    if (!controller || !to || !forest.complete()) return;
    constexpr Word last = base + (1u << first_log2) - page_size;
    give_page(to, 0, last, L4_FullyAccessible);
    const Agent *both[] = {to, forest.root};
    for (const Agent *a : both) CHECK(redirect(a, controller->id) && cobnut::set_controlled(a->id, true));
    begin(controller, do_unmap_once, forest.root->id.raw);
    pause(1500);
    CHECK(L4_ThreadControl(forest.root->id, to->id, L4_nilthread, L4_nilthread, reinterpret_cast<void *>(-1)));
    CHECK_EQUAL(finish(controller).value, 0);
    CHECK(redirect(to, L4_anythread));
    CHECK(!faults_on_write(to, last));
}

/// The message of an exception, and how long it is.
struct Exception {
    Word mr[64], words;
};
#ifdef __arm__
constexpr int sp_word = 2;
#else
constexpr int sp_word = 8;
#endif
/// A controlled agent in one. Null after fail().
Agent *with_an_exception(Exception &e)
{
    constexpr Word label = 0xFFB;
    Agent *a = controlled_by(main_id);
    if (!a) return nullptr;
    const Word code = reinterpret_cast<Word>(x2test_undefined_at);
    ask(a, do_read, code); // the page is there
    begin(a, reinterpret_cast<Function>(code));
    const L4_MsgTag_t tag = L4_Receive_Timeout(a->id, second);
    e.words = L4_UntypedWords(tag);
    L4_StoreMRs(0, static_cast<int>(e.words) + 1, e.mr);
    if (L4_IpcSucceeded(tag) && tag.raw >> 20 == label) return a;
    fail("no exception");
    return nullptr;
}
/// Answers with as many typed words as stand behind the others: the agent is to spin. True if that went well.
bool answer_with(const Agent *a, Exception &e, Word typed)
{
    e.mr[0] = typed << 6 | e.words;
    e.mr[1] = reinterpret_cast<Word>(x2test_spin), e.mr[sp_word] = 0x0C0FFEE0;
    L4_LoadMRs(0, static_cast<int>(1 + e.words + typed), e.mr);
    return L4_IpcSucceeded(L4_Send_Timeout(a->id, second));
}
/// Whether it spins, with the registers of that answer.
bool spins(const Agent *a)
{
    pause(1000);
    AllRegisters r;
    if (control_thread(a->id, stop_and_read, nullptr, &r) != 0) return false;
#ifdef __arm__
    const Word sp = r.sp;
#else
    const Word sp = r.esp;
#endif
    return instruction(r) == reinterpret_cast<Word>(x2test_spin) && sp == 0x0C0FFEE0;
}
/// The arena, page by page, which is more than one part. Typed words.
Word put_arena(Exception &e)
{
    Word *item = e.mr + 1 + e.words;
    for (Word n = 0; n < arena_pages; n++, item += 2) {
        const L4_MapItem_t map = L4_MapItem(page_at(arena_page(n), L4_Readable), free_area + n * page_size);
        item[0] = map.raw[0], item[1] = map.raw[1];
    }
    return 2 * arena_pages;
}

/// An answer of many pages comes in parts; the registers hold when all are there.
void answer_in_parts()
{
    Exception e;
    Agent *a = with_an_exception(e), *beside = a ? agent_beside(a) : nullptr;
    if (!beside) return;
    mark_arena(0xC0);
    CHECK(answer_with(a, e, put_arena(e)));
    CHECK(spins(a));
    for (Word n = 0; n < arena_pages; n++) CHECK_EQUAL(seen(beside, free_area + n * page_size), 0xC0 + n);
}

/// One that cannot be taken as a whole is none: its sender is told, and the thread waits for another as it was.
void answer_that_fails()
{
    constexpr Word no_type = 0xE, a_string = 4 << 10, bad[] = {no_type, a_string}, overflow = 4 << 1;
    for (const Word last : bad)
        for (int in_parts = 0; in_parts < 2; in_parts++) {
            Exception e;
            Agent *a = with_an_exception(e);
            if (!a) return;
            const Word before = in_parts ? put_arena(e) : 0;
            e.mr[1 + e.words + before] = last, e.mr[2 + e.words + before] = arena_page(0);
            CHECK(!answer_with(a, e, before + 2));
            CHECK_EQUAL(L4_ErrorCode() & 0xF, overflow);
            CHECK(!L4_IpcSucceeded(L4_Receive_Timeout(a->id, short_time)));
            AllRegisters r;
            CHECK_EQUAL(control_thread(a->id, cobnut::control_read, nullptr, &r), 2);
            CHECK_EQUAL(instruction(r), reinterpret_cast<Word>(x2test_undefined_at));
            CHECK(answer_with(a, e, 0));
            CHECK(spins(a));
            remove(a);
        }
}

/// Somewhere for a thread to go on: where it spins or reads, where nothing is, in the kernel, at its calls.
Word wild_place(Random &random)
{
    const Word places[] = {reinterpret_cast<Word>(x2test_spin),
                           reinterpret_cast<Word>(x2test_read_at),
                           reinterpret_cast<Word>(x2test_undefined_at),
                           free_area + random.below(1u << 20),
                           machine::kernel_area + random.below(1u << 28),
                           machine::kernel_address,
                           random.next() | 0xFFFFFF00,
                           beyond_small + random.below(1u << 28)};
#ifdef __arm__
    constexpr Word calls = 0xFFFFFF00, number_of_calls = 11; // and no text for the console
    if (random.below(2)) return calls + random.below(number_of_calls) * 4 + random.below(2);
    const Word at = places[random.below(8)];
    return at >= calls ? calls - 4 : at;
#else
    return places[random.below(8)];
#endif
}

void flush_in_wild(L4_ThreadId_t thread, Random &random)
{
    const int log2 = 12 + static_cast<int>(random.below(20));
    cobnut::flush_in(thread, L4_FpageLog2(random.next() >> log2 << log2, log2) + random.below(8));
}

/// All registers random, at any time, in calls of any kind as well, while threads halt, move and end: the processor's
/// mode stays the user's, the kernel goes on, and no word of others' changes.
void wild_registers()
{
    constexpr Word rounds = 8;
    Random random(wish.seed);
    mark_arena(0xD0);
    Agent *victim = agent(Kind::other);
    if (!victim) return;
    give_page(victim, 0, free_area, L4_FullyAccessible);
    for (Word round = 0; round < rounds; round++) {
        Agent *a = controlled_by(main_id), *b = a ? agent_beside(a) : nullptr, *other = controlled_by(main_id);
        if (!b || !other) return;
        give_page(a, 1, free_area, L4_Readable);
        Agent *const both[] = {a, b};
        begin(a, do_count), begin(b, do_count);
        for (Word n = 0; n < wish.calls / rounds / 4; n++) {
            const L4_ThreadId_t id = both[random.below(2)]->id;
            AllRegisters own, wild, after;
            const Word before = control_thread(id, stop_and_read, nullptr, &own);
            CHECK(before != nothing);
            for (Word i = 0; i < AllRegisters::words; i++) reinterpret_cast<Word *>(&wild)[i] = random.next();
            instruction(wild) = wild_place(random);
            Word what = random.below(4) ? set_and_go : Word{cobnut::control_write};
            if (random.below(4)) what |= cobnut::control_cancel;
#ifdef __arm__
            wild.lr = wild_place(random);
            if (random.below(2)) wild.r[random.below(8)] = random.below(2) ? main_id.raw : L4_anythread.raw;
            if (random.below(2)) wild.r[2] = random.next() & 0x03FF03FF;
            CHECK_EQUAL(own.cpsr & 0x9F, 0x10);
#endif
            CHECK(control_thread(id, what | cobnut::control_read, &wild, &after) != nothing);
            if (random.below(4)) pause(random.below(400));
            L4_ThreadId_t from;
            for (int i = 0; i < 3; i++)
                L4_Ipc(L4_nilthread, L4_anythread, L4_Timeouts(L4_ZeroTime, L4_ZeroTime), &from);
            if (random.below(16) == 0) flush_in_wild(id, random);
        }
        const auto unchanged = reinterpret_cast<void *>(-1);
        if (random.below(2)) L4_ThreadControl(b->id, other->id, L4_nilthread, L4_nilthread, unchanged);
        AllRegisters r;
        CHECK(control_thread(b->id, stop_and_read, nullptr, &r) != nothing);
        remove(a), remove(b), remove(other);
        CHECK_EQUAL(seen(victim, free_area), 0xD0);
    }
    for (Word i = 0; i < arena_pages; i++) CHECK_EQUAL(arena_word(i), 0xD0 + i);
}

} // namespace

const Test controlled_tests[] = {
    {"controlled.all_registers", all_registers},
    {"controlled.no_privileged_flags", no_privileged_flags},
    {"controlled.stops_at_once", stops_at_once},
    {"controlled.in_an_ipc", in_an_ipc},
    {"controlled.in_a_fault", in_a_fault},
    {"controlled.by_nobody_else", by_nobody_else},
    {"controlled.handler_of_new_threads", handler_of_new_threads},
    {"controlled.unmap_in_one", unmap_in_one},
    {"controlled.unmap_is_refused", unmap_is_refused},
    {"controlled.ends_meanwhile", ends_meanwhile},
    {"controlled.thread_leaves_meanwhile", thread_leaves_meanwhile},
    {"controlled.answer_in_parts", answer_in_parts},
    {"controlled.answer_that_fails", answer_that_fails},
    {"controlled.wild_registers", wild_registers},
    {nullptr, nullptr},
};

} // namespace x2test
