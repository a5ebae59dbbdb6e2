// SPDX-License-Identifier: BSD-2-Clause
// How a call is made and what it came to; the calls of privileged threads.
#include "fuzz.h"

#include <cobnut/account.h>
#include <cobnut/control.h>
#include <cobnut/tls.h>

namespace fuzz {
namespace {

constexpr Word fields[] = {L4_KIP_IPC,
                           L4_KIP_LIPC,
                           L4_KIP_UNMAP,
                           L4_KIP_EXCHANGE_REGISTERS,
                           L4_KIP_THREAD_SWITCH,
                           L4_KIP_SCHEDULE,
                           L4_KIP_THREAD_CONTROL,
                           L4_KIP_SPACE_CONTROL,
                           L4_KIP_PROCESSOR_CONTROL,
                           L4_KIP_MEMORY_CONTROL,
                           COBNUT_KIP_TLS_CONTROL,
                           L4_KIP_SYSTEM_CLOCK};
static_assert(sizeof fields / sizeof *fields == raw);

/// An index into a tally.
Word outcome(Kind kind, const L4_Registers_t &r)
{
    constexpr Word error_bit = 1u << 15;
    bool failed = false;
    switch (kind) {
    case ipc:
    case lipc: failed = r.esi & error_bit; break;
    case unmap:
    case thread_switch:
    case system_clock:
    case raw:
    case kinds: break;
    default: failed = r.eax == 0;
    }
    return failed ? L4_ErrorCode() & (outcomes - 1) : 0;
}

/// To a small space's slot or away from it, or anything.
Word odd_control(Random &random)
{
    constexpr Word sizes[] = {4, 8, 16, 32, 64};
    const Word size = sizes[random.below(5)];
    if (random.one_in(4)) return odd_word(random);
    return L4_SmallSpaceChange | (random.one_in(4) ? 0 : L4_SmallSpace(size * random.below(512 / size), size));
}

/// One of a worker or a stranger that was there a moment ago.
L4_ThreadId_t odd_target(Random &random)
{
    const Word number = base_number + (random.one_in(4) ? threads + random.below(strangers) : random.below(workers));
    if (random.one_in(2)) return L4_ThreadId_t{.raw = ids[random.below(workers)]};
    return L4_GlobalId(number, random.one_in(2) ? 1 : 1 + random.below(0x3FFF));
}

/// A thread to be another's scheduler or a space's redirector; as often one that never was.
L4_ThreadId_t odd_servant(Random &random)
{
    if (random.one_in(2)) return L4_GlobalId(base_number + threads + strangers + random.below(64), 1);
    return odd_thread(random);
}

void interrupt_control(Block &block)
{
    Random &random = block.random;
    L4_Registers_t r = {random.below(20) << 14 | 1, ids[random.below(workers)], 0, 0, ~0u, 0, 0};
    r.esi = r.eax;
    if (random.one_in(2)) r.ecx = r.eax;
    make(block, thread_control, r);
}

void change_thread(Block &block)
{
    Random &random = block.random;
    const L4_ThreadId_t dest = odd_target(random);
    const L4_ThreadId_t space = random.one_in(3) ? dest : random.one_in(8) ? L4_nilthread : odd_thread(random);
    const Word utcb = random.one_in(2) ? ~0u : utcb_area + 512 * random.below(40);
    const Word scheduler = random.one_in(8) ? odd_servant(random).raw : random.one_in(4) ? 0 : supervisor.raw;
    L4_Registers_t r = {dest.raw, random.one_in(2) ? 0 : supervisor.raw, scheduler, space.raw, utcb, 0, 0};
    make(block, thread_control, r);
}

/// A stranger in a space of its own, as far as there is memory.
void create_stranger(Block &block)
{
    Random &random = block.random;
    const Word id = L4_GlobalId(base_number + threads + random.below(strangers), 1).raw;
    auto area = [&](L4_Fpage_t usual) {
        return (!random.one_in(8) ? usual : random.one_in(2) ? L4_Nilpage : odd_fpage(random)).raw;
    };
    const Word kip = area(L4_FpageLog2(kip_area, 12)), utcbs = area(L4_FpageLog2(utcb_area, utcb_area_log2));
    L4_Registers_t thread = {id, 0, supervisor.raw, id, ~0u, 0, 0};
    make(block, thread_control, thread);
    L4_Registers_t space = {id, 0, kip, utcbs, ~0u, 0, 0};
    make(block, space_control, space);
}

/// How much kernel memory a worker's space may hold: hardly more than it does, so that what it needs next is refused;
/// or what it may hold at first.
void change_account(Block &block)
{
    Random &random = block.random;
    const L4_ThreadId_t dest = {.raw = ids[random.below(workers)]};
    const Word pages = random.one_in(2) ? cobnut::fair_share : cobnut::kernel_memory_used(dest) + random.below(4);
    constexpr Word change = 1u << 31, own = 1u << 28, limit = 3;
    L4_Registers_t r = {dest.raw, change | own | pages << 8 | limit, 0, 0, 0, 0, 0};
    make(block, space_control, r);
}

/// A worker's space and its threads become, or are no longer, its redirector's.
void change_control(Block &block)
{
    Random &random = block.random;
    const L4_ThreadId_t dest = {.raw = ids[random.below(workers)]};
    if (random.one_in(4)) {
        cobnut::set_controlled(dest, false);
        return;
    }
    cobnut::set_controlled(dest, true);
    L4_Registers_t r = {dest.raw, 0, 0, 0, odd_servant(random).raw, 0, 0};
    make(block, space_control, r);
}

void change_space(Block &block)
{
    Random &random = block.random;
    if (random.one_in(4)) return random.one_in(2) ? change_account(block) : change_control(block);
    const bool usual = random.one_in(2);
    const Word kip = usual ? L4_FpageLog2(kip_area, 12).raw : random.one_in(2) ? odd_fpage(random).raw : 0;
    const Word utcbs = usual              ? L4_FpageLog2(utcb_area, utcb_area_log2).raw
                       : random.one_in(2) ? odd_fpage(random).raw
                                          : 0;
    const Word redirector = random.one_in(4) ? odd_servant(random).raw : ~0u;
    L4_Registers_t r = {odd_target(random).raw, odd_control(random), kip, utcbs, redirector, 0, 0};
    make(block, space_control, r);
}

/// How pages of the arena are cached.
void change_memory(Block &block)
{
    Random &random = block.random;
    const Word page = reinterpret_cast<Word>(arena) + page_size * random.below(arena_pages);
    L4_LoadMR(0, L4_FpageLog2(page, 12).raw | random.below(4));
    L4_LoadMR(1, random.one_in(4) ? odd_fpage(random).raw & ~7u : 0);
    auto attribute = [&] { return random.one_in(4) ? odd_word(random) : random.below(9); };
    L4_Registers_t r = {random.one_in(8) ? odd_word(random) : random.below(2),
                        attribute(),
                        attribute(),
                        L4_MsgTag().raw,
                        L4_MyLocalId().raw,
                        attribute(),
                        attribute()};
    make(block, memory_control, r);
}

/// Schedule does something for a thread's scheduler alone: half of the time the clerk makes itself that first.
void change_schedule(Block &block)
{
    Random &random = block.random;
    auto odd = [&] { return random.one_in(2) ? ~0u : odd_word(random); };
    Word dest = odd_target(random).raw;
    if (random.one_in(2)) {
        dest = ids[random.below(workers)];
        L4_Registers_t own = {dest, 0, L4_MyGlobalId().raw, dest, ~0u, 0, 0};
        make(block, thread_control, own);
    }
    L4_Registers_t r = {dest, odd(), odd(), odd(), odd(), 0, 0};
    r.ecx = random.one_in(2) ? ~0u : random.below(210);
    make(block, schedule, r);
}

void change_processor(Block &block)
{
    Random &random = block.random;
    const bool nothing = random.one_in(2);
    auto odd = [&] { return nothing ? ~0u : odd_word(random); };
    L4_Registers_t r = {random.below(2), odd(), odd(), odd(), 0, 0, 0};
    make(block, processor_control, r);
}

void change_tls(Block &block)
{
    Random &random = block.random;
    L4_Registers_t r = {odd_target(random).raw, odd_word(random), 0, 0, 0, 0, 0};
    make(block, tls_control, r);
}

} // namespace

void make(Block &block, Kind kind, L4_Registers_t &r)
{
    block.last[block.calls % 4] = {kind, r};
    block.calls++;
    __L4_Call_Stub(fields[kind], &r);
    block.tally.of(kind, outcome(kind, r))++;
}

void privileged_call(Block &block)
{
    switch (block.random.below(16)) {
    case 0:
    case 1: return interrupt_control(block);
    case 2: return change_memory(block);
    case 3: return change_processor(block);
    case 4: return change_tls(block);
    case 5:
    case 6: return change_schedule(block);
    case 7:
    case 8: return create_stranger(block);
    case 9:
    case 10:
    case 11: return change_space(block);
    default: return change_thread(block);
    }
}

} // namespace fuzz
