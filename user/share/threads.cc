// SPDX-License-Identifier: BSD-2-Clause
// Spaces and threads, which execute this image, and their pager.
#include "share.h"

extern "C" char image_start[], image_end[];

namespace share {

constinit Word first_number = 0;

namespace {

constexpr Word kip_address = 0x007FF000, utcb_address = 0x00400000, utcb_size = 512, done_value = 1;
constexpr int utcb_log2 = 16;
constexpr Word frames = 64;

alignas(page_size) constinit unsigned char stacks[most_threads][page_size] = {}, frame[frames][page_size] = {};
constinit L4_Fpage_t utcbs[most_threads] = {};
constinit Word missing[most_threads] = {}; // the page that a thread waits for; 0: it waits for a message
constexpr Word nothing_heard = 1;          // of a thread that has been started

void *utcb(Word number, Word space)
{
    return reinterpret_cast<void *>(L4_Address(utcbs[space]) + number % most_threads * utcb_size);
}

/// Pages of the image at their own addresses, others by turns.
void load_missing(Word page)
{
    const bool of_image = page >= reinterpret_cast<Word>(image_start) && page < reinterpret_cast<Word>(image_end);
    if (of_image) return cobnut::load_page(page, page);
    cobnut::load_page(reinterpret_cast<Word>(frame[page / page_size % 61]), page, L4_Readable);
}

} // namespace

cobnut::Audit books()
{
    const cobnut::Audit now = cobnut::audit();
    if (now.faults) fail("the kernel's books", now.faults);
    return now;
}

L4_ThreadId_t thread(Word number) { return L4_GlobalId(first_number + number, 1); }
Word number_of_myself() { return L4_ThreadNo(L4_Myself()) - first_number; }

Word create_space(Word number, Word control)
{
    const L4_ThreadId_t id = thread(number), me = L4_Myself();
    utcbs[number] = L4_FpageLog2(utcb_address, utcb_log2);
    if (!L4_ThreadControl(id, id, me, L4_nilthread, reinterpret_cast<void *>(-1))) return L4_ErrorCode();
    if (Cobnut_SpaceControl(id, control, L4_FpageLog2(kip_address, 12), &utcbs[number], L4_nilthread, nullptr) &&
        L4_ThreadControl(id, id, me, me, utcb(number, number)))
        return 0;
    const Word error = L4_ErrorCode();
    remove(number);
    return error;
}

Word create_thread(Word number, Word space)
{
    const L4_ThreadId_t me = L4_Myself();
    return L4_ThreadControl(thread(number), thread(space), me, me, utcb(number, space)) ? 0 : L4_ErrorCode();
}

Word create_inactive(Word number, Word space)
{
    void *const none = reinterpret_cast<void *>(-1);
    return L4_ThreadControl(thread(number), thread(space), L4_Myself(), L4_nilthread, none) ? 0 : L4_ErrorCode();
}

Word migrate(Word number, Word space)
{
    void *const as_it_is = reinterpret_cast<void *>(-1);
    return L4_ThreadControl(thread(number), thread(space), L4_nilthread, L4_nilthread, as_it_is) ? 0 : L4_ErrorCode();
}

void remove(Word number)
{
    L4_ThreadControl(thread(number), L4_nilthread, L4_nilthread, L4_nilthread, reinterpret_cast<void *>(-1));
}

void touch_image()
{
    for (auto at = reinterpret_cast<Word>(image_start); at < reinterpret_cast<Word>(image_end); at += page_size) {
        volatile char *const present = reinterpret_cast<volatile char *>(at);
        *present = *present;
    }
}

void start(Word number, void (*main)())
{
    L4_Set_MsgTag(L4_MsgTag_t{.raw = 2});
    L4_LoadMR(1, reinterpret_cast<Word>(main));
    L4_LoadMR(2, reinterpret_cast<Word>(stacks[number]) + page_size - 16);
    if (L4_IpcFailed(L4_Send(thread(number)))) fail("the start of a thread", number, L4_ErrorCode());
    missing[number] = nothing_heard;
}

Word serve(Word number)
{
    for (;;) {
        const L4_ThreadId_t id = thread(number);
        const bool first = missing[number] == nothing_heard;
        L4_Set_MsgTag(L4_Niltag);
        if (!first && missing[number]) load_missing(missing[number]);
        const L4_MsgTag_t tag = first ? L4_Receive(id) : L4_Call(id);
        if (L4_IpcFailed(tag)) return L4_ErrorCode();
        L4_StoreMR(1, &missing[number]);
        missing[number] &= -page_size;
        if (cobnut::is_page_fault(tag)) continue;
        if (missing[number]) fail("a message", number, tag.raw);
        return 0;
    }
}

void done()
{
    L4_Set_MsgTag(L4_MsgTag_t{.raw = 1});
    L4_LoadMR(1, done_value);
    L4_Call(L4_Pager());
}

void touch(Word address) { (void)*reinterpret_cast<volatile Word *>(address); }

} // namespace share
