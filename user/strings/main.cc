// SPDX-License-Identifier: BSD-2-Clause
// strings: what it costs to send a string, beside copying as much with a plain `rep movs` loop.
//
// A client calls a server with one string and gets an empty answer; for the plain copy it moves the same bytes itself,
// between two places of its own space. The root thread makes the spaces and is their pager. Strings of less than a
// block take one part of the block after the other.
//
// Command line (defaults first):
//   pair=large_large|small_small|large_small|small_large|intra   kinds of the client's and the server's space
//   rounds=32 warmup=8         measured and unmeasured messages for each size
//   slot=16                    MB of a small space
//   block=64                   KB of memory that shorter strings go through
//   sizes=11                   how many sizes, from the shortest; 8 (up to the block) or more
//   memory=16                  MB where 12 MB of memory behind the strings begin
// Sizes are 4 bytes to 4 MB in powers of 4. Case 2n is the plain copy of the n-th size, case 2n + 1 its string.
#include <cobnut/lab.h>
#include <cobnut/options.h>
#include <cobnut/partners.h>
#include <l4/ipc.h>
#include <l4/kip.h>
#include <l4/space.h>

extern "C" char image_start[], image_end[];

namespace {

using Word = L4_Word_t;
using cobnut::done_label, cobnut::fail, cobnut::failed_label, cobnut::tell_root;

// The client's and the server's space look alike, and fit into 16 MB.
constexpr Word source = 0x00400000, target = 0x00A00000, longest = 0x00400000;
constexpr Word utcb_address = 0x00800000, kip_address = 0x00F00000;
constexpr unsigned sizes_most = 11;

struct Wish {
    bool small_client = false, small_server = false, intra = false;
    unsigned rounds = 32, warmup = 8, slot_mb = 16, block_kb = 64, sizes = sizes_most, memory_mb = 16;
};
constinit Wish wish = {};

/// The root's memory behind the strings.
Word client_source() { return wish.memory_mb << 20; }
Word server_target() { return client_source() + longest; }
Word client_target() { return client_source() + 2 * longest; }

constinit L4_ThreadId_t client = {}, server = {};
alignas(4096) constinit unsigned char client_stack[4096] = {}, server_stack[4096] = {};

// ------------------------------------------------------------------------------------------------ the two partners

/// Where the message after one of `bytes` at `at` goes.
Word next_place(Word at, Word bytes)
{
    const Word block = wish.block_kb * 1024;
    return bytes < block ? (at + bytes) % block : 0;
}

/// An item of one part, or for the longest string of two: the length field has 22 bits.
Word half_of(Word bytes) { return bytes == longest ? bytes / 2 : bytes; }

/// Where the server's target is in its own space; the client's own is beside it if they share one.
Word server_place() { return wish.intra ? source + 0x00A00000 + longest : target; }

void plain_copy(Word bytes, unsigned rounds, bool measured)
{
    Word at = 0;
    for (unsigned i = 0; i < rounds; i++) {
        if (measured) cobnut_lab_mark(COBNUT_LAB_ITER, 0);
        Word to = target + at, from = source + at, words = bytes / 4;
        __asm__ __volatile__("rep movsl" : "+D"(to), "+S"(from), "+c"(words) : : "memory");
        at = next_place(at, bytes);
    }
}

void send_strings(Word bytes, unsigned rounds, bool measured)
{
    const Word half = half_of(bytes), parts = bytes / half;
    Word at = 0;
    for (unsigned i = 0; i < rounds; i++) {
        if (measured) cobnut_lab_mark(COBNUT_LAB_ITER, 0);
        L4_Set_MsgTag(L4_MsgTag_t{.raw = (1 + parts) << 6});
        L4_LoadMR(1, half << 10 | (parts - 1) << 4);
        L4_LoadMR(2, source + at);
        L4_LoadMR(3, source + at + half);
        if (L4_IpcFailed(L4_Call(server))) tell_root(failed_label, L4_ErrorCode());
        at = next_place(at, bytes);
    }
}

void measure(void (*copy)(Word, unsigned, bool), Word bytes, unsigned number)
{
    copy(bytes, wish.warmup, false);
    cobnut_lab_mark(COBNUT_LAB_BEGIN, number);
    copy(bytes, wish.rounds, true);
    cobnut_lab_mark(COBNUT_LAB_ITER, 0);
    cobnut_lab_mark(COBNUT_LAB_END, number);
}

/// Brings the block, or as much of it as there is room for, into the caches, with data that check_data() knows.
void touch_block()
{
    for (Word at = 0; at < wish.block_kb * 1024; at += 4)
        *reinterpret_cast<volatile Word *>(source + at) = at ^ 0x5A5A5A5A;
}

[[noreturn]] void client_main()
{
    L4_Set_ExceptionHandler(L4_Pager());
    // Every page once: no fault is measured.
    plain_copy(longest, 1, false);
    send_strings(longest, 1, false);
    Word bytes = 4;
    for (unsigned i = 0; i < wish.sizes; i++, bytes *= 4) {
        touch_block();
        measure(plain_copy, bytes, 2 * i);
        touch_block();
        measure(send_strings, bytes, 2 * i + 1);
    }
    tell_root(done_label, 0);
}

[[noreturn]] void server_main()
{
    L4_Set_ExceptionHandler(L4_Pager());
    L4_Accept(L4_StringItemsAcceptor);
    L4_LoadBR(1, longest / 2 << 10 | 1u << 4);
    Word at = 0, last = 0;
    bool first = true;
    for (;;) {
        L4_LoadBR(2, server_place() + at);
        L4_LoadBR(3, server_place() + at + longest / 2);
        L4_Set_MsgTag(L4_Niltag);
        const L4_MsgTag_t tag = first ? L4_Receive(client) : L4_Call(client);
        first = false;
        if (L4_IpcFailed(tag)) tell_root(failed_label, L4_ErrorCode());
        Word item;
        L4_StoreMR(1, &item);
        const Word bytes = (item >> 10) * ((item >> 4 & 0x1F) + 1);
        at = next_place(bytes == last ? at : 0, bytes);
        last = bytes;
    }
}

// ------------------------------------------------------------------------------------------------- the root thread

bool parse(const char *command_line)
{
    const cobnut::Options options(command_line);
    const cobnut::Text pair = options.find("pair");
    wish.small_client = pair == "small_small" || pair == "small_large";
    wish.small_server = pair == "small_small" || pair == "large_small";
    wish.intra = pair == "intra";
    bool bad = pair && !wish.small_client && !wish.small_server && !wish.intra && !(pair == "large_large");
    wish.rounds = options.number("rounds", wish.rounds, &bad);
    wish.warmup = options.number("warmup", wish.warmup, &bad);
    wish.slot_mb = options.number("slot", wish.slot_mb, &bad);
    wish.block_kb = options.number("block", wish.block_kb, &bad);
    wish.sizes = options.number("sizes", wish.sizes, &bad);
    wish.memory_mb = options.number("memory", wish.memory_mb, &bad);
    bad = bad || !wish.rounds || !wish.block_kb || wish.block_kb > 4096 || wish.memory_mb < 16 ||
          wish.memory_mb > 2048 || wish.sizes < 8 || wish.sizes > sizes_most;
    if (!bad) return true;
    cobnut::print("strings: FAIL bad option in '%s'\n", command_line);
    return false;
}

/// The page of the root's that stands behind `page` of a partner.
Word behind(Word page, bool of_client)
{
    if (page >= reinterpret_cast<Word>(image_start) && page < reinterpret_cast<Word>(image_end)) return page;
    if (page >= source && page < source + longest) return page - source + client_source();
    if (wish.intra && page >= server_place() && page < server_place() + longest)
        return page - server_place() + server_target();
    if (page >= target && page < target + longest)
        return page - target + (of_client ? client_target() : server_target());
    fail("page fault in nowhere", page, of_client);
}

void answer_fault(L4_ThreadId_t from, Word address, Word)
{
    cobnut::load_page(behind(address & ~0xFFFu, from == client), address);
}

void page_until_done()
{
    const cobnut::Said said = cobnut::page_until_said(L4_nilthread, answer_fault);
    if (said.label != done_label) fail("unknown message", said.from.raw, said.label);
}

/// The block arrived as it was sent.
void check_data()
{
    for (Word at = 0; at < wish.block_kb * 1024; at += 4)
        if (*reinterpret_cast<volatile Word *>(server_target() + at) != (at ^ 0x5A5A5A5A)) fail("wrong data", at);
}

} // namespace

int cobnut_main(const char *command_line)
{
    if (!parse(command_line)) return 1;
    if (reinterpret_cast<Word>(image_end) > source) fail("the image reaches into the strings");
    const Word number = L4_ThreadNo(L4_Myself());
    client = L4_GlobalId(number + 1, 1);
    server = L4_GlobalId(number + 2, 1);
    const L4_Fpage_t kip = L4_FpageLog2(kip_address, 12), utcbs = L4_FpageLog2(utcb_address, 12);
    cobnut::make_thread(client, client, kip, utcbs, 0);
    if (wish.small_client) cobnut::make_small(client, 0, wish.slot_mb);
    cobnut::make_thread(server, wish.intra ? client : server, kip, utcbs, 1);
    if (wish.small_server) cobnut::make_small(server, 1, wish.slot_mb);
    cobnut::start(server, server_main, server_stack + sizeof server_stack);
    cobnut::start(client, client_main, client_stack + sizeof client_stack);
    page_until_done();
    cobnut::check_still(client, wish.small_client, 0, wish.slot_mb);
    cobnut::check_still(server, wish.small_server, 1, wish.slot_mb);
    check_data();
    cobnut::print("strings: done\n");
    return 0;
}
