// SPDX-License-Identifier: BSD-2-Clause
// exchange: how two programs pass bytes on, in three ways: through a pipe at user level (libs/pipes), by a synchronous
// call with the bytes, and by a synchronous call that maps the pages where they are (H97 section 6.1 and table 4).
//
// A client and a server are in spaces of their own, each with the thread of the pipe that it writes to. The root thread
// makes them, and is their pager.
//
// Command line (defaults first):
//   pair=large_large|small_small   kinds of the client's and the server's space
//   what=latency|bandwidth         one byte there and back (for a mapping, one page there, and nothing back); or blocks
//                                  of 64 KB to the server
//   rounds=100 warmup=10           measured and unmeasured times
//   capacity=64                    KB of a pipe's buffer
//   slot=16                        MB of a small space
// Case 0 is the pipe, 1 the call, 2 the call that maps: the client takes the pages back each time, which is measured.
#include <cobnut/lab.h>
#include <cobnut/options.h>
#include <cobnut/partners.h>
#include <l4/ipc.h>
#include <l4/space.h>
#include <pipes/pipe.h>

extern "C" char image_start[], image_end[];

namespace {

using Word = L4_Word_t;
using cobnut::done_label, cobnut::fail, cobnut::failed_label, cobnut::tell_root;

// Both spaces look alike, and fit into 16 MB. A partner's block is where it sends from, or receives to.
constexpr Word block_address = 0x00400000, block_bytes = 0x10000, block_log2 = 16, page_log2 = 12;
constexpr Word buffer_address = 0x00500000, window_address = 0x00600000;
constexpr Word utcb_address = 0x00800000, kip_address = 0x00F00000;
constexpr Word most_kb = 256;
constexpr unsigned partner_count = 2, client_number = 0, server_number = 1;

/// What a call is: an answer is empty, but for the latency's byte.
constexpr Word byte_label = 1, string_label = 2, map_label = 3, end_label = 4;

struct Wish {
    bool small = false, bandwidth = false;
    unsigned rounds = 100, warmup = 10, capacity_kb = 64, slot_mb = 16;
};
constinit Wish wish = {};

/// A partner's threads: the one that sends or receives, and that of the pipe which it writes to.
struct Partner {
    L4_ThreadId_t main, pipe;
    alignas(4096) unsigned char main_stack[4096], pipe_stack[4096];
};
constinit Partner partners[partner_count] = {};
Partner &client = partners[client_number], &server = partners[server_number];

void must(bool holds, Word value)
{
    if (!holds) tell_root(failed_label, value);
}

unsigned char *block() { return reinterpret_cast<unsigned char *>(block_address); }

// ------------------------------------------------------------------------------------------------------------- pipes

[[noreturn]] void pipe_main()
{
    L4_Set_ExceptionHandler(L4_Pager());
    pipes::Pipe pipe(reinterpret_cast<char *>(buffer_address), wish.capacity_kb * 1024);
    pipe.serve();
}

void put(const Partner &self, Word bytes)
{
    const pipes::Moved done = pipes::write(self.pipe, block(), bytes);
    must(done.status == pipes::Status::done && done.bytes == bytes, done.bytes);
}

/// Reads until there are `bytes`.
void get(const Partner &other, Word bytes)
{
    for (Word there = 0; there < bytes;) {
        const pipes::Moved done = pipes::read(other.pipe, block() + there, bytes - there);
        must(done.status == pipes::Status::done && done.bytes, done.bytes);
        there += done.bytes;
    }
}

// ----------------------------------------------------------------------------------------------------- the two calls

void call(Word label, Word untyped, Word typed)
{
    L4_Set_MsgTag(L4_MsgTag_t{.raw = label << 16 | typed << 6 | untyped});
    must(!L4_IpcFailed(L4_Call(server.main)), L4_ErrorCode());
}

void call_with_bytes()
{
    if (wish.bandwidth) {
        L4_LoadMR(1, block_bytes << 10);
        L4_LoadMR(2, block_address);
        return call(string_label, 0, 2);
    }
    L4_LoadMR(1, block()[0]);
    call(byte_label, 1, 0);
    Word answer;
    L4_StoreMR(1, &answer);
    must(answer == block()[0], answer);
}

void call_with_pages()
{
    const L4_Fpage_t pages = L4_FpageLog2(block_address, wish.bandwidth ? block_log2 : page_log2);
    const L4_MapItem_t item = L4_MapItem(pages + L4_Readable, 0);
    L4_LoadMR(1, item.raw[0]);
    L4_LoadMR(2, item.raw[1]);
    call(map_label, 0, 2);
    L4_UnmapFpage(pages + L4_FullyAccessible);
}

// ------------------------------------------------------------------------------------------------ client and server

void through_pipe()
{
    if (wish.bandwidth) return put(client, block_bytes);
    put(client, 1);
    get(server, 1);
}

void measure(unsigned number, void (*once)())
{
    for (unsigned i = 0; i < wish.warmup; i++) once();
    cobnut_lab_mark(COBNUT_LAB_BEGIN, number);
    for (unsigned i = 0; i < wish.rounds; i++) {
        cobnut_lab_mark(COBNUT_LAB_ITER, 0);
        once();
    }
    cobnut_lab_mark(COBNUT_LAB_ITER, 0);
    cobnut_lab_mark(COBNUT_LAB_END, number);
}

/// What the server finds in the block, wherever the way leads.
unsigned char pattern(Word at) { return static_cast<unsigned char>(at * 7 + at / 4096); }

[[noreturn]] void client_main()
{
    L4_Set_ExceptionHandler(L4_Pager());
    must(pipes::open_reader(client.pipe, server.main) == pipes::Status::done, 0);
    call(byte_label, 1, 0); // the server has its pipe open for us
    for (Word i = 0; i < block_bytes; i++) block()[i] = pattern(i);
    measure(0, through_pipe);
    must(pipes::close_writer(client.pipe) == pipes::Status::done, 1);
    measure(1, call_with_bytes);
    measure(2, call_with_pages);
    call(end_label, 0, 0);
    tell_root(done_label, 0);
}

bool right(const unsigned char *bytes, Word count)
{
    for (Word i = 0; i < count; i++)
        if (bytes[i] != pattern(i)) return false;
    return true;
}

/// Reads what comes through the pipe until it ends, and gives the latency's byte back.
void serve_pipe()
{
    const unsigned times = wish.rounds + wish.warmup;
    for (unsigned i = 0; i < times; i++) {
        get(client, wish.bandwidth ? block_bytes : 1);
        if (!wish.bandwidth) put(server, 1);
    }
    const pipes::Moved end = pipes::read(client.pipe, block(), 1);
    must(end.status == pipes::Status::done && !end.bytes, end.bytes);
    must(right(block(), wish.bandwidth ? block_bytes : 1), 2);
}

/// The client's pages, while it has them mapped here, hold what they should.
void look_once(bool *seen)
{
    if (!*seen) must(right(reinterpret_cast<unsigned char *>(window_address), wish.bandwidth ? block_bytes : 4096), 3);
    *seen = true;
}

[[noreturn]] void serve_calls()
{
    bool seen = false;
    const L4_Fpage_t window = L4_FpageLog2(window_address, block_log2);
    L4_Accept(L4_StringItemsAcceptor + L4_MapGrantItems(window));
    L4_LoadBR(1, block_bytes << 10);
    L4_LoadBR(2, block_address);
    L4_MsgTag_t tag = L4_Receive(client.main);
    for (;;) {
        must(!L4_IpcFailed(tag), L4_ErrorCode());
        const Word label = L4_Label(tag);
        if (label == map_label) look_once(&seen);
        if (label == end_label && wish.bandwidth) must(right(block(), block_bytes), 4);
        L4_Set_MsgTag(L4_MsgTag_t{.raw = label == byte_label ? 1u : 0u}); // the byte is where it was
        tag = L4_Call(client.main);
    }
}

[[noreturn]] void server_main()
{
    L4_Set_ExceptionHandler(L4_Pager());
    must(pipes::open_reader(server.pipe, client.main) == pipes::Status::done, 5);
    must(!L4_IpcFailed(L4_Receive(client.main)), L4_ErrorCode());
    L4_Set_MsgTag(L4_MsgTag_t{.raw = 0});
    must(!L4_IpcFailed(L4_Send(client.main)), L4_ErrorCode());
    serve_pipe();
    serve_calls();
}

// ------------------------------------------------------------------------------------------------- the root thread

bool parse(const char *command_line)
{
    const cobnut::Options options(command_line);
    const cobnut::Text pair = options.find("pair"), what = options.find("what");
    wish.small = pair == "small_small";
    wish.bandwidth = what == "bandwidth";
    bool bad = (pair && !wish.small && !(pair == "large_large")) || (what && !wish.bandwidth && !(what == "latency"));
    wish.rounds = options.number("rounds", wish.rounds, &bad);
    wish.warmup = options.number("warmup", wish.warmup, &bad);
    wish.capacity_kb = options.number("capacity", wish.capacity_kb, &bad);
    wish.slot_mb = options.number("slot", wish.slot_mb, &bad);
    bad = bad || !wish.rounds || wish.capacity_kb < pipes::atomic / 1024 || wish.capacity_kb > most_kb;
    if (!bad) return true;
    cobnut::print("exchange: FAIL bad option in '%s'\n", command_line);
    return false;
}

/// The root's memory behind the blocks and buffers of the partners: a MB for each, and a buffer 64 KB further than its
/// block, so that the two do not lie in the same lines of a cache of 256 KB.
Word memory_of(unsigned number) { return 0x01000000 + number * 0x00120000; }

/// The page of the root's that stands behind `page` of a partner.
Word behind(Word page, unsigned number)
{
    if (page >= reinterpret_cast<Word>(image_start) && page < reinterpret_cast<Word>(image_end)) return page;
    if (page >= block_address && page < block_address + block_bytes) return page - block_address + memory_of(number);
    if (page >= buffer_address && page < buffer_address + most_kb * 1024)
        return page - buffer_address + memory_of(number) + block_bytes;
    fail("page fault in nowhere", page, number);
}

void answer_fault(L4_ThreadId_t from, Word address, Word)
{
    const bool of_server = from == server.main || from == server.pipe;
    cobnut::load_page(behind(address & ~0xFFFu, of_server ? server_number : client_number), address);
}

void make_partner(unsigned number)
{
    Partner &p = partners[number];
    const Word first = L4_ThreadNo(L4_Myself()) + 1 + 2 * number;
    const L4_Fpage_t kip = L4_FpageLog2(kip_address, page_log2), utcbs = L4_FpageLog2(utcb_address, page_log2);
    p.main = L4_GlobalId(first, 1);
    p.pipe = L4_GlobalId(first + 1, 1);
    cobnut::make_thread(p.main, p.main, kip, utcbs, 0);
    cobnut::make_thread(p.pipe, p.main, kip, utcbs, 1);
    if (wish.small) cobnut::make_small(p.main, number, wish.slot_mb);
}

} // namespace

int cobnut_main(const char *command_line)
{
    if (!parse(command_line)) return 1;
    if (reinterpret_cast<Word>(image_end) > block_address) fail("the image reaches into the blocks");
    for (unsigned number = 0; number < partner_count; number++) make_partner(number);
    cobnut::start(client.pipe, pipe_main, client.pipe_stack + sizeof client.pipe_stack);
    cobnut::start(server.pipe, pipe_main, server.pipe_stack + sizeof server.pipe_stack);
    cobnut::start(server.main, server_main, server.main_stack + sizeof server.main_stack);
    cobnut::start(client.main, client_main, client.main_stack + sizeof client.main_stack);
    const cobnut::Said said = cobnut::page_until_said(L4_nilthread, answer_fault);
    if (said.label != done_label) fail("unknown message", said.from.raw, said.label);
    for (unsigned number = 0; number < partner_count; number++)
        cobnut::check_still(partners[number].main, wish.small, number, wish.slot_mb);
    cobnut::print("exchange: done\n");
    return 0;
}
