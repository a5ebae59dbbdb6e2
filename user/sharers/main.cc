// SPDX-License-Identifier: BSD-2-Clause
// sharers: what it costs to take memory from one of many spaces that share it, as a server of another system's programs
// does with their code.
//
// The root thread maps the same pages to one space after the other. Then it takes them from the oldest by an Unmap in
// that (docs/controlled-spaces.md), and deletes the oldest that is left.
//
// Command line (defaults first):
//   sharers=2           spaces, up to 200, beside the one that is unmapped
//   megabytes=4         that they share: a multiple of 4, up to 64
// Case 0: the Unmap. Case 1: the ThreadControl that deletes the space. One iteration each.
#include <cobnut/audit.h>
#include <cobnut/control.h>
#include <cobnut/lab.h>
#include <cobnut/options.h>
#include <cobnut/partners.h>
#include <l4/ipc.h>
#include <l4/sigma0.h>

extern "C" char image_start[], image_end[];

namespace {

using Word = L4_Word_t;
using cobnut::fail;

constexpr Word most_sharers = 200, most_megabytes = 64, page_size = 4096, stack_size = 256;
constexpr Word utcb_address = 0x003FE000, kip_address = 0x003FF000;
constexpr Word shared_address = 0x10000000; // in all spaces alike
constexpr int part_log2 = 22;
constexpr Word part = 1u << part_log2; // what an answer maps

constinit unsigned sharers = 2, megabytes = 4;
constinit Word first_number = 0;
alignas(page_size) constinit unsigned char stacks[most_sharers + 1][stack_size] = {};

L4_ThreadId_t sharer(Word n) { return L4_GlobalId(first_number + n, 1); }
L4_Fpage_t fpage(Word address) { return L4_FpageLog2(address, part_log2) + L4_FullyAccessible; }
Word shared_end() { return shared_address + (Word{megabytes} << 20); }

[[noreturn]] void sharer_main()
{
    for (Word at = shared_address; at < shared_end(); at += part) *reinterpret_cast<volatile Word *>(at);
    cobnut::tell_root(cobnut::done_label, 0);
}

bool parse(const char *command_line)
{
    const cobnut::Options options(command_line);
    bool bad = false;
    sharers = options.number("sharers", sharers, &bad);
    megabytes = options.number("megabytes", megabytes, &bad);
    if (!bad && sharers && sharers <= most_sharers && megabytes && megabytes % 4 == 0 && megabytes <= most_megabytes)
        return true;
    cobnut::print("sharers: FAIL bad option in '%s'\n", command_line);
    return false;
}

void answer_fault(L4_ThreadId_t from, Word address, Word ip)
{
    if (address >= shared_address && address < shared_end()) {
        const Word base = address & -part;
        return cobnut::load_answer(L4_MapItem(fpage(base), base));
    }
    if (address < reinterpret_cast<Word>(image_start) || address >= reinterpret_cast<Word>(image_end))
        fail("page fault outside the image", from.raw, ip);
    cobnut::load_page(address & -page_size, address);
}

Word nodes()
{
    const cobnut::Audit books = cobnut::audit();
    if (books.faults) fail("the kernel's books", books.faults);
    return books.objects;
}

void unmap_oldest()
{
    const L4_ThreadId_t oldest = sharer(0);
    if (!L4_SpaceControl(oldest, 0, L4_Nilpage, L4_Nilpage, L4_Myself(), nullptr) ||
        !cobnut::set_controlled(oldest, true))
        fail("control", oldest.raw, L4_ErrorCode());
    cobnut_lab_mark(COBNUT_LAB_BEGIN, 0);
    cobnut_lab_mark(COBNUT_LAB_ITER, 0);
    for (Word at = shared_address; at < shared_end(); at += part) cobnut::flush_in(oldest, fpage(at));
    cobnut_lab_mark(COBNUT_LAB_ITER, 0);
    cobnut_lab_mark(COBNUT_LAB_END, 0);
}

void delete_next()
{
    cobnut_lab_mark(COBNUT_LAB_BEGIN, 1);
    cobnut_lab_mark(COBNUT_LAB_ITER, 0);
    const Word done =
        L4_ThreadControl(sharer(1), L4_nilthread, L4_nilthread, L4_nilthread, reinterpret_cast<void *>(-1));
    cobnut_lab_mark(COBNUT_LAB_ITER, 0);
    cobnut_lab_mark(COBNUT_LAB_END, 1);
    if (!done) fail("ThreadControl to delete", sharer(1).raw, L4_ErrorCode());
}

} // namespace

int cobnut_main(const char *command_line)
{
    if (!parse(command_line)) return 1;
    first_number = L4_ThreadNo(L4_Myself()) + 1;
    for (Word at = shared_address; at < shared_end(); at += part)
        if (L4_IsNilFpage(L4_Sigma0_GetAny(L4_nilthread, part_log2, L4_FpageLog2(at, part_log2))))
            fail("no memory to share", at);
    const L4_Fpage_t kip = L4_FpageLog2(kip_address, 12), utcbs = L4_FpageLog2(utcb_address, 12);
    for (Word n = 0; n <= sharers; n++) {
        cobnut::make_thread(sharer(n), sharer(n), kip, utcbs);
        cobnut::start(sharer(n), sharer_main, stacks[n] + stack_size);
        const cobnut::Said said = cobnut::page_until_said(L4_nilthread, answer_fault);
        if (said.label != cobnut::done_label) fail("unknown message", said.from.raw, said.label);
    }
    const Word all = nodes();
    unmap_oldest();
    const Word without = nodes();
    delete_next();
    cobnut::print("sharers: %u spaces, %u pages unmapped, %u deleted\n", sharers, all - without, without - nodes());
    cobnut::print("sharers: done\n");
    return 0;
}
