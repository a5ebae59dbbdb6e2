// SPDX-License-Identifier: BSD-2-Clause
// Registers, places and instructions that make no sense, from threads without privileges. The kernel may refuse, fault
// them or ignore what they do; it must go on, with its books in order. All follows from the seed.
#include "../harness.h"
#include "../machine.h"

#include <cobnut/audit.h>
#include <cobnut/pager.h>

extern "C" {
using x2test::Word;
void x2test_raw_call(Word entry, const Word *registers);
}

// Jumps to an address of the kernel's with R0 to R12 as they stand there.
__asm__(".text\n"
        ".globl x2test_raw_call\n"
        "x2test_raw_call: stmfd sp!, {r0, r4-r11, lr}\n"
        "mov lr, r1\n"
        "ldmia lr, {r0-r12}\n"
        "adr lr, 1f\n"
        "ldr pc, [sp]\n"
        "1: ldmfd sp!, {r0, r4-r11, pc}\n");

namespace x2test {
namespace {

constexpr Word system_calls = 0xFFFFFF00, utcb_areas = 0xD0000000, utcb_word = 0xFF000000;
constexpr Word wild_base = 0x40000000, wild_pages = 4; // where nothing is relocated
constexpr Word thumb = 1;

void check_alive()
{
    Agent *a = agent(Kind::other), *b = agent(Kind::other);
    if (!a || !b) return;
    CHECK_EQUAL(ask(a, do_read, kip_area).value, L4_KernelMagic);
    CHECK_EQUAL(ask(b, do_read, kip_area).value, L4_KernelMagic);
    remove(a);
    remove(b);
    // which takes longer than all that is measured
    if (!wish.latency) CHECK_EQUAL(cobnut::audit().faults, 0);
}

Word odd_word(Random &random)
{
    switch (random.below(11)) {
    case 0: return 0;
    case 1: return ~0u;
    case 2: return 1u << random.below(32);
    case 3: return random.below(4096);
    case 4: return utcb_areas + random.below(0x30000000);
    case 5: return main_id.raw;
    case 6: return free_area + random.below(0x100000);
    case 7: return utcb_areas - random.below(64);
    case 8: return 0x02000000 * random.below(104) + random.below(128) - 64; // about the ends of slots
    case 9: return kip_area + random.below(8192) - 4096;
    default: return random.next();
    }
}

/// Items of all kinds, with random places.
void load_items(Random &random)
{
    for (int mr = 1; mr < 64; mr += 1 + static_cast<int>(random.below(3))) L4_LoadMR(mr, odd_word(random));
    constexpr Word kinds[] = {0x00, 0x08, 0x0A};
    for (int mr = 1; mr < 20; mr += 2) {
        const Word kind = kinds[random.below(3)] | random.below(2);
        const Word length = random.below(0x3000) << 10 | random.below(4) << 4;
        L4_LoadMR(mr, kind & 8 ? (odd_word(random) & ~0x3FFu) | kind : length | kind);
    }
}

Word do_wild_calls(Word seed, Word calls, Word partner)
{
    Random random(seed);
    const Word me = L4_MyGlobalId().raw, local = L4_MyLocalId().raw;
    for (Word i = 0; i < calls; i++) {
        constexpr Word numbers[] = {0x00, 0x00, 0x00, 0x04, 0x08, 0x0C, 0x10, 0x14, 0x14,
                                    0x18, 0x1C, 0x20, 0x24, 0x28, 0xB4, 0x64, 0x70, 0x74};
        const Word number = numbers[random.below(sizeof numbers / sizeof *numbers)];
        if (number >= 0x70 && number < 0x80) continue; // no such calls without privileges: a fault for ever
        Word r[13];
        for (Word &one : r) one = odd_word(random);
        load_items(random);
        L4_LoadBR(0, odd_word(random));
        for (int br = 1; br < 33; br++) L4_LoadBR(br, odd_word(random));
        L4_Set_XferTimeouts(0x04000400);
        if (number == 0x64) r[0] = utcb_areas + random.below(0x30000000); // no text that anybody would read
        if (number == 0x0C && (r[0] == me || r[0] == local || !r[0])) continue;
        if (number == 0x00 || number == 0x28) {
            if (random.below(2)) r[0] = partner;
            if (r[0] == main_id.raw) r[0] = 0;
            r[1] = random.below(2) ? r[0] : odd_word(random);
            r[2] = (random.below(2) ? 0x04000000u : 0x0C0A0000u) | (random.below(4) ? 0x0400u : 0x0C0Au);
            if (random.below(2)) r[3] = random.below(20) << 6 | random.below(64) | random.below(16) << 12;
        }
        x2test_raw_call(system_calls + number, r);
    }
    return 0;
}

volatile bool partner_ends;

/// Takes whatever comes, into windows and buffers of all kinds.
Word do_take_all(Word seed, Word, Word)
{
    Random random(seed);
    while (!partner_ends) {
        const Word acceptor = (random.below(2) ? free_area | 0x140 : odd_word(random) & ~0xFu) | random.below(2);
        L4_LoadBR(0, acceptor);
        for (int br = 1; br < 33; br += 2) {
            L4_LoadBR(br, random.below(0x3000) << 10 | random.below(2) | random.below(4) << 4);
            L4_LoadBR(br + 1, odd_word(random));
        }
        L4_Set_XferTimeouts(0x04000400);
        L4_ThreadId_t from;
        L4_Wait_Timeout(L4_TimePeriod(2000), &from);
    }
    L4_LoadBR(0, 0);
    return 0;
}

void wild_calls()
{
    for (Word round = 0; round < 3; round++) {
        Agent *a = agent(Kind::other), *b = agent(Kind::other);
        if (!a || !b) return;
        partner_ends = false;
        begin(b, do_take_all, wish.seed + round);
        const Outcome &out = ask(a, do_wild_calls, wish.seed + round, wish.calls / 3, b->id.raw);
        if (!out.done)
            fail("seed %u: %u exceptions, last %u at %08x", wish.seed + round, out.exceptions, out.exception[3],
                 out.exception[1]);
        partner_ends = true;
        remove(a);
        remove(b);
        scratch_reset();
    }
    check_alive();
}

/// What wild code is made of: random words, and often what concerns modes, coprocessors, banks or the kernel's entries.
Word instruction(Random &random)
{
    const Word n = random.next(), registers = n & 0x0FFF;
    const Word condition = random.below(4) ? 0xE0000000 : random.next() & 0xF0000000;
    constexpr Word calls[] = {0x00, 0x04, 0x08, 0x0C, 0x10, 0x14, 0x18, 0x1C, 0x20, 0x24, 0x28, 0xB4, 0xF4, 0x70};
    switch (random.below(24)) {
    case 0: return condition | 0x0F000000 | (n & 0xFFFFFF); // swi
    case 1: return condition | 0x0E100F10 | (n & 0x00EFF0EF); // mrc p15
    case 2: return condition | 0x0E000010 | (n & 0x00FFFFEF); // cdp, mcr, mrc
    case 3: return condition | 0x0C000000 | (n & 0x01FFFFFF); // ldc, stc, mcrr
    case 4: return condition | 0x0129F000 | (n & 0x000F000F); // msr cpsr
    case 5: return condition | 0x0329F000 | (n & 0x004F0FFF); // msr, immediate, of both
    case 6: return condition | 0x08400000 | (n & 0x03BFFFFF); // ldm, stm of user registers, or with a return
    case 7: return condition | 0x04200000 | (n & 0x01CFFFFF); // ldrt, strt
    case 8: return condition | 0x01000090 | (n & 0x004FF00F); // swp
    case 9: return 0xE1200070 | (n & 0x000FFF0F); // bkpt
    case 10: return condition | 0x012FFF20 | (n & 15) | (n >> 8 & 0x10); // bxj, blx
    case 11: return condition | 0x012FFF10 | (n & 15); // bx
    case 12: return 0xFA000000 | (n & 0x01FFFFFF); // blx to Thumb code
    case 13: return condition | 0x03E0F000 | (0xFF - calls[n % (sizeof calls / sizeof *calls)]); // a system call
    case 14: return condition | 0x01B0F000 | (n & 15); // movs pc
    case 15: return condition | 0x000000D0 | (n & 0x01EFFF2F); // ldrd, strd and their like
    case 16: return condition | 0x05900000 | (n & 0x000FFFFF) | (n >> 3 & 0x01700000);
    case 17: return 0xDE00DE00 ^ (n & 0x1FF01FF); // Thumb: undefined, and swi
    case 18: return 0x47004700 | (n & 0xF800F8); // Thumb: bx, blx
    case 19: return condition | 0x0B000000 | (n & 0xFFFFFF);
    case 20: return condition | 0x08900000 | registers | (n & 0x002F0000); // ldmia
    case 21: return condition | 0x08800000 | registers | (n & 0x002F0000); // stmia
    default: return n;
    }
}

/// Somewhere in the code, or where it should not be.
Word place(Random &random)
{
    constexpr Word outside[] = {0,          0xFFFFFFFC, 0xFFFFFFFE,     0xFFFF0000, 0xFFFF0008,      0xFFFFFF04,
                                0xFFFFFF06, 0xFFFFFF74, utcb_areas - 4, utcb_areas, utcb_word,       utcb_word + 0x1000,
                                0xF0010000, 0xFE000000, 0x01FFFFFC,     0x01FFFFFE, kip_area + 4092, kip_area};
    const Word at = random.below(8) ? wild_base + (random.next() & (wild_pages * page_size - 1) & ~1u)
                                    : outside[random.below(sizeof outside / sizeof *outside)];
    return random.below(3) ? at : at | thumb;
}

/// A thread in a space in which nothing is but its UTCB and the interface page; null after fail(). It begins with what
/// makes main its exception handler, and goes to where its stack is then.
Agent *wild_agent(Random &random)
{
    const Word first[] = {
        0xE3A004FF, // mov r0, #0xff000000
        0xE5900000, // ldr r0, [r0]
        0xE59F1004, // ldr r1, [pc, #4]
        0xE500102C, // str r1, [r0, #-44]
        0xE1A0F00D, // mov pc, sp
        main_id.raw,
    };
    for (Word i = 0; i < sizeof first / sizeof *first; i++)
        reinterpret_cast<volatile Word *>(arena_page(0))[i] = first[i];
    Agent *a = create(L4_nilthread, Kind::other);
    if (!a) return nullptr;
    L4_Set_MsgTag(L4_MsgTag_t{.raw = 2});
    L4_LoadMR(1, wild_base);
    L4_LoadMR(2, place(random));
    if (L4_IpcSucceeded(L4_Send_Timeout(a->id, second))) return a;
    fail("no start");
    return nullptr;
}

/// Code that is random runs by itself, and gets one of its four pages wherever it reaches for one: so they are at many
/// addresses. An exception is answered with another place and other flags; a thread that makes no progress is deleted.
void wild_instructions()
{
    Random random(wish.seed);
    Word faults = 0, exceptions = 0;
    for (Word at = 0; at < wild_pages * page_size; at += 4)
        *reinterpret_cast<volatile Word *>(arena_page(0) + at) = instruction(random);
    Agent *a = nullptr;
    for (Word step = 0; step < wish.calls; step++) {
        if (!a && !(a = wild_agent(random))) return;
        const L4_MsgTag_t tag = L4_Receive_Timeout(a->id, L4_TimePeriod(2000));
        Word mr[3] = {};
        L4_StoreMRs(0, 3, mr);
        const bool fault = L4_Label(tag) >> 4 == 0xFFE, exception = L4_Label(tag) == 0xFFB0;
        if (L4_IpcFailed(tag) || !(fault || exception) || (fault && mr[1] >= machine::kernel_area) ||
            random.below(64) == 0) {
            remove(a);
            a = nullptr;
        } else if (fault) {
            const Word n = random.below(4) ? mr[1] / page_size % wild_pages : random.below(wild_pages);
            cobnut::load_answer(L4_MapItem(page_at(arena_page(n), L4_FullyAccessible), mr[1] & ~(page_size - 1)));
            L4_Reply(a->id);
            faults++;
        } else {
            L4_Set_MsgTag(L4_MsgTag_t{.raw = 1 + random.below(13)}); // an answer of any length
            L4_LoadMR(1, random.below(4) ? mr[1] + 4 : place(random));
            for (int i = 2; i < 14; i++) L4_LoadMR(i, random.below(2) ? place(random) : odd_word(random));
            L4_Reply(a->id);
            exceptions++;
        }
    }
    if (a) remove(a);
    CHECK(faults > wish.calls / 20 && exceptions > wish.calls / 20);

    check_alive();
}

/// MemoryControl is done as an Unmap is, but leaves the registers alone in which that returns its fpages.
void memory_control_keeps_registers()
{
    L4_LoadMR(0, page_at(arena_page(0), 0).raw);
    for (int i = 1; i < 5; i++) L4_LoadMR(i, ~0u);
    L4_Registers_t r = {{0, 0, 0, 0, 0, 5, 6, 7}};
    __L4_Call_Stub(L4_KIP_MEMORY_CONTROL, &r);
    CHECK_EQUAL(r.r[0], 1);
    for (Word i = 1; i < 8; i++) CHECK_EQUAL(r.r[i], i < 5 ? 0 : i);
}

} // namespace

const Test robust_tests[] = {
    {"robust.wild_calls", wild_calls},
    {"robust.wild_instructions", wild_instructions},
    {"robust.memory_control_keeps_registers", memory_control_keeps_registers},
    {nullptr, nullptr},
};

} // namespace x2test
