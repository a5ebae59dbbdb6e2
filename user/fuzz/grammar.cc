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

Word odd_ip(Random &random)
{
    switch (random.below(8)) {
    case 0: return random.below(16);
    case 1: return 0xC0000000 + random.below(0x40000000);
    case 2: return 0xFFFFFFFF - random.below(16);
    // To the third byte of the kernel interface page: e6, an out to a port that no worker has. From most others the way
    // leads over zeros, which only add to where EAX points, into a stub behind; its result would be taken for that of
    // the call left.
    case 3: return kip_area + 2;
    default: return reinterpret_cast<Word>(worker_main);
    }
}

Word odd_utcb(Random &random) { return utcb_area + 512 * random.below(random.one_in(4) ? 32 : 8); }

L4_ThreadId_t odd_thread(Random &random)
{
    switch (random.below(20)) {
    case 0: return L4_nilthread;
    case 1: return L4_anylocalthread;
    case 2: return L4_ThreadId_t{.raw = odd_utcb(random) + 256};
    case 3: return L4_GlobalId(base_number + random.below(workers), 1 + random.below(0x3FFF));
    case 4: return L4_GlobalId(base_number + threads + random.below(strangers), 1 + random.below(64));
    default: return L4_ThreadId_t{.raw = ids[random.below(workers)]};
    }
}

L4_Fpage_t odd_ports(Random &random)
{
    if (random.one_in(4)) return L4_IoFpageLog2(random.below(0x10000), static_cast<int>(random.below(18)));
    return L4_IoFpageLog2(first_port + random.below(1u << ports_log2), static_cast<int>(random.below(ports_log2 + 1)));
}

L4_Fpage_t odd_fpage(Random &random)
{
    const Word rights = random.below(8);
    switch (random.below(12)) {
    case 0: return L4_Nilpage;
    case 1: return L4_CompleteAddressSpace + rights;
    case 2: return L4_Fpage_t{.raw = random.next()};
    case 3: return L4_FpageLog2(beyond_small, 12 + random.below(12)) + rights;
    case 4: return L4_FpageLog2(reinterpret_cast<Word>(arena) + page_size * random.below(arena_pages), 12) + rights;
    case 5: return L4_FpageLog2(free_area, free_area_log2 - random.below(8)) + rights;
    case 6: return odd_ports(random) + rights;
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

/// Where strings come from and go to: what can be read or written, what faults, and now and then anything.
Word string_address(Random &random)
{
    if (random.one_in(16)) return odd_word(random);
    if (random.one_in(3)) return reinterpret_cast<Word>(arena) + random.below(sizeof arena);
    return free_area + random.below(1u << free_area_log2);
}

Word string_length(Random &random)
{
    return random.one_in(64)  ? random.below(1u << 22)
           : random.one_in(4) ? random.below(3 * page_size)
                              : random.below(64);
}

/// A string item, simple or compound, of at most `room` words, given to `store` with their index; returns how many.
template <typename Store> Word string_item(Random &random, Word room, bool more, Store store)
{
    Word at = 0;
    for (bool first = true;; first = false) {
        const Word most = room - at - 1, pointers = random.one_in(4) ? 1 + random.below(most < 6 ? most : 6) : 1;
        const bool goes_on = at + 1 + pointers + 2 <= room && random.one_in(4);
        store(at++, string_length(random) << 10 | (goes_on ? 0x200 : 0) | (pointers - 1) << 4 |
                        (first ? random.below(4) << 1 | more : 0));
        for (Word i = 0; i < pointers; i++) store(at++, string_address(random));
        if (!goes_on) return at;
    }
}

void store_mr(Word at, Word value) { L4_LoadMR(static_cast<int>(at), value); }

/// A typed item at MR `at`, with `room` for two words at least; returns how many it takes.
Word odd_item(Random &random, Word at, Word room)
{
    const bool more = random.one_in(2);
    Word first;
    switch (random.below(8)) {
    case 0: first = random.next(); break;
    case 1:
    case 2: return string_item(random, room, more, [at](Word i, Word value) { store_mr(at + i, value); });
    case 3:
    case 4: first = ((odd_word(random) | far) & ~0x3FFu) | 0xA; break; // grant
    default:
        first =
            ((random.one_in(2) ? free_area + page_size * random.below(256) : odd_word(random) | far) & ~0x3FFu) | 0x8;
    }
    store_mr(at, first | more);
    store_mr(at + 1, odd_fpage(random).raw);
    return 2;
}

void load_message(Random &random)
{
    Word untyped = random.one_in(16) ? random.below(64) : random.below(4), typed = 0;
    for (Word i = 1; i <= untyped; i++) store_mr(i, odd_word(random));
    for (Word n = random.below(4); n && untyped + typed + 2 < 64; n--)
        typed += odd_item(random, 1 + untyped + typed, 63 - untyped - typed);
    if (random.one_in(32)) typed = random.below(64);
    const Word flags = random.one_in(8) ? random.below(16) << 12 : 0;
    L4_LoadMR(0, random.below(0x10000) << 16 | flags | typed << 6 | untyped);
}

void load_buffers(Random &random)
{
    const Word window = odd_fpage(random).raw & ~0xFu, strings = random.one_in(4) ? 0 : 1;
    L4_LoadBR(0, random.one_in(8) ? odd_word(random) : window | strings);
    Word at = 1;
    for (Word n = strings ? 1 + random.below(3) : 0; n && at + 2 < 33; n--)
        at += string_item(random, 33 - at, n > 1,
                          [at](Word i, Word value) { L4_LoadBR(static_cast<int>(at + i), value); });
    if (random.one_in(8)) L4_LoadBR(1 + static_cast<int>(random.below(32)), odd_word(random));
}

void make_ipc(Block &block)
{
    Random &random = block.random;
    load_message(random);
    load_buffers(random);
    L4_Set_VirtualSender(odd_thread(random));
    L4_Set_XferTimeouts(odd_time(random) << 16 | odd_time(random));
    const Word to = random.one_in(4) ? 0 : odd_thread(random).raw, any = random.one_in(4) ? 0 : ~0u;
    const Word from = random.one_in(3) ? to : random.one_in(3) ? odd_thread(random).raw : any;
    L4_Registers_t r = {to,
                        odd_time(random) << 16 | odd_time(random),
                        from,
                        L4_MsgTag().raw,
                        L4_MyLocalId().raw,
                        odd_word(random),
                        odd_word(random)};
    make(block, random.one_in(2) ? ipc : lipc, r);
}

void make_unmap(Block &block)
{
    Random &random = block.random;
    const Word count = random.one_in(32) ? random.below(64) : random.below(3);
    for (Word i = 0; i <= count; i++) L4_LoadMR(static_cast<int>(i), odd_fpage(random).raw);
    const Word elsewhere = random.one_in(4) ? 0x80 : 0; // cobnut/control.h
    L4_Registers_t r = {count | (random.one_in(3) ? 0x40 : 0) | elsewhere,
                        elsewhere ? odd_thread(random).raw : odd_word(random),
                        odd_word(random),
                        L4_MsgTag().raw,
                        L4_MyLocalId().raw,
                        odd_word(random),
                        odd_word(random)};
    make(block, unmap, r);
}

void make_exchange_registers(Block &block)
{
    Random &random = block.random;
    L4_Registers_t r = {random.one_in(2) ? odd_utcb(random) + 256 : odd_thread(random).raw,
                        random.below(random.one_in(8)   ? ~0u
                                     : random.one_in(4) ? 0x1000
                                                        : 0x400),
                        odd_word(random),
                        odd_ip(random),
                        odd_word(random),
                        odd_word(random),
                        random.one_in(4) ? odd_word(random) : supervisor.raw};
    make(block, exchange_registers, r);
}

} // namespace

void random_call(Block &block)
{
    Random &random = block.random;
    constexpr Kind others[] = {space_control, thread_control, processor_control, memory_control,
                               tls_control,   system_clock,   thread_switch,     schedule};
    const Word choice = random.below(16);
    if (choice < 9) return make_ipc(block);
    if (choice < 11) return make_unmap(block);
    if (choice < 13) return make_exchange_registers(block);
    const Kind kind = others[random.below(sizeof others / sizeof *others)];
    L4_Registers_t r = {random.one_in(2) ? odd_thread(random).raw : odd_word(random),
                        odd_word(random),
                        odd_word(random),
                        odd_word(random),
                        kind == memory_control ? L4_MyLocalId().raw : odd_word(random),
                        odd_word(random),
                        odd_word(random)};
    make(block, kind, r);
}

} // namespace fuzz
