// SPDX-License-Identifier: BSD-2-Clause
// Tags: domains and PID slots (docs/tags-arm.md). Programs see nothing of them but SpaceControl's word; these tests
// look for what shows when something is wrong, and hold for the standard kernel, too, where it has the same.
#include "../harness.h"
#include "../strings.h"

#include <l4/sigma0.h>

extern "C" {
using x2test::Word;
Word x2test_open_domains(Word, Word, Word);
Word x2test_move_slot(Word, Word, Word);
Word x2test_flush_tlb(Word, Word, Word);
Word x2test_store_two(Word address, Word, Word);
}

__asm__(".text\n"
        ".globl x2test_open_domains, x2test_move_slot, x2test_flush_tlb, x2test_store_two\n"
        "x2test_open_domains: mvn r0, #0\n"
        "mcr p15, 0, r0, c3, c0, 0\n"
        "mov pc, lr\n"
        "x2test_move_slot: mov r0, #0x04000000\n"
        "mcr p15, 0, r0, c13, c0, 0\n"
        "mov pc, lr\n"
        "x2test_flush_tlb: mcr p15, 0, r0, c8, c7, 0\n"
        "mov pc, lr\n"
        // The first word at `address` goes with one instruction, and the one before it.
        "x2test_store_two: stmdb sp!, {r4, r5, lr}\n"
        "sub r0, r0, #4; mov r4, r1; mov r5, r2\n"
        "stmia r0, {r4, r5}\n"
        "ldmia sp!, {r4, r5, pc}\n");

namespace x2test {
namespace {

constexpr Word mb = 1u << 20, change = 1u << 31, slot_mask = 0x7F, slot_bytes = 32 * mb;
constexpr Word everywhere = 0x40000000; // not relocated, and in no program's image

/// The word that SpaceControl returns.
Word control_of(const Agent *a, Word control = 0)
{
    Word word = 0;
    if (!L4_SpaceControl(a->id, control, L4_Nilpage, L4_Nilpage, L4_nilthread, &word))
        fail("SpaceControl: error %x", L4_ErrorCode());
    return word;
}
Word slot_of(const Agent *a) { return control_of(a) & slot_mask; }
/// Without tags, SpaceControl's word has nothing to change.
bool tagged()
{
    Agent *a = agent(Kind::other);
    const bool is = a && slot_of(a);
    if (a) remove(a);
    return is;
}

void give_at(Agent *a, Word n, Word address) { give_page(a, n, address, L4_FullyAccessible); }
Word read(Agent *a, Word address) { return ask(a, do_read, address).value; }

/// Many spaces have different pages at the same address, more than there are domains; each sees its own, in any order.
void many_at(Word address)
{
    constexpr unsigned most = 20;
    Agent *agents[most];
    for (unsigned i = 0; i < most; i++) {
        agents[i] = agent(Kind::other);
        if (!agents[i]) return;
        // A page for two: a word each.
        give_at(agents[i], i / 2, address);
        ask(agents[i], do_write, address + i % 2 * 64, 0xA0000000 + i);
    }
    Random random(wish.seed);
    Word written[most] = {};
    for (unsigned i = 0; i < most; i++) written[i] = 0xA0000000 + i;
    for (unsigned round = 0; round < 300; round++) {
        const unsigned i = random.below(most);
        CHECK_EQUAL(read(agents[i], address + i % 2 * 64), written[i]);
        written[i] = random.next();
        ask(agents[i], do_write, address + i % 2 * 64, written[i]);
        CHECK_EQUAL(agents[i]->out.faults, 0);
    }
    for (unsigned i = 0; i < most; i += 2) CHECK_EQUAL(arena_word(i / 2), written[i]);
}
void many_at_a_relocated_address() { many_at(free_area); }
void many_at_an_address_that_is_not() { many_at(everywhere); }

/// Every space has a slot of its own, the lowest that is free, and a new one gets that of one that is gone.
void slots_are_chosen()
{
    if (!tagged()) return;
    Agent *a = agent(Kind::other), *b = agent(Kind::other);
    if (!a || !b) return;
    const Word first = slot_of(a), second = slot_of(b);
    CHECK(first && second && first != second);
    give_at(a, 0, free_area);
    ask(a, do_write, free_area, 0x01D);
    remove(a);
    Agent *c = agent(Kind::other);
    if (!c) return;
    CHECK_EQUAL(slot_of(c), first);
    CHECK(faults_on_read(c, free_area));
}

/// sigma0, which has everything one to one, is not moved: what it gets in its slot later would be where its memory is.
void sigma0_is_not_moved()
{
    constexpr Word slot_of_devices = 8;
    const L4_ThreadId_t sigma0 = L4_GlobalId(L4_ThreadIdUserBase(L4_GetKernelInterface()), 1);
    Word word = 0;
    CHECK(L4_SpaceControl(sigma0, change | slot_of_devices, L4_Nilpage, L4_Nilpage, L4_nilthread, &word));
    CHECK_EQUAL(word, 0);
    CHECK(!L4_IsNilFpage(L4_Sigma0_GetPage(sigma0, L4_FpageLog2(0x10200000, 12)))); // a device, or nothing at all
    CHECK(!L4_IsNilFpage(L4_Sigma0_GetAny(sigma0, 12, L4_CompleteAddressSpace)));
}

/// A slot by wish: the memory is where it was; one in use is refused, none is always there.
void slots_by_wish()
{
    if (!tagged()) return;
    Agent *a = agent(Kind::other), *b = agent(Kind::other);
    if (!a || !b) return;
    give_at(a, 0, free_area);
    ask(a, do_write, free_area, 0x5107);
    CHECK_EQUAL(control_of(a, change | slot_of(b)), slot_of(a)); // not done
    constexpr Word wanted[] = {60, 7, 0, 41};
    for (const Word slot : wanted) {
        CHECK_EQUAL(control_of(a, change | slot), change | slot);
        CHECK_EQUAL(slot_of(a), slot);
        CHECK_EQUAL(read(a, free_area), 0x5107);
        ask(a, do_write, free_area + 4, slot);
        CHECK_EQUAL(read(a, free_area + 4), slot);
    }
    CHECK_EQUAL(control_of(a, change | 127), 41);
    CHECK_EQUAL(ask(a, do_read, free_area).faults, 0);
}

/// Another space's slot is an address like any other.
void other_slots_are_out_of_reach()
{
    if (!tagged()) return;
    Agent *a = agent(Kind::other), *b = agent(Kind::other);
    if (!a || !b) return;
    give_at(b, 0, free_area);
    ask(b, do_write, free_area, 0x5EC2E7);
    const Word there = slot_of(b) * slot_bytes + free_area;
    for (int i = 0; i < 2; i++) {
        const Outcome &out = ask(a, do_read, there);
        CHECK_EQUAL(out.fault_address, there);
        CHECK(out.value != 0x5EC2E7);
        scratch_reset();
        CHECK(faults_on_write(a, there));
        CHECK_EQUAL(read(b, free_area), 0x5EC2E7);
    }
    // With a page of its own there, both keep what they have.
    give_at(a, 1, there);
    ask(a, do_write, there, 0xA);
    CHECK_EQUAL(read(b, free_area), 0x5EC2E7);
    CHECK_EQUAL(read(a, there), 0xA);
    CHECK_EQUAL(arena_word(1), 0xA);
}

/// The addresses of a space's own slot are other names of its lower ones, and faults there are reported by these.
void own_slot_is_another_name()
{
    if (!tagged()) return;
    Agent *a = agent(Kind::other);
    if (!a) return;
    const Word there = slot_of(a) * slot_bytes + free_area;
    CHECK_EQUAL(ask(a, do_read, there).fault_address, free_area);
    scratch_reset();
    give_at(a, 0, free_area);
    ask(a, do_write, free_area, 0x1111);
    CHECK_EQUAL(read(a, there), 0x1111);
}

/// A space that gets a page in its own slot is moved, and has both.
void mapping_into_the_own_slot()
{
    if (!tagged()) return;
    Agent *a = agent(Kind::other);
    if (!a) return;
    give_at(a, 0, free_area);
    ask(a, do_write, free_area, 0xB07);
    const Word before = slot_of(a), there = before * slot_bytes + free_area;
    give_at(a, 1, there);
    CHECK(slot_of(a) != before);
    ask(a, do_write, there, 0xB08);
    CHECK_EQUAL(read(a, free_area), 0xB07);
    CHECK_EQUAL(read(a, there), 0xB08);
    CHECK_EQUAL(a->out.faults, 0);
}

/// Domain access, process id and TLB are the kernel's.
void registers_are_the_kernels()
{
    constexpr Function functions[] = {x2test_open_domains, x2test_move_slot, x2test_flush_tlb};
    for (const Function f : functions) {
        Agent *a = agent(Kind::other);
        if (!a) return;
        begin(a, f);
        finish(a, true);
        CHECK_EQUAL(a->out.exceptions, 1);
        CHECK_EQUAL(a->out.exception[4], 1);
        remove(a);
    }
}

/// A megabyte at once: nothing of it can be used any more, by spaces that got it from here and by those that got it
/// from them.
void revoked_megabyte()
{
    constexpr Word at = 5 * mb, high = everywhere;
    Agent *a = agent(Kind::other), *b = agent(Kind::other);
    if (!a || !b) return;
    const L4_Fpage_t whole = L4_FpageLog2(reinterpret_cast<Word>(arena), 16);
    const Word offset = reinterpret_cast<Word>(arena) & (mb - 1);
    give(a, whole + L4_FullyAccessible, 0, L4_FpageLog2(at + offset, 16));
    for (Word i = 0; i < arena_pages; i++) ask(a, do_write, at + offset + i * page_size, 0xDE0 + i);
    CHECK(pass(a, b, L4_FpageLog2(at, 20) + L4_FullyAccessible, 0, L4_FpageLog2(high, 20)));
    for (Word i = 0; i < arena_pages; i++) CHECK_EQUAL(read(b, high + offset + i * page_size), 0xDE0 + i);
    ask(b, do_write, high + offset, 0xB);
    CHECK_EQUAL(read(a, at + offset), 0xB);
    ask(a, do_flush, (L4_FpageLog2(at, 20) + L4_FullyAccessible).raw, 0x40);
    for (Word i = 0; i < arena_pages; i++) {
        CHECK(faults_on_write(a, at + offset + i * page_size));
        CHECK(faults_on_read(b, high + offset + i * page_size));
        CHECK_EQUAL(arena_word(i), i ? 0xDE0 + i : 0xB);
    }
}

/// The same pages at the same address in several spaces: what one writes the others read, whichever came first, and
/// each can lose them alone or get something else there.
void shared_megabyte()
{
    constexpr unsigned most = 5;
    constexpr Word shared_pages = 4;
    Agent *agents[most];
    for (unsigned i = 0; i < most; i++) {
        agents[i] = agent(Kind::other);
        if (!agents[i]) return;
        for (Word n = 0; n < shared_pages; n++) give_at(agents[i], n, everywhere + n * page_size);
    }
    for (Word round = 1; round < 20; round++) {
        const Word at = everywhere + round % shared_pages * page_size + 4 * round;
        ask(agents[round % most], do_write, at, 0x5A000000 + round);
        for (unsigned i = 0; i < most; i++) CHECK_EQUAL(read(agents[i], at), 0x5A000000 + round);
    }
    // One has fewer, one has another page, and one is gone.
    ask(agents[0], do_flush, page_at(everywhere, L4_FullyAccessible).raw, 0x40);
    give_at(agents[1], 9, everywhere + page_size);
    ask(agents[1], do_write, everywhere + page_size, 0x1D);
    remove(agents[2]);
    for (int i = 0; i < 3; i++) {
        CHECK(faults_on_read(agents[0], everywhere));
        CHECK_EQUAL(read(agents[1], everywhere + page_size), 0x1D);
        ask(agents[3], do_write, everywhere + page_size, 0x300 + i);
        CHECK_EQUAL(read(agents[4], everywhere + page_size), 0x300 + i);
        CHECK_EQUAL(read(agents[0], everywhere + page_size), 0x300 + i);
    }
    CHECK_EQUAL(arena_word(9), 0x1D);
    // All lose them at once.
    L4_Unmap(L4_FpageLog2(reinterpret_cast<Word>(arena), 16) + L4_FullyAccessible);
    for (unsigned i = 0; i < most; i++) CHECK(i == 2 || faults_on_read(agents[i], everywhere + 2 * page_size));
}

/// One frame at two addresses, in two spaces and in one: a read sees what was written last.
void aliases_between_spaces()
{
    Agent *a = agent(Kind::other), *b = agent(Kind::other), *c = agent(Kind::other);
    if (!a || !b || !c) return;
    give_at(a, 0, free_area);
    give_at(b, 0, free_area + 3 * page_size);
    give_page(c, 0, everywhere, L4_Readable);
    for (Word i = 1; i < 20; i++) {
        ask(i % 2 ? a : b, do_write, i % 2 ? free_area : free_area + 3 * page_size, i);
        CHECK_EQUAL(read(c, everywhere), i);
        CHECK_EQUAL(read(b, free_area + 3 * page_size), i);
        CHECK_EQUAL(arena_word(0), i);
        arena_word(0) = 100 + i;
        CHECK_EQUAL(read(a, free_area), 100 + i);
    }
    CHECK(faults_on_write(c, everywhere));
}
void aliases_in_one_space()
{
    Agent *a = agent(Kind::other);
    if (!a) return;
    // Next to each other, so that one instruction writes to both.
    give_at(a, 0, free_area);
    give_at(a, 0, free_area + page_size);
    for (Word i = 1; i < 10; i++) {
        ask(a, x2test_store_two, free_area + page_size, i, 50 + i);
        CHECK_EQUAL(read(a, free_area), 50 + i);
        CHECK_EQUAL(read(a, free_area + page_size), 50 + i);
        CHECK_EQUAL(read(a, free_area + 2 * page_size - 4), i);
        CHECK_EQUAL(arena_word(0), 50 + i);
        ask(a, do_write, free_area, i);
        CHECK_EQUAL(read(a, free_area + page_size), i);
    }
}

/// The UTCB of a space is out of others' reach, whether that has a domain or not.
void utcbs_of_others()
{
    Agent *a = agent(Kind::other), *b = agent(Kind::other);
    if (!a || !b) return;
    begin(a, do_read, b->utcb);
    const Outcome &out = finish(a, true);
    CHECK_EQUAL(out.fault_address, b->utcb);
    CHECK(!out.done);
}

/// Code that a program has written is what it executes, once it has asked for the page's status. A sanitizer sees more
/// of it.
void written_code()
{
    alignas(page_size) static volatile Word code[page_size / sizeof(Word)];
    const auto call = reinterpret_cast<Word (*)()>(reinterpret_cast<Word>(code));
    for (Word value = 1; value < 5; value++) {
        code[0] = 0xE3A00000 | value; // mov r0, #value
        code[1] = 0xE1A0F00E; // mov pc, lr
        L4_GetStatus(L4_FpageLog2(reinterpret_cast<Word>(code), 12));
        CHECK_EQUAL(call(), value);
    }
}

/// Two spaces have a page at one place after relocation, which one of them is moved away from: from then on only one
/// may write to it.
void moved_away_from_a_neighbour()
{
    if (!tagged()) return;
    Agent *a = agent(Kind::other), *b = agent(Kind::other);
    if (!a || !b) return;
    const Word there = slot_of(a) * slot_bytes + free_area;
    give_at(a, 0, free_area);
    give_at(b, 0, there);
    ask(a, do_write, free_area, 1);
    ask(b, do_write, there, 2);
    CHECK_EQUAL(control_of(a, change | 57), change | 57);
    for (Word i = 3; i < 6; i++) {
        ask(a, do_write, free_area, i);
        CHECK_EQUAL(read(b, there), i);
        ask(b, do_write, there, ~i);
        CHECK_EQUAL(read(a, free_area), ~i);
    }
}

/// A space that is moved away and back, while at the place in between another one has its page: never may both write to
/// it.
void moved_away_and_back()
{
    if (!tagged()) return;
    constexpr Word away = 57, there = away * slot_bytes + free_area;
    Agent *a = agent(Kind::other), *b = agent(Kind::other);
    if (!a || !b) return;
    const Word home = slot_of(a);
    give_at(a, 0, free_area);
    give_at(b, 0, there);
    ask(a, do_write, free_area, 1);
    CHECK_EQUAL(control_of(a, change | away), change | away);
    ask(b, do_write, there, 2);
    CHECK_EQUAL(control_of(a, change | home), change | home);
    for (Word i = 3; i < 6; i++) {
        ask(a, do_write, free_area, i);
        CHECK_EQUAL(read(b, there), i);
        ask(b, do_write, there, ~i);
        CHECK_EQUAL(read(a, free_area), ~i);
    }
}

/// A space is moved to where another one has the same pages, and shares them there. What it could write to where it was
/// before is written to there by a third one.
void moved_to_an_equal()
{
    if (!tagged()) return;
    constexpr Word low = 16 * mb;
    Agent *a = agent(Kind::other), *equal = agent(Kind::other), *c = agent(Kind::other);
    if (!a || !equal || !c) return;
    const Word before = slot_of(a) * slot_bytes + low;
    CHECK_EQUAL(control_of(equal, change), change);
    for (Word n = 0; n < 2; n++) {
        give_at(a, n, low + n * page_size);
        give_at(equal, n, low + n * page_size);
    }
    give_at(c, 0, before);
    ask(a, do_write, low, 1);
    ask(c, do_write, before, 2);
    read(equal, low + page_size);
    CHECK_EQUAL(control_of(a, change), change);
    for (Word i = 3; i < 6; i++) {
        ask(c, do_write, before, ~i);
        CHECK_EQUAL(read(a, low), ~i);
        ask(a, do_write, low, i);
        CHECK_EQUAL(read(equal, low), i);
        CHECK_EQUAL(read(c, before), i);
    }
}

/// A space waits to send a page, and is moved; a space that has that page where the first was before writes to it:
/// that is what is sent.
void copy_from_a_moved_space()
{
    if (!tagged()) return;
    Agent *sender = agent(Kind::other), *neighbour = agent(Kind::other), *receiver = agent(Kind::other);
    if (!sender || !neighbour || !receiver) return;
    constexpr Word bytes = 64;
    const Word there = slot_of(sender) * slot_bytes + free_area;
    give_at(sender, 0, free_area);
    give_at(neighbour, 0, there);
    ask(sender, do_write, free_area, 0x01D);
    ask(neighbour, do_write, there, 0x01E);
    strings::clear();
    strings::send(free_area, bytes);
    strings::accept(strings::target(), bytes);
    begin(sender, strings::do_send, receiver->id.raw, second.raw);
    pause(2000);
    CHECK_EQUAL(control_of(sender, change | 57), change | 57);
    ask(neighbour, do_write, there, 0x2E3);
    begin(receiver, strings::do_receive, sender->id.raw, second.raw);
    strings::wait(sender, receiver);
    CHECK(strings::arrived());
    CHECK_EQUAL(*reinterpret_cast<volatile Word *>(strings::target()), 0x2E3);
}

/// A space with more megabytes than its domain can stand in runs an instruction that needs two of them at once, and its
/// own.
void more_megabytes_than_fit()
{
    constexpr Word megabytes = 100, between = everywhere + (2 * megabytes + 1) * mb;
    Agent *a = agent(Kind::other);
    if (!a) return;
    for (Word i = 0; i < megabytes; i++) give_at(a, i % 4, everywhere + 2 * i * mb);
    give_at(a, 8, between - page_size);
    give_at(a, 9, between);
    for (Word round = 0; round < 3; round++) {
        for (Word i = 0; i < megabytes; i++) {
            ask(a, do_write, everywhere + 2 * i * mb, i);
            CHECK_EQUAL(a->out.faults, 0);
        }
        ask(a, x2test_store_two, between, 0xA0 + round, 0xB0 + round);
        CHECK_EQUAL(arena_word(8 + 1), 0xB0 + round);
        CHECK_EQUAL(*reinterpret_cast<volatile Word *>(arena_page(9) - sizeof(Word)), 0xA0 + round);
    }
}

/// A page at more addresses than may have been granted it at a time, in one space and in many: all see what one writes.
void more_sharers_than_fit()
{
    constexpr Word here = 12, elsewhere = 16;
    Agent *a = agent(Kind::other), *others[elsewhere];
    if (!a) return;
    for (Word i = 0; i < here; i++) give_at(a, 0, everywhere + i * mb);
    for (Word i = 0; i < elsewhere; i++) {
        if (!(others[i] = agent(Kind::other))) return;
        give_at(others[i], 0, everywhere + i * page_size);
    }
    Random random(wish.seed);
    for (Word round = 0; round < 40; round++) {
        for (Word i = 0; i < elsewhere; i++) CHECK_EQUAL(read(others[i], everywhere + i * page_size), arena_word(0));
        for (Word i = 0; i < here; i += 1 + round % 4) CHECK_EQUAL(read(a, everywhere + i * mb), arena_word(0));
        const Word value = random.next(), who = random.below(elsewhere + here);
        if (who < elsewhere) ask(others[who], do_write, everywhere + who * page_size, value);
        else ask(a, do_write, everywhere + (who - elsewhere) * mb, value);
        CHECK_EQUAL(read(others[round % elsewhere], everywhere + round % elsewhere * page_size), value);
    }
}

/// Several megabytes that two spaces share, not used for long: they lose their domains at one time.
void shared_megabytes_go_together()
{
    constexpr unsigned megabytes = 4, most = 20;
    Agent *sharers[2], *others[most];
    for (Agent *&one : sharers) {
        if (!(one = agent(Kind::other))) return;
        for (Word i = 0; i < megabytes; i++) give_at(one, i, everywhere + i * mb);
    }
    for (Agent *&one : others) {
        if (!(one = agent(Kind::other))) return;
        give_at(one, megabytes, free_area);
    }
    for (Word round = 1; round < 12; round++) {
        for (Word i = 0; i < megabytes; i++) {
            ask(sharers[round % 2], do_write, everywhere + i * mb, round << 8 | i);
            CHECK_EQUAL(read(sharers[(round + 1) % 2], everywhere + i * mb), round << 8 | i);
        }
        for (unsigned i = 0; i < most - round; i++) CHECK_EQUAL(read(others[i], free_area), arena_word(megabytes));
    }
}

/// One page at two places of a megabyte that many spaces share; they run instructions that need both.
void shared_places()
{
    constexpr unsigned most = 12;
    Agent *agents[most], *c = agent(Kind::other);
    if (!c) return;
    give_at(c, 0, everywhere + mb);
    for (Agent *&one : agents) {
        if (!(one = agent(Kind::other))) return;
        give_at(one, 0, everywhere);
        give_at(one, 0, everywhere + page_size);
        read(one, everywhere);
    }
    for (Word i = 1; i < 3 * most; i++) {
        ask(agents[i % most], x2test_store_two, everywhere + page_size, i, 50 + i);
        CHECK_EQUAL(agents[i % most]->out.faults, 0);
        CHECK_EQUAL(read(agents[(i + 1) % most], everywhere + page_size), 50 + i);
        CHECK_EQUAL(read(agents[(i + 2) % most], everywhere + page_size - 4), i);
        CHECK_EQUAL(read(c, everywhere + mb), 50 + i);
        ask(c, do_write, everywhere + mb, i);
        CHECK_EQUAL(read(agents[(i + 3) % most], everywhere), i);
    }
}

} // namespace

const Test tag_tests[] = {
    {"domains.many_at_a_relocated_address", many_at_a_relocated_address},
    {"domains.many_at_an_address_that_is_not", many_at_an_address_that_is_not},
    {"domains.slots_are_chosen", slots_are_chosen},
    {"domains.slots_by_wish", slots_by_wish},
    {"domains.sigma0_is_not_moved", sigma0_is_not_moved},
    {"domains.other_slots_are_out_of_reach", other_slots_are_out_of_reach},
    {"domains.own_slot_is_another_name", own_slot_is_another_name},
    {"domains.mapping_into_the_own_slot", mapping_into_the_own_slot},
    {"domains.registers_are_the_kernels", registers_are_the_kernels},
    {"domains.revoked_megabyte", revoked_megabyte},
    {"domains.shared_megabyte", shared_megabyte},
    {"domains.aliases_between_spaces", aliases_between_spaces},
    {"domains.aliases_in_one_space", aliases_in_one_space},
    {"domains.utcbs_of_others", utcbs_of_others},
    {"domains.written_code", written_code},
    {"domains.moved_away_from_a_neighbour", moved_away_from_a_neighbour},
    {"domains.moved_away_and_back", moved_away_and_back},
    {"domains.moved_to_an_equal", moved_to_an_equal},
    {"domains.copy_from_a_moved_space", copy_from_a_moved_space},
    {"domains.more_megabytes_than_fit", more_megabytes_than_fit},
    {"domains.more_sharers_than_fit", more_sharers_than_fit},
    {"domains.shared_megabytes_go_together", shared_megabytes_go_together},
    {"domains.shared_places", shared_places},
    {nullptr, nullptr},
};

} // namespace x2test
