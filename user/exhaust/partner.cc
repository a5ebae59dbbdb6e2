// SPDX-License-Identifier: BSD-2-Clause
// The thread that takes what it is sent, and the calls to it. The root thread is its pager; once it has been started
// and tried, it has no page faults.
#include "exhaust.h"

extern "C" char image_start[], image_end[];

namespace exhaust {
namespace {

constexpr Word partner = 1; // its number
constexpr Word exception_label = 0xFFB0;
constexpr Word ask_error = 1, ask_coprocessor = 2, ask_fault = 3; // MR1
constexpr Word missing_page = 0x48000000; // in a page table that nothing else needs
constexpr Word exception_words = 12;       // of which the third is its number

alignas(4096) constinit unsigned char stack[4096] = {};
alignas(4096) constinit volatile Word page[1024] = {1}; // what is mapped
constinit unsigned char text[16] = {1}, room[16] = {1};

void accept_all()
{
    L4_Accept(L4_Acceptor_t{.raw = 0x10 | 1}); // the complete address space, and strings
    L4_LoadBR(1, sizeof room << 10);
    L4_LoadBR(2, reinterpret_cast<Word>(room));
}

[[noreturn]] void partner_main()
{
    touch_image();
    L4_Set_ExceptionHandler(L4_Pager());
    accept_all();
    const L4_ThreadId_t root = L4_Pager();
    Word error = 0;
    L4_MsgTag_t tag = L4_Receive(root);
    for (;;) {
        Word answer = 0;
        while (L4_IpcFailed(tag)) {
            error = L4_ErrorCode();
            tag = L4_Receive(root);
        }
        if (L4_UntypedWords(tag)) {
            Word what;
            L4_StoreMR(1, &what);
            if (what == ask_error) answer = error, error = 0;
            if (what == ask_coprocessor) __asm__ __volatile__("fninit");
            if (what == ask_fault) {
                Word at;
                L4_StoreMR(2, &at);
                (void)*reinterpret_cast<volatile Word *>(at);
            }
        }
        L4_Set_MsgTag(L4_MsgTag_t{.raw = 1});
        L4_LoadMR(1, answer);
        tag = L4_Call(root);
    }
}

/// What to make of a message from the partner: true if it is its answer.
bool is_answer(L4_MsgTag_t tag, Word &exception)
{
    Word mr[1 + exception_words];
    L4_StoreMRs(0, 1 + exception_words, mr);
    const Word label = L4_Label(tag) & 0xFFF0;
    if (label == exception_label) {
        exception = mr[3];
        return true;
    }
    if (!cobnut::is_page_fault(tag)) return true;
    const Word at = mr[1] & ~(page_size - 1);
    if (at < reinterpret_cast<Word>(image_start) || at >= reinterpret_cast<Word>(image_end))
        fail("the partner faults", mr[1], mr[2]);
    cobnut::load_page(at, at);
    return false;
}

/// Until it answers, or has an exception.
Word call(Word &exception)
{
    for (;;) {
        const L4_MsgTag_t tag = L4_Call(thread(partner));
        if (L4_IpcFailed(tag)) return L4_ErrorCode();
        if (is_answer(tag, exception)) return 0;
    }
}

Word ask(Word what, Word &exception)
{
    L4_Set_MsgTag(L4_MsgTag_t{.raw = 1});
    L4_LoadMR(1, what);
    if (const Word error = call(exception)) fail("a question to the partner", what, error);
    Word answer;
    L4_StoreMR(1, &answer);
    return answer;
}

Word send_item(Word first, Word second)
{
    L4_Set_MsgTag(L4_MsgTag_t{.raw = 2u << 6});
    L4_LoadMR(1, first);
    L4_LoadMR(2, second);
    return call_partner();
}

} // namespace

void touch_image()
{
    for (auto at = reinterpret_cast<Word>(image_start); at < reinterpret_cast<Word>(image_end); at += page_size) {
        volatile char *const present = reinterpret_cast<volatile char *>(at);
        *present = *present;
    }
}

Word call_partner()
{
    Word exception = 0;
    const Word error = call(exception);
    if (exception) fail("an exception of the partner's", exception);
    return error;
}

Word error_of_partner()
{
    Word exception = 0;
    return ask(ask_error, exception);
}

Word use_coprocessor()
{
    Word exception = 0;
    ask(ask_coprocessor, exception);
    return exception;
}

Word try_again()
{
    // The answer of no words changes no register: the instruction runs again.
    Word exception = 0;
    L4_Set_MsgTag(L4_Niltag);
    if (const Word error = call(exception)) fail("the answer to an exception", error);
    return exception;
}

void let_fault_at(Word at)
{
    L4_Set_MsgTag(L4_MsgTag_t{.raw = 2});
    L4_LoadMR(1, ask_fault);
    L4_LoadMR(2, at);
    const L4_MsgTag_t tag = L4_Call(thread(partner));
    if (L4_IpcFailed(tag) || !cobnut::is_page_fault(tag)) fail("the partner's page fault", tag.raw);
}

void let_fault() { let_fault_at(missing_page); }

Word answer_fault() { return map_page(missing_page); }

bool still_waits() { return L4_IpcFailed(L4_Receive_Timeout(thread(partner), L4_TimePeriod(20000))); }

Word map_page(Word to)
{
    page[0] = page[0]; // only what is present here can be mapped
    const L4_MapItem_t item = L4_MapItem(L4_FpageLog2(reinterpret_cast<Word>(page), 12) + L4_FullyAccessible, to);
    return send_item(item.raw[0], item.raw[1]);
}

Word map_port(Word port)
{
    const L4_MapItem_t item = L4_MapItem(L4_IoFpageLog2(port, 0) + L4_FullyAccessible, 0);
    return send_item(item.raw[0], item.raw[1]);
}

Word send_string() { return send_item(sizeof text << 10, reinterpret_cast<Word>(text)); }

void unmap_page() { L4_UnmapFpage(L4_FpageLog2(reinterpret_cast<Word>(page), 12) + L4_FullyAccessible); }

void unmap_ports()
{
    const L4_Fpage_t all = {.raw = 16u << 10 | 2};
    L4_UnmapFpage(all + L4_FullyAccessible);
}

void start_partner()
{
    if (create(partner, partner) || set_areas(partner) || activate(partner, partner))
        fail("the partner", L4_ErrorCode());
    L4_Set_MsgTag(L4_MsgTag_t{.raw = 2});
    L4_LoadMR(1, reinterpret_cast<Word>(partner_main));
    L4_LoadMR(2, reinterpret_cast<Word>(stack) + sizeof stack - 16);
    if (L4_IpcFailed(L4_Send(thread(partner)))) fail("the partner's start", L4_ErrorCode());
    // Its page faults first: it calls for nobody, so they are waited for.
    Word exception = 0;
    for (;;) {
        const L4_MsgTag_t tag = L4_Receive_Timeout(thread(partner), L4_TimePeriod(100000));
        if (L4_IpcFailed(tag)) break;
        is_answer(tag, exception);
        L4_Reply(thread(partner));
    }
    // Everything once, so that nothing is missing later but what is taken away. It outgrows a slot by a fault
    // of its own: if a map item made it do so, that message would take an object of those that a string takes.
    const Word first = 0x40000000;
    let_fault_at(first);
    if (map_page(first) || error_of_partner()) fail("a mapping to the partner");
    unmap_page();
}

void end_partner() { remove(partner); }

} // namespace exhaust
