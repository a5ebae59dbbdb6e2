// SPDX-License-Identifier: BSD-2-Clause
// MemoryControl and ProcessorControl (manual 6.3, 6.4): privilege first, then parameters; what they leave as it was.
#include "../harness.h"

#include <initializer_list>
#include <l4/misc.h>

namespace x2test {
namespace {

constexpr Word unchanged = ~0u;

/// The page attribute table: bit 16 of cpuid leaf 1.
bool have_pat()
{
    Word flags, changed;
    __asm__("pushf; pop %0; mov %0, %1; xor $0x200000, %1; push %1; popf; pushf; pop %1"
            : "=&r"(flags), "=&r"(changed));
    if (!((flags ^ changed) & 0x200000)) return false;
    Word a = 1, b, c, d;
    __asm__("cpuid" : "+a"(a), "=b"(b), "=c"(c), "=d"(d));
    return d & 1u << 16;
}

Word do_memory_control(Word attribute, Word, Word)
{
    return L4_Set_PageAttribute(page_at(arena_page(0), 0), attribute);
}
Word do_processor_control(Word cpu, Word, Word) { return L4_ProcessorControl(cpu, unchanged, unchanged, unchanged); }

void unprivileged()
{
    Agent *a = agent(Kind::other);
    if (!a) return;
    for (const Word attribute : {L4_WriteBackMemory, 7u}) { // a bad attribute is looked at later
        CHECK_EQUAL(ask(a, do_memory_control, attribute).value, 0);
        CHECK_EQUAL(a->out.error, 1);
    }
    for (const Word cpu : {0u, 99u}) {
        CHECK_EQUAL(ask(a, do_processor_control, cpu).value, 0);
        CHECK_EQUAL(a->out.error, 1);
    }
}

void supported_attributes()
{
    Agent *a = agent(Kind::large), *b = agent(Kind::small);
    if (!a || !b) return;
    const bool pat = have_pat();
    const struct {
        Word attribute;
        bool supported;
    } cases[] = {{L4_UncacheableMemory, true},
                 {L4_WriteThroughMemory, true},
                 {3, true},
                 {L4_WriteCombiningMemory, pat},
                 {L4_WriteProtectedMemory, pat},
                 {6, false},
                 {7, false},
                 {9, false},
                 {~0u, false},
                 {L4_WriteBackMemory, true},
                 {L4_DefaultMemory, true}};
    give_page(a, 0, free_area, L4_FullyAccessible);
    give_page(b, 0, free_area, L4_FullyAccessible);
    for (const auto &c : cases) {
        CHECK_EQUAL(do_memory_control(c.attribute, 0, 0), c.supported);
        if (!c.supported) CHECK_EQUAL(L4_ErrorCode(), 5);
        // The memory is the same, for all who have it; a write-protected page is not one that may not be written.
        arena_word(0) = 0xCAC0E000 + c.attribute;
        CHECK_EQUAL(ask(a, do_read, free_area).value, 0xCAC0E000 + c.attribute);
        CHECK_EQUAL(ask(b, do_write, free_area, c.attribute).faults, 0);
        CHECK_EQUAL(arena_word(0), c.attribute);
    }
}

/// Each fpage chooses; what none chooses may be anything. Nilpage is a no-op, whatever it chooses.
void several_fpages()
{
    const Word attributes[4] = {L4_UncacheableMemory, 7, L4_DefaultMemory, 99};
    L4_Fpage_t fpages[3] = {page_at(arena_page(0), 0), L4_Nilpage, page_at(arena_page(1), 2)};
    CHECK_EQUAL(L4_Set_PagesAttributes(3, fpages, attributes), 1);
    fpages[2].raw |= 3;
    CHECK_EQUAL(L4_Set_PagesAttributes(3, fpages, attributes), 0);
    CHECK_EQUAL(L4_ErrorCode(), 5);
    for (int mr = 0; mr < L4_NumMRs; mr++) L4_LoadMR(mr, 0);
    CHECK_EQUAL(L4_MemoryControl(64, attributes), 0);
    CHECK_EQUAL(L4_ErrorCode(), 5);
    const L4_Fpage_t whole = L4_CompleteAddressSpace;
    const Word defaults[4] = {};
    CHECK_EQUAL(L4_Set_PagesAttributes(1, &whole, defaults), 1);
}

/// Neither frequency nor voltage can be set here; to leave all as they are is no error.
void processor()
{
    CHECK_EQUAL(L4_ProcessorControl(0, unchanged, unchanged, unchanged), 1);
    const Word bad[][4] = {{1, unchanged, unchanged, unchanged},
                           {0, 100000, unchanged, unchanged},
                           {0, unchanged, 100000, unchanged},
                           {0, unchanged, unchanged, 0}};
    for (const auto &b : bad) {
        CHECK_EQUAL(L4_ProcessorControl(b[0], b[1], b[2], b[3]), 0);
        CHECK_EQUAL(L4_ErrorCode(), 5);
    }
}

} // namespace

const Test control_tests[] = {
    {"control.unprivileged", unprivileged},
    {"control.supported_attributes", supported_attributes},
    {"control.several_fpages", several_fpages},
    {"control.processor", processor},
    {nullptr, nullptr},
};

} // namespace x2test
