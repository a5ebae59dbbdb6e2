// SPDX-License-Identifier: BSD-2-Clause
// SpaceControl's errors (manual 4.3). Small spaces have a file of their own.
#include "harness.h"

#include <l4/misc.h>

namespace x2test {
namespace {

void *const unchanged = reinterpret_cast<void *>(-1);

Word space_control(L4_ThreadId_t space, L4_Fpage_t kip, L4_Fpage_t utcb)
{
    Word old = 0;
    return L4_SpaceControl(space, 0, kip, utcb, L4_nilthread, &old) ? 0 : L4_ErrorCode();
}
const L4_Fpage_t good_kip = {.raw = kip_area | 12 << 4}, good_utcb = {.raw = utcb_area | 14 << 4};

Word do_space_control(Word space, Word, Word)
{
    return space_control(L4_ThreadId_t{.raw = space}, good_kip, good_utcb);
}
void unprivileged()
{
    Agent *a = agent(Kind::other);
    if (!a) return;
    CHECK_EQUAL(ask(a, do_space_control, a->id.raw).value, L4_ErrNoPrivilege);
}

void no_such_space()
{
    CHECK_EQUAL(space_control(L4_nilthread, good_kip, good_utcb), L4_ErrInvalidSpace);
    CHECK_EQUAL(space_control(unused_id(), good_kip, good_utcb), L4_ErrInvalidSpace);
    CHECK_EQUAL(space_control(L4_MyLocalId(), good_kip, good_utcb), L4_ErrInvalidSpace);
    CHECK_EQUAL(space_control(L4_GlobalId(L4_ThreadNo(main_id), 2), good_kip, good_utcb), L4_ErrInvalidSpace);
}

/// In a new space without an active thread.
void bad_areas()
{
    const L4_ThreadId_t id = unused_id();
    CHECK(L4_ThreadControl(id, id, main_id, L4_nilthread, unchanged));
    const struct {
        L4_Fpage_t kip, utcb;
        Word error;
    } rows[] = {
        {good_kip, L4_FpageLog2(utcb_area, 11), L4_ErrUtcbArea},           // too small
        {good_kip, L4_FpageLog2(0xF0000000, 14), L4_ErrUtcbArea},          // the kernel's
        {good_kip, L4_FpageLog2(0x80000000, 31), L4_ErrUtcbArea},
        {L4_FpageLog2(kip_area, 11), good_utcb, L4_ErrKipArea},            // too small
        {L4_FpageLog2(0xF0100000, 12), good_utcb, L4_ErrKipArea},
        {L4_FpageLog2(utcb_area + 0x1000, 12), good_utcb, L4_ErrKipArea},  // overlapping
        {L4_FpageLog2(utcb_area & ~0xFFFFFu, 20), good_utcb, L4_ErrKipArea},
    };
    for (const auto &row : rows) {
        const Word error = space_control(id, row.kip, row.utcb);
        if (error != row.error) {
            fail("kip %08x utcb %08x: error %u, not %u", row.kip.raw, row.utcb.raw, error, row.error);
            break;
        }
    }
    const Word good = space_control(id, good_kip, good_utcb);
    L4_ThreadControl(id, L4_nilthread, L4_nilthread, L4_nilthread, unchanged);
    CHECK_EQUAL(good, 0);
}

/// Once a thread is active the areas are fixed, and Nilpage or anything else is ignored.
void areas_are_fixed()
{
    Agent *a = agent(Kind::other);
    if (!a) return;
    CHECK_EQUAL(space_control(a->id, L4_Nilpage, L4_Nilpage), 0);
    CHECK_EQUAL(space_control(a->id, L4_FpageLog2(0xF0000000, 3), L4_FpageLog2(1, 2)), 0);
    CHECK_EQUAL(ask(a, do_read, kip_area).value, L4_KernelMagic);
    CHECK_EQUAL(ask(a, do_nothing).value, 0);
}

void old_control_on_failure()
{
    Word old = 0x55555555;
    CHECK_EQUAL(L4_SpaceControl(unused_id(), 0, L4_Nilpage, L4_Nilpage, L4_nilthread, &old), 0);
    CHECK_EQUAL(old, 0);
}

/// What one space has at an address, another has not.
void spaces_are_separate()
{
    Agent *a = agent(Kind::other), *b = agent(Kind::other);
    if (!a || !b) return;
    arena_word(0) = 0xA;
    arena_word(1) = 0xB;
    give_page(a, 0, free_area, L4_FullyAccessible);
    give_page(b, 1, free_area, L4_FullyAccessible);
    for (int i = 0; i < 4; i++) {
        CHECK_EQUAL(ask(a, do_read, free_area).value, 0xA);
        CHECK_EQUAL(ask(b, do_read, free_area).value, 0xB);
    }
    give_page(a, 2, free_area + page_size, L4_FullyAccessible);
    CHECK(faults_on_read(b, free_area + page_size));
}

Word do_read_kernel_byte(Word address, Word, Word) { return *reinterpret_cast<volatile unsigned char *>(address); }
/// The kernel's memory is out of reach; the attempt is a fault.
void kernel_is_protected()
{
    constexpr Word addresses[] = {0xF0100000, 0xFFFFF000};
    for (const Word address : addresses) {
        Agent *a = agent(Kind::large);
        if (!a) return;
        begin(a, do_read_kernel_byte, address);
        L4_ThreadId_t from;
        const L4_MsgTag_t tag = L4_Wait_Timeout(second, &from);
        CHECK(L4_IpcSucceeded(tag) && L4_Label(tag) != 0x0D0E);
        remove(a);
    }
}

Word do_processor_control(Word, Word, Word) { return L4_ProcessorControl(0, ~0u, ~0u, ~0u) ? 0 : L4_ErrorCode(); }
Word do_memory_control(Word, Word, Word)
{
    const Word attributes[4] = {};
    L4_LoadMR(0, 0);
    return L4_MemoryControl(0, attributes) ? 0 : L4_ErrorCode();
}
void other_calls_unprivileged()
{
    Agent *a = agent(Kind::other);
    if (!a) return;
    CHECK_EQUAL(ask(a, do_processor_control).value, L4_ErrNoPrivilege);
    CHECK_EQUAL(ask(a, do_memory_control).value, L4_ErrNoPrivilege);
}

} // namespace

const Test space_tests[] = {
    {"space.unprivileged", unprivileged},
    {"space.no_such_space", no_such_space},
    {"space.bad_areas", bad_areas},
    {"space.areas_are_fixed", areas_are_fixed},
    {"space.old_control_on_failure", old_control_on_failure},
    {"space.spaces_are_separate", spaces_are_separate},
    {"space.kernel_is_protected", kernel_is_protected},
    {"space.other_calls_unprivileged", other_calls_unprivileged},
    {nullptr, nullptr},
};

} // namespace x2test
