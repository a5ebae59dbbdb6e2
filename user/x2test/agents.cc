// SPDX-License-Identifier: BSD-2-Clause
#include "harness.h"
#include "machine.h"
#include "run.h"

#include <cobnut/pager.h>
#include <l4/sigma0.h>

extern "C" char image_start[], image_end[];

namespace x2test {

constinit L4_ThreadId_t main_id = {};
alignas(65536) constinit unsigned char arena[arena_pages * page_size] = {};

namespace {

constexpr unsigned max_agents = 24;
constexpr Word stack_size = 4096;
constexpr Word done_label = 0x0D0E;
constexpr unsigned fault_limit = 100000;

constinit Agent agents[max_agents];
constinit bool used[max_agents] = {};
alignas(4096) constinit unsigned char stacks[max_agents][stack_size] = {};
alignas(4096) constinit unsigned char scratch[page_size] = {};
constinit Word version = 1;

Word next_version()
{
    version = (version + 1) & 0x3FFF;
    if ((version & 63) == 0) version++;
    return version;
}

/// Every agent's thread: one function after the other, for main.
[[noreturn]] void agent_main()
{
    L4_Set_ExceptionHandler(main_id);
    L4_Accept(L4_UntypedWordsAcceptor);
    L4_Set_MsgTag(L4_MsgTag_t{.raw = done_label << 16});
    L4_MsgTag_t tag = L4_Call(main_id);
    for (;;) {
        if (L4_IpcFailed(tag)) {
            tag = L4_Receive(main_id);
            continue;
        }
        Word mr[5];
        L4_StoreMRs(0, 5, mr);
        L4_Accept(L4_UntypedWordsAcceptor); // a function may open a window for the next command
        const Word value = reinterpret_cast<Function>(mr[1])(mr[2], mr[3], mr[4]);
        const Word error = L4_ErrorCode();
        L4_Set_MsgTag(L4_MsgTag_t{.raw = done_label << 16 | 2});
        L4_LoadMR(1, value);
        L4_LoadMR(2, error);
        tag = L4_Call(main_id);
    }
}

Agent *by_id(L4_ThreadId_t from)
{
    for (unsigned i = 0; i < max_agents; i++)
        if (used[i] && (agents[i].id == from || agents[i].local == from)) return &agents[i];
    return nullptr;
}

/// Loads the answer to a page fault. False if none can help: nothing can be mapped over the kernel, so that the same
/// fault would come for ever; and an agent that has jumped into nowhere must not walk on through pages of zeros until
/// it meets this image.
bool load_page(Agent &a, const Word *mr)
{
    Word source = mr[1] & ~(page_size - 1);
    const bool foreign = source < reinterpret_cast<Word>(image_start) || source >= reinterpret_cast<Word>(image_end);
    if (foreign) {
        if (a.out.faults++ == 0) {
            a.out.fault_tag = mr[0];
            a.out.fault_address = mr[1];
            a.out.fault_ip = mr[2];
        }
        source = reinterpret_cast<Word>(scratch);
    }
    cobnut::load_answer(L4_MapItem(page_at(source, L4_FullyAccessible), mr[1] & ~(page_size - 1)));
    // Also when the rest of an instruction is on the page that is missing.
    constexpr Word longest_instruction = 15;
    const bool runaway = foreign && (mr[1] / page_size == mr[2] / page_size || mr[1] - mr[2] < longest_instruction);
    return mr[1] < machine::kernel_area && !runaway && a.out.faults < fault_limit;
}

/// Serves one message. True if the MRs hold an answer.
bool serve(Agent &a, L4_MsgTag_t tag)
{
    Word mr[14];
    L4_StoreMRs(0, 14, mr);
    const Word label = L4_Label(tag);
    if (cobnut::is_page_fault(tag)) {
        a.out.stuck = !load_page(a, mr);
        return !a.out.stuck;
    }
    if (label == done_label) {
        a.out.done = true;
        a.out.value = mr[1];
        a.out.error = mr[2];
    } else if (label == 0xFF86) {
        a.out.port_faults++;
        for (unsigned i = 0; i < 3; i++) a.out.port_fault[i] = mr[i];
    } else if (label == 0xFFB0) {
        a.out.exceptions++;
        for (unsigned i = 0; i < 14; i++) a.out.exception[i] = mr[i];
    }
    return false;
}

/// Serves the faults of its first steps at once: who tells it something while it waits for an answer to one waits for
/// the end of a timeout.
bool start(Agent *a)
{
    L4_Set_MsgTag(L4_MsgTag_t{.raw = 2});
    L4_LoadMR(1, reinterpret_cast<Word>(agent_main));
    L4_LoadMR(2, stack_of(a));
    if (L4_IpcSucceeded(L4_Send_Timeout(a->id, second))) {
        const bool started = finish(a).done;
        a->out = Outcome{};
        return started;
    }
    fail("agent %08x does not take its start message: error %x", a->id.raw, L4_ErrorCode());
    return false;
}

Word do_open_window(Word window, Word, Word)
{
    L4_Accept(L4_MapGrantItems(L4_Fpage_t{.raw = window}));
    return 0;
}

/// The part of begin() that carries a typed item if item0 is not 0.
void command(Agent *a, Function f, Word x, Word y, Word z, Word item0, Word item1)
{
    a->out = Outcome{};
    const Word mr[7] = {4u | (item0 ? 2u << 6 : 0), reinterpret_cast<Word>(f), x, y, z, item0, item1};
    // The agent may still fault on its way to its receive: serve it meanwhile.
    for (int tries = 0; tries < 64; tries++) {
        L4_LoadMRs(0, item0 ? 7 : 5, mr);
        if (L4_IpcSucceeded(L4_Send_Timeout(a->id, short_time))) return;
        if (L4_ErrorCode() != 2) break;
        L4_ThreadId_t from;
        const L4_MsgTag_t tag = L4_Wait_Timeout(L4_ZeroTime, &from);
        if (L4_IpcFailed(tag)) continue;
        if (Agent *other = by_id(from); other && serve(*other, tag)) L4_Reply(from);
    }
    fail("agent %08x takes no command: error %x", a->id.raw, L4_ErrorCode());
}

Word do_take(Word from, Word window, Word)
{
    L4_Accept(L4_MapGrantItems(L4_Fpage_t{.raw = window}));
    const L4_MsgTag_t tag = L4_Receive_Timeout(L4_ThreadId_t{.raw = from}, second);
    L4_Accept(L4_UntypedWordsAcceptor);
    return tag.raw;
}

Word do_give(Word to, Word item0, Word item1)
{
    L4_Set_MsgTag(L4_MsgTag_t{.raw = 2u << 6});
    L4_LoadMR(1, item0);
    L4_LoadMR(2, item1);
    return L4_Send_Timeout(L4_ThreadId_t{.raw = to}, second).raw;
}

} // namespace

L4_ThreadId_t unused_id() { return L4_GlobalId(L4_ThreadNo(main_id) + 2 + max_agents + 40, next_version()); }

Word stack_of(const Agent *a) { return reinterpret_cast<Word>(stacks[a->index]) + stack_size - 16; }

namespace {

/// In its own slot if that is free, else in the next free one; a small area has few.
bool make_small_anywhere(const Agent &a)
{
    const Word slots = wish.area_mb / 16;
    for (Word n = 0; n < slots; n++)
        if (make_small(&a, (a.index + n) % slots)) return true;
    return false;
}

/// The UTCB area of a space that exists; in main's own the first two UTCBs are taken.
Word area_of(L4_ThreadId_t space)
{
    if (space == main_id) return (L4_MyLocalId().raw & ~0x1FFFFu) + 1024;
    const Agent *mate = by_id(space);
    return mate ? mate->utcb_area : 0;
}

/// Gives the agent its UTCB, and returns where.
void *place(Agent &a)
{
    a.utcb = a.utcb_area + a.index * 512;
    a.local = L4_ThreadId_t{.raw = a.utcb + L4_UtcbIdOffset};
    return reinterpret_cast<void *>(a.utcb);
}

} // namespace

Agent *create(L4_ThreadId_t space, Kind kind, Word kip)
{
    unsigned i = 0;
    while (i < max_agents && used[i]) i++;
    if (i == max_agents) {
        fail("too many agents");
        return nullptr;
    }
    Agent &a = agents[i];
    a = Agent{};
    a.index = i;
    a.id = L4_GlobalId(L4_ThreadNo(main_id) + 2 + i, next_version());
    a.own_space = L4_IsNilThread(space);
    a.utcb_area = area_of(space);
    used[i] = true;
    const auto unchanged = reinterpret_cast<void *>(-1);
    L4_Fpage_t area = L4_FpageLog2(utcb_area, utcb_area_log2);
    const bool other = kind == Kind::other;
    if (other) kind = wish.kinds;
    const Word control = small_spaces() && kind == Kind::large ? L4_SmallSpaceChange | L4_LargeSpace : 0;
    if (!a.own_space) {
        if (L4_ThreadControl(a.id, space, main_id, main_id, place(a))) return &a;
    } else if (L4_ThreadControl(a.id, a.id, main_id, L4_nilthread, unchanged) &&
               Cobnut_SpaceControl(a.id, control, L4_FpageLog2(kip, 12), &area, L4_nilthread, nullptr) &&
               (a.utcb_area = L4_Address(area)) && L4_ThreadControl(a.id, a.id, main_id, main_id, place(a))) {
        const bool small = small_spaces() && kind == Kind::small;
        if (!small || make_small_anywhere(a) || other) return &a;
        fail("no small space for agent %u", i);
        return nullptr;
    }
    fail("cannot create an agent: error %u", L4_ErrorCode());
    return nullptr;
}

Agent *agent(Kind kind, Word kip)
{
    Agent *a = create(kind == Kind::here ? main_id : L4_nilthread, kind, kip);
    if (!a || !start(a)) return nullptr;
    if (kind != Kind::here) {
        // The whole image in one item (only what is present is mapped), so that agents do not fault on it later.
        const L4_Fpage_t image = L4_FpageLog2(reinterpret_cast<Word>(image_start), 20) + L4_FullyAccessible;
        give(a, image, reinterpret_cast<Word>(image_start), L4_CompleteAddressSpace);
    }
    return a;
}

Agent *agent_beside(const Agent *mate)
{
    Agent *a = create(mate->id, Kind::other);
    return a && start(a) ? a : nullptr;
}

bool small_spaces()
{
    static const bool there = L4_HasFeature("smallspaces");
    return there;
}

bool redirect(const Agent *a, L4_ThreadId_t to)
{
    return L4_SpaceControl(a->id, 0, L4_Nilpage, L4_Nilpage, to, nullptr);
}

bool make_small(const Agent *a, Word slot)
{
    Word old = 0;
    L4_SpaceControl(a->id, L4_SmallSpaceChange | L4_SmallSpace(slot * 16, 16), L4_Nilpage, L4_Nilpage, L4_nilthread,
                    &old);
    return (old & L4_SmallSpaceChange) != 0;
}

bool make_large(const Agent *a)
{
    Word old = 0;
    L4_SpaceControl(a->id, L4_SmallSpaceChange | L4_LargeSpace, L4_Nilpage, L4_Nilpage, L4_nilthread, &old);
    return (old & L4_SmallSpaceChange) != 0;
}

Word small_number(const Agent *a)
{
    Word old = 0;
    L4_SpaceControl(a->id, 0, L4_Nilpage, L4_Nilpage, L4_nilthread, &old);
    return old & 0xFF;
}

void remove(Agent *a)
{
    used[a->index] = false;
    L4_ThreadControl(a->id, L4_nilthread, L4_nilthread, L4_nilthread, reinterpret_cast<void *>(-1));
}

namespace {
struct Piece {
    L4_Fpage_t where;
    bool used; ///< by the test that runs
};
Piece pieces[64];
} // namespace

L4_Fpage_t own_memory(int log2)
{
    for (Piece &piece : pieces) {
        if (piece.used || (!L4_IsNilFpage(piece.where) && L4_SizeLog2(piece.where) != static_cast<Word>(log2)))
            continue;
        if (L4_IsNilFpage(piece.where)) {
            piece.where = L4_Sigma0_GetAny(L4_nilthread, static_cast<Word>(log2), L4_CompleteAddressSpace);
        } else { // an earlier test may have made smaller pages of it, or have granted it
            L4_Flush(piece.where + L4_FullyAccessible);
            piece.where = L4_Sigma0_GetPage(L4_nilthread, piece.where);
        }
        if (L4_IsNilFpage(piece.where)) break;
        piece.used = true;
        return piece.where;
    }
    fail("no memory of 2^%u bytes", log2);
    return L4_Nilpage;
}

void remove_all_agents()
{
    for (Piece &piece : pieces) piece.used = false;
    for (unsigned i = max_agents; i-- > 0;)
        if (used[i]) remove(&agents[i]);
    scratch_reset();
    for (unsigned char &byte : scratch) byte = 0; // a wild agent of a later test must not run into what this one left
    L4_Unmap(L4_FpageLog2(reinterpret_cast<Word>(arena), 16) + L4_FullyAccessible);
}

void begin(Agent *a, Function f, Word x, Word y, Word z) { command(a, f, x, y, z, 0, 0); }

const Outcome &finish(Agent *a, bool may_hang)
{
    L4_ThreadId_t reply_to = L4_nilthread, from;
    while (!a->out.done) {
        if (a->out.stuck || (may_hang && (a->out.exceptions || a->out.port_faults))) break;
        const Word timeouts = L4_Timeouts(L4_ZeroTime, may_hang ? short_time : second);
        L4_MsgTag_t tag = L4_Ipc(reply_to, L4_anythread, timeouts, &from);
        reply_to = L4_nilthread;
        if (L4_IpcFailed(tag)) {
            if ((L4_ErrorCode() & 1) == 0) continue; // the answer was not taken; wait on
            if (!may_hang)
                fail("agent %08x does not answer (%u faults, last at %08x, %u exceptions, last %u at %08x)", a->id.raw,
                     a->out.faults, a->out.fault_address, a->out.exceptions, a->out.exception[3], a->out.exception[1]);
            break;
        }
        Agent *sender = by_id(from);
        if (sender && serve(*sender, tag)) reply_to = from;
    }
    return a->out;
}

void scratch_reset() { L4_Unmap(page_at(reinterpret_cast<Word>(scratch), L4_FullyAccessible)); }

void give(Agent *a, Word item0, Word item1, L4_Fpage_t window)
{
    ask(a, do_open_window, window.raw);
    command(a, do_nothing, 0, 0, 0, item0, item1);
    finish(a);
}

bool pass(Agent *from, Agent *to, L4_Fpage_t f, Word base, L4_Fpage_t window, bool grant)
{
    const Word item0 = grant ? L4_GrantItem(f, base).raw[0] : L4_MapItem(f, base).raw[0];
    begin(to, do_take, from->id.raw, window.raw);
    begin(from, do_give, to->id.raw, item0, f.raw);
    const bool sent = !(finish(from).value & 0x8000);
    return !(finish(to).value & 0x8000) && sent;
}

Word do_read(Word address, Word, Word) { return *reinterpret_cast<volatile Word *>(address); }
Word do_write(Word address, Word value, Word)
{
    *reinterpret_cast<volatile Word *>(address) = value;
    return 0;
}
Word do_nothing(Word, Word, Word) { return 0; }
Word do_flush(Word fpage, Word control, Word)
{
    L4_LoadMR(0, fpage);
    L4_Unmap(control);
    return L4_MsgTag().raw;
}

Word do_sigma0_get(Word fpage, Word attribute, Word)
{
    L4_Accept(L4_MapGrantItems(L4_CompleteAddressSpace));
    L4_Set_MsgTag(L4_MsgTag_t{.raw = 0xFFA00002});
    L4_LoadMR(1, fpage);
    L4_LoadMR(2, attribute);
    const L4_MsgTag_t tag = L4_Call(L4_GlobalId(L4_ThreadIdUserBase(L4_GetKernelInterface()), 1));
    L4_Accept(L4_UntypedWordsAcceptor);
    Word mr[2];
    L4_StoreMRs(1, 2, mr);
    if (tag.raw != 2u << 6 || (mr[0] & 0xF) != 8) return ~0u;
    return mr[1];
}

void pause(Word microseconds) { L4_Sleep(L4_TimePeriod(microseconds)); }

void check_duration(void (*wait)(), Word low, Word high)
{
    Word taken = 0;
    for (int attempt = 0; attempt < 8; attempt++) {
        const L4_Clock_t before = L4_SystemClock();
        wait();
        taken = static_cast<Word>(L4_SystemClock().raw - before.raw);
        if (taken < low) break;
        if (taken < high) return;
    }
    fail("takes %u us, not %u to %u", taken, low, high);
}

} // namespace x2test
