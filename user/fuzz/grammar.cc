// SPDX-License-Identifier: BSD-2-Clause
// Arguments that make some sense, and some that make none.
#include "fuzz.h"

namespace fuzz {

Word odd_word(Random &random)
{
    switch (random.below(9)) {
    case 0: return 0;
    case 1: return ~0u;
    case 2: return 1u << random.below(32);
    case 3: return (1u << random.below(32)) - 1;
    case 4: return random.below(4096);
    case 5: return 0xC0000000 + random.below(0x40000000);
    case 6: return free_area + random.below(1u << free_area_log2);
    case 7: return utcb_area + 512 * random.below(40) + (random.one_in(2) ? 256 : 0);
    default: return harmless(random.next());
    }
}

L4_ThreadId_t odd_thread(Random &random)
{
    switch (random.below(12)) {
    case 0: return L4_nilthread;
    case 1: return L4_anylocalthread;
    case 2: return L4_ThreadId_t{.raw = utcb_area + 512 * random.below(32) + 256};
    case 3: return L4_GlobalId(base_number + random.below(workers), 1 + random.below(0x3FFF));
    case 4: return L4_GlobalId(base_number + threads + random.below(strangers), 1 + random.below(64));
    default: return L4_ThreadId_t{.raw = ids[random.below(workers)]};
    }
}

L4_Fpage_t odd_fpage(Random &random)
{
    const Word rights = random.below(8);
    switch (random.below(10)) {
    case 0: return L4_Nilpage;
    case 1: return L4_CompleteAddressSpace + rights;
    case 2: return L4_Fpage_t{.raw = random.next()};
    case 3: return L4_FpageLog2(beyond_small, 12 + random.below(12)) + rights;
    case 4: return L4_FpageLog2(reinterpret_cast<Word>(arena) + page_size * random.below(arena_pages), 12) + rights;
    case 5: return L4_FpageLog2(free_area, free_area_log2 - random.below(8)) + rights;
    default: return L4_FpageLog2(free_area + page_size * random.below(256), 12 + random.below(3)) + rights;
    }
}

namespace {

Word odd_time(Random &random)
{
    constexpr Word zero = 0x0400, millisecond = 0x03E8;
    switch (random.below(8)) {
    case 0: return 0; // never
    case 1: return random.below(0x10000) | 0x8000;
    case 2: return millisecond;
    case 3: return random.below(0x2000);
    default: return zero;
    }
}

/// A typed item at MR `at`; returns how many words it takes.
Word odd_item(Random &random, Word at)
{
    const Word more = random.below(2);
    Word first, second = odd_fpage(random).raw;
    switch (random.below(8)) {
    case 0: first = random.next(); break;
    case 1: first = random.below(4096) << 10 | random.below(16) << 4; second = odd_word(random); break; // string
    case 2: case 3: first = (odd_word(random) & ~0x3FFu) | 0xA; break;                                   // grant
    default: first = ((random.one_in(2) ? free_area + page_size * random.below(256) : odd_word(random)) & ~0x3FFu) | 0x8;
    }
    L4_LoadMR(static_cast<int>(at), first | more);
    L4_LoadMR(static_cast<int>(at) + 1, second);
    return 2;
}

void load_message(Random &random)
{
    Word untyped = random.one_in(4) ? random.below(64) : random.below(4), typed = 0;
    for (Word i = 1; i <= untyped; i++) L4_LoadMR(static_cast<int>(i), odd_word(random));
    for (Word n = random.below(4); n && untyped + typed + 2 < 64; n--) typed += odd_item(random, 1 + untyped + typed);
    if (random.one_in(16)) typed = random.below(64);
    const Word flags = random.one_in(8) ? random.below(16) << 12 : 0;
    L4_LoadMR(0, random.below(0x10000) << 16 | flags | typed << 6 | untyped);
}

void load_buffers(Random &random)
{
    switch (random.below(4)) {
    case 0: L4_LoadBR(0, 0); break;
    case 1: L4_LoadBR(0, odd_word(random)); break;
    default: L4_LoadBR(0, (odd_fpage(random).raw & ~0xFu) | random.below(2));
    }
    for (int i = 1; i < 33; i += 1 + static_cast<int>(random.below(12))) L4_LoadBR(i, odd_word(random));
}

void ipc(Block &block)
{
    Random &random = block.random;
    load_message(random);
    load_buffers(random);
    L4_Set_VirtualSender(odd_thread(random));
    L4_Set_XferTimeouts(odd_time(random) << 16 | odd_time(random));
    const Word to = odd_thread(random).raw, any = random.one_in(4) ? 0 : ~0u;
    const Word from = random.one_in(3) ? to : random.one_in(3) ? odd_thread(random).raw : any;
    L4_Registers_t r = {to,
                        odd_time(random) << 16 | odd_time(random),
                        from,
                        L4_MsgTag().raw,
                        L4_MyLocalId().raw,
                        odd_word(random),
                        odd_word(random)};
    make(block, random.one_in(2) ? L4_KIP_IPC : L4_KIP_LIPC, r);
}

void unmap(Block &block)
{
    Random &random = block.random;
    const Word count = random.one_in(4) ? random.below(64) : random.below(3);
    for (Word i = 0; i <= count; i++) L4_LoadMR(static_cast<int>(i), odd_fpage(random).raw);
    L4_Registers_t r = {count | (random.one_in(3) ? 0x40 : 0), odd_word(random), odd_word(random),
                        L4_MsgTag().raw,                       L4_MyLocalId().raw, odd_word(random), odd_word(random)};
    make(block, L4_KIP_UNMAP, r);
}

void exchange_registers(Block &block)
{
    Random &random = block.random;
    const bool restart = random.one_in(2);
    const auto main = reinterpret_cast<Word>(worker_main);
    L4_Registers_t r = {odd_thread(random).raw,
                        random.below(random.one_in(8) ? ~0u : 0x400),
                        odd_word(random),
                        restart ? main : odd_word(random),
                        odd_word(random),
                        odd_word(random),
                        random.one_in(4) ? odd_word(random) : supervisor.raw};
    make(block, L4_KIP_EXCHANGE_REGISTERS, r);
}

} // namespace

void random_call(Block &block)
{
    Random &random = block.random;
    constexpr Word others[] = {L4_KIP_SPACE_CONTROL,     L4_KIP_THREAD_CONTROL, L4_KIP_PROCESSOR_CONTROL,
                               L4_KIP_MEMORY_CONTROL,    L4_KIP_SYSTEM_CLOCK,   L4_KIP_THREAD_SWITCH,
                               L4_KIP_SCHEDULE};
    const Word kind = random.below(16);
    if (kind < 9) return ipc(block);
    if (kind < 11) return unmap(block);
    if (kind < 13) return exchange_registers(block);
    const Word field = others[random.below(sizeof others / sizeof *others)];
    L4_Registers_t r = {random.one_in(2) ? odd_thread(random).raw : odd_word(random),
                        odd_word(random),
                        odd_word(random),
                        odd_word(random),
                        field == L4_KIP_MEMORY_CONTROL ? L4_MyLocalId().raw : odd_word(random),
                        odd_word(random),
                        odd_word(random)};
    make(block, field, r);
}

} // namespace fuzz
