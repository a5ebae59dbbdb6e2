// SPDX-License-Identifier: BSD-2-Clause
#include "family.h"

#include "slots.h"
#include "worker.h"

#include <cobnut/format.h>
#include <cobnut/program.h>
#include <l4/schedule.h>
#include <l4/space.h>

extern "C" char image_start[], image_end[];

namespace stress {

const char *const counter_names[counters] = {
    "operations",      "accesses",       "faults",     "maps",
    "grants",          "unmaps",         "promotions", "made_small",
    "slot_reuses",     "made_large",     "peer_calls", "thread_deletions",
    "space_deletions", "host_deletions", "runs",       "attribute_changes",
    "demotions",       "revocations",    "regroups",   "dissolutions",
    "resizes",         "grown_in_place", "executions", "strings",
    "shares",          "numbers",        "megabytes",  "many_sections",
};

namespace {

constexpr Word page_size = 4096;
constexpr Word utcb_size = 512;
constexpr Word fault_label = 0xFFE0;

L4_Fpage_t page_at(Word address, Word rights) { return L4_FpageLog2(address, 12) + rights; }

} // namespace

bool Space::alive() const
{
    for (const Worker &w : workers)
        if (!L4_IsNilThread(w.id)) return true;
    return false;
}

void Family::prepare(Word index, Word seed, Word area_mb, Word first_thread)
{
    index_ = index, seed_ = seed, area_mb_ = area_mb, first_thread_ = first_thread;
    random_ = Random(seed * families_most + index);
    model_.shares_status = shared_regions;
    for (Word page = 0; page < pages; page++) {
        content(page) = value_[page] = index << 28 | page << 20 | ++written_;
        auto *code = reinterpret_cast<volatile unsigned char *>(page_address(index_, page)) + code_offset(page);
        for (unsigned char byte : interface_code) *code++ = byte;
        model_.accessed(root_of(page), true);
    }
}

void Family::run(Word many)
{
    while (count[operations] < many) {
        one();
        count[operations]++;
    }
    for (Word space = 0; space < spaces; space++) delete_space(space);
    done = true;
}

void Family::fail(const char *text, ...)
{
    char reason[160];
    va_list arguments;
    va_start(arguments, text);
    cobnut::format(reason, sizeof reason, text, arguments);
    va_end(arguments);
    cobnut::print("stress: FAIL seed %u, family %u, operation %u: %s\n", seed_, index_, count[operations], reason);
    cobnut::machine_off(1);
}

volatile Word &Family::content(Word page) const
{
    return *reinterpret_cast<volatile Word *>(page_address(index_, page));
}

Word Family::any_thread(Word space)
{
    const Word thread = random_.below(threads);
    return L4_IsNilThread(worker(space, thread).id) ? 1 - thread : thread;
}

/// An empty call of another worker: an IPC, or as programs of other systems do it.
Word Family::any_call() { return random_.once_in(2) ? do_reflect : do_send; }

Word Family::any_space_but(Word space) { return (space + 1 + random_.below(spaces - 1)) % spaces; }

bool Family::find(L4_ThreadId_t from, Word &space, Word &thread) const
{
    for (space = 0; space < spaces; space++)
        for (thread = 0; thread < threads; thread++)
            if (spaces_[space].workers[thread].id == from) return true;
    return false;
}

/// Lets a worker do something and serves page faults of all until its answer comes.
Word Family::ask(Word space, Word thread, Word what, Word x, Word y, Word z, Word value)
{
    const Word mr[] = {what << 16 | 4, x, y, z, value};
    L4_LoadMRs(0, 5, mr);
    return await(space, thread);
}

/// Sends what the message registers hold, and serves page faults until the answer comes.
Word Family::await(Word space, Word thread)
{
    L4_ThreadId_t to = worker(space, thread).id, from;
    for (;;) {
        const L4_MsgTag_t tag = L4_Ipc(to, L4_anythread, L4_Timeouts(L4_Never, L4_Never), &from);
        Word sender_space, sender_thread;
        if (L4_IpcFailed(tag)) fail("no answer from thread %08x: error %x", to.raw, L4_ErrorCode());
        if (!find(from, sender_space, sender_thread)) fail("a message from %08x, which is none of mine", from.raw);
        if (L4_Label(tag) == answer) {
            if (sender_space != space || sender_thread != thread) fail("thread %08x answers unasked", from.raw);
            Word result;
            L4_StoreMR(1, &result);
            return result;
        }
        if (!answer_fault(sender_space, sender_thread, tag)) return 0;
        to = from;
    }
}

/// Loads a mapping of a page of the root space as the answer to a page fault.
void Family::answer_with(Word page, Word address, Word rights)
{
    answer_with(page_at(page, rights), address & ~(page_size - 1));
}

void Family::answer_with(L4_Fpage_t pages, Word base)
{
    const L4_MapItem_t item = L4_MapItem(pages, base);
    L4_Set_MsgTag(L4_MsgTag_t{.raw = 2u << 6});
    L4_LoadMR(1, item.raw[0]);
    L4_LoadMR(2, item.raw[1]);
}

/// False if the space was deleted instead.
bool Family::answer_fault(Word space, Word thread, L4_MsgTag_t tag)
{
    if ((L4_Label(tag) & 0xFFF0) != fault_label) fail("thread %08x sends %08x", worker(space, thread).id.raw, tag.raw);
    Word where[2];
    L4_StoreMRs(1, 2, where);
    const Word address = where[0], page = address & ~(page_size - 1);
    const bool writes = L4_Label(tag) & write;
    if (const Word own = address + image_distance;
        own >= reinterpret_cast<Word>(image_start) && own < reinterpret_cast<Word>(image_end)) {
        if (unborn_) {
            unborn_ = false;
            delete_space(space);
            return false;
        }
        const Word own_page = own & ~(page_size - 1);
        const bool stack = own_page == ((stack_of(index_, space, thread) - 1) & ~(page_size - 1));
        if (writes && !stack) fail("a write to %08x by the code at %08x", address, where[1]);
        if (stack || !spaces_[space].whole_image) answer_with(own_page, page, stack ? read | write : read | execute);
        else answer_with(L4_FpageLog2(image_base, image_log2) + (read | execute), image_base - image_distance);
        return true;
    }
    Expected &e = expected_;
    if (!e.fault || e.happened || e.space != space || e.thread != thread || e.address != address || e.writes != writes)
        fail("space %u faults at %08x (%s, ip %08x), where it should not", space, address, writes ? "write" : "read",
             where[1]);
    e.happened = true;
    count[faults]++;
    if (e.fatal) {
        delete_space(space);
        return false;
    }
    const Word given = random_.below(pages), rights = writes || random_.once_in(2) ? read | write : Word{read};
    if (e.node == nowhere) e.node = root_of(given), reached(space, address);
    else if (model_.map(root_of(given), e.node, rights, false)) reached(space, address);
    answer_with(page_address(index_, given), address, rights);
    return true;
}

/// A thread that waits for its start; with the first one comes its space.
void Family::make_thread(Word space, Word thread)
{
    Worker &w = worker(space, thread);
    do w.version = (w.version + 1) & 0x3FFF;
    while (w.version % 64 == 0);
    const bool first = !spaces_[space].alive();
    const L4_ThreadId_t self = L4_Myself(), id = L4_GlobalId(first_thread_ + space * threads + thread, w.version);
    L4_Fpage_t &utcbs = spaces_[space].utcbs;
    if (first) {
        const bool automatic = random_.once_in(2);
        spaces_[space].tag = automatic ? Tag::automatic : Tag::large;
        const auto unchanged = reinterpret_cast<void *>(-1);
        utcbs = L4_FpageLog2(utcb_area, utcb_area_log2);
        const Word control = automatic ? 0 : L4_SmallSpaceChange | L4_LargeSpace;
        if (!L4_ThreadControl(id, id, self, L4_nilthread, unchanged) ||
            !Cobnut_SpaceControl(id, control, L4_FpageLog2(kip_area, 12), &utcbs, L4_nilthread, nullptr))
            fail("cannot create a space: error %u", L4_ErrorCode());
    }
    const auto utcb = reinterpret_cast<void *>(L4_Address(utcbs) + thread * utcb_size);
    if (!L4_ThreadControl(id, first ? id : worker(space, 1 - thread).id, self, self, utcb))
        fail("cannot create a thread: error %u", L4_ErrorCode());
    w.id = id;
}

void Family::create_thread(Word space, Word thread)
{
    make_thread(space, thread);
    L4_Set_MsgTag(L4_MsgTag_t{.raw = 2});
    L4_LoadMR(1, reinterpret_cast<Word>(worker_main) - image_distance);
    L4_LoadMR(2, stack_of(index_, space, thread) - image_distance);
    await(space, thread); // it says when it waits for commands
}

void Family::create_space(Word space)
{
    spaces_[space].slot = {};
    spaces_[space].whole_image = random_.once_in(2);
    spaces_[space].incarnation = slots::next_incarnation();
    create_thread(space, 0);
    if (random_.once_in(2)) create_thread(space, 1);
}

void Family::delete_thread(Word space, Word thread)
{
    Worker &w = worker(space, thread);
    if (!L4_ThreadControl(w.id, L4_nilthread, L4_nilthread, L4_nilthread, reinterpret_cast<void *>(-1)))
        fail("cannot delete thread %08x: error %u", w.id.raw, L4_ErrorCode());
    w.id = L4_nilthread;
    count[thread_deletions]++;
}

void Family::delete_space(Word space)
{
    if (!spaces_[space].alive()) return;
    for (Word thread = 0; thread < threads; thread++)
        if (!L4_IsNilThread(worker(space, thread).id)) delete_thread(space, thread);
    note_deleted(space);
}

void Family::note_deleted(Word space)
{
    model_.forget_space(space);
    spaces_[space].tag = Tag::large;
    spaces_[space].slot = {};
    spaces_[space].leader = nullptr;
    dissolve(space);
    count[space_deletions]++;
}

/// The leader is small or gone: those that were bound to it are large.
void Family::dissolve(Word leader)
{
    for (Space &s : spaces_) {
        if (s.tag != Tag::bound || s.leader != &spaces_[leader]) continue;
        s.tag = Tag::large;
        s.slot = {};
        s.leader = nullptr;
        count[dissolutions]++;
    }
}

} // namespace stress
