// SPDX-License-Identifier: BSD-2-Clause
// pingpong: the cost of a call between two threads, over the working set that the caller touches in between.
//
// The root thread makes the two spaces, maps this image into both one to one, and then waits as their pager; it takes
// no part in the measurement.
//
// Command line (defaults first):
//   pair=large_large|small_small|large_small|small_large|intra   kinds of the client's and the server's space
//   gen=none|nops|jumps|reads|walks|turns   what the client touches between calls
//   sizes=START:STOP:STEP      how much of it; STOP inclusive
//   also=0                     one more size, between START and STOP, in its place among them
//   distance=4160 reads=0      bytes between two reads; reads that follow nops or jumps
//   served=0                   reads of a server in each call
//   calls=1                    0: no calls, the client only touches its working set
//   servers=1                  2: two servers of one kind, in spaces of their own, called in turn
//   halves=0                   1: the way there and the way back are measured as iterations of their own
//   rounds=100 warmup=10       measured and unmeasured calls for each size
//   slot=256                   MB of a small space; the client has the first slot, the servers the next
//   words=0                    untyped words of each message, 0 to 63
//   verbose=0                  1 prints a line for each size
#include "pingpong.h"

#include <cobnut/program.h>
#include <l4/ipc.h>
#include <l4/kip.h>
#include <l4/space.h>

extern "C" char image_start[], image_end[];

namespace pingpong {

constinit Setup setup = {};

namespace {

// Both spaces look alike. All of it lies below 16 MB, the smallest slot.
constexpr L4_Word_t utcb_address = 0x00800000;
constexpr L4_Word_t kip_address = 0x00C00000;
constexpr L4_Word_t utcb_size = 512;
constexpr L4_Word_t stack_size = 8192;

alignas(4096) constinit unsigned char server_stacks[2][stack_size] = {};

/// Prints the reason and ends the run.
[[noreturn]] void fail(const char *what, L4_Word_t a = 0, L4_Word_t b = 0)
{
    cobnut::print("pingpong: FAIL %s (%08x, %08x)\n", what, a, b);
    cobnut::machine_off(1);
}

/// The sequence of the old benchmark: the UTCB location is given before the space has a UTCB area.
void make_thread(L4_ThreadId_t tid, L4_ThreadId_t space, unsigned index)
{
    const L4_ThreadId_t me = L4_Myself();
    const bool new_space = tid == space;
    void *utcb = reinterpret_cast<void *>(utcb_address + index * utcb_size);
    if (!L4_ThreadControl(tid, space, me, L4_nilthread, utcb)) fail("ThreadControl", tid.raw, L4_ErrorCode());
    if (new_space && !L4_SpaceControl(tid, L4_SmallSpaceChange | L4_LargeSpace,
                                      L4_FpageLog2(kip_address, L4_KipAreaSizeLog2(L4_GetKernelInterface())),
                                      L4_FpageLog2(utcb_address, 12), L4_nilthread, nullptr))
        fail("SpaceControl", tid.raw, L4_ErrorCode());
    if (!L4_ThreadControl(tid, space, me, me, reinterpret_cast<void *>(-1)))
        fail("ThreadControl to activate", tid.raw, L4_ErrorCode());
}

L4_Word_t slot_number(unsigned index) { return L4_SmallSpace(index * setup.wish.slot_mb, setup.wish.slot_mb); }

void make_small(L4_ThreadId_t tid, unsigned index)
{
    L4_Word_t old = 0;
    if (!L4_SpaceControl(tid, L4_SmallSpaceChange | slot_number(index), L4_Nilpage, L4_Nilpage, L4_nilthread, &old))
        fail("SpaceControl to make a space small", tid.raw, L4_ErrorCode());
    if (!(old & L4_SmallSpaceChange)) fail("no room for a small space", tid.raw, slot_number(index));
}

/// A space that was promoted during the run has measured something else.
void check_still(L4_ThreadId_t tid, L4_Word_t number)
{
    L4_Word_t old = 0;
    L4_SpaceControl(tid, 0, L4_Nilpage, L4_Nilpage, L4_nilthread, &old);
    if ((old & 0xFF) != number) fail("a space has changed its kind", tid.raw, old);
}

void start(L4_ThreadId_t tid, void (*ip)(), unsigned char *stack_top)
{
    L4_Set_MsgTag(L4_MsgTag_t{.raw = 2});
    L4_LoadMR(1, reinterpret_cast<L4_Word_t>(ip));
    L4_LoadMR(2, reinterpret_cast<L4_Word_t>(stack_top));
    if (L4_IpcFailed(L4_Send_Timeout(tid, L4_TimePeriod(1000000)))) fail("start message", tid.raw, L4_ErrorCode());
}

/// Loads the answer to a fault: one page of this image, in the same place.
void load_page(L4_Word_t address, L4_Word_t ip)
{
    const auto low = reinterpret_cast<L4_Word_t>(image_start), high = reinterpret_cast<L4_Word_t>(image_end);
    if (address < low || address >= high) fail("page fault outside the image", address, ip);
    const L4_Word_t page = address & ~0xFFFu;
    (void)*reinterpret_cast<volatile char *>(page); // only what is present here can be mapped
    const L4_MapItem_t item = L4_MapItem(L4_FpageLog2(page, 12) + L4_FullyAccessible, page);
    L4_Set_MsgTag(L4_MsgTag_t{.raw = 2u << 6});
    L4_LoadMR(1, item.raw[0]);
    L4_LoadMR(2, item.raw[1]);
}

void page_until_done()
{
    L4_ThreadId_t from;
    L4_MsgTag_t tag = L4_Wait(&from);
    for (;;) {
        if (L4_IpcFailed(tag)) fail("the pager's IPC", from.raw, L4_ErrorCode());
        L4_Word_t mr[5];
        L4_StoreMRs(0, 5, mr);
        const L4_Word_t label = L4_Label(tag);
        if (label == done_label) return;
        if (label == failed_label) fail(reinterpret_cast<const char *>(mr[1]), from.raw, mr[2]);
        if (label == 0xFFB0) fail("exception", mr[3], mr[1]);
        if ((label & 0xFFF0) != 0xFFE0) fail("unknown message", from.raw, tag.raw);
        load_page(mr[1], mr[2]);
        tag = L4_ReplyWait(from, &from);
    }
}

void run()
{
    const Wish &wish = setup.wish;
    if (reinterpret_cast<L4_Word_t>(image_end) > utcb_address) fail("the image reaches into the UTCB area");
    const L4_Word_t number = L4_ThreadNo(L4_Myself());
    setup.client = L4_GlobalId(number + 1, 1);
    setup.server = L4_GlobalId(number + 2, 1);
    setup.other_server = L4_GlobalId(number + 3, 1);
    const L4_ThreadId_t servers[] = {setup.server, setup.other_server};
    make_thread(setup.client, setup.client, 0);
    if (wish.small_client) make_small(setup.client, 0);
    for (unsigned i = 0; i < wish.servers; i++) {
        make_thread(servers[i], wish.intra ? setup.client : servers[i], 1 + i);
        if (wish.small_server) make_small(servers[i], 1 + i);
        start(servers[i], server_main, server_stacks[i] + stack_size - 16);
    }
    start(setup.client, client_main, client_stack_top());
    page_until_done();
    check_still(setup.client, wish.small_client ? slot_number(0) : L4_LargeSpace);
    for (unsigned i = 0; i < wish.servers && !wish.intra; i++)
        check_still(servers[i], wish.small_server ? slot_number(1 + i) : L4_LargeSpace);
}

} // namespace
} // namespace pingpong

int cobnut_main(const char *command_line)
{
    if (!pingpong::parse(command_line, pingpong::setup.wish)) return 1;
    pingpong::run();
    cobnut::print("pingpong: done\n");
    return 0;
}
