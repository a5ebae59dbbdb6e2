// SPDX-License-Identifier: BSD-2-Clause
// reflect: what a program of another system's costs that runs on a server of this kernel: its system calls, which are
// exceptions (`int $0x80`), and its page faults.
//
// A client in a space of its own calls; a server in another one is its exception handler and pager, and answers. The
// root thread makes the spaces, and pages the server.
//
// Command line (defaults first):
//   pair=large_large|small_small|large_small|small_large   kinds of the client's and the server's space
//   what=call|fault|stop   measures calls; or faults on a page that the server maps, and takes back between them; or
//                          how the server stops the client, reads all its registers, and lets it go on
//   confined=0|1           the server is the redirector of the client's space as well; with what=stop it always is, and
//                          controls it (docs/controlled-spaces.md)
//   gate=0|1               the client calls by sysenter; the server controls its space then as well
//   pages=1                of 4 KB in each of those mappings: 1, 2, 4 and so on, up to 64
//   tls=0|1                the client has a segment of its own in GS
//   rounds=100 warmup=10   measured and unmeasured times
//   slot=16                MB of a small space
// One case, 0. With what=fault every other iteration is measured, from the first on; in the others the client calls,
// and the server takes the page back. With what=stop, too: in the others the client runs.
#include <cobnut/control.h>
#include <cobnut/lab.h>
#include <cobnut/options.h>
#include <cobnut/partners.h>
#include <cobnut/tls.h>
#include <l4/ipc.h>

extern "C" char image_start[], image_end[];

namespace {

using Word = L4_Word_t;
using cobnut::done_label, cobnut::fail, cobnut::failed_label, cobnut::tell_root;

// In both spaces alike; all of it fits into 4 MB.
constexpr Word utcb_address = 0x003FE000, kip_address = 0x003FF000;
constexpr Word fault_address = 0x00380000; // in the client, where the server maps its pages
constexpr Word page_size = 4096, most_pages = 64;

// What the client calls for.
constexpr Word nothing = 1, take_back = 2, be_stopped = 3;
constexpr Word exception_label = 0xFFB0, int_length = 2;
constexpr Word ready_label = 0x0D10; // to the root thread: confine me now

struct Wish {
    bool small_client = false, small_server = false, faults = false, stops = false;
    unsigned confined = 0, gate = 0, tls = 0, rounds = 100, warmup = 10, slot_mb = 16, pages = 1;
};
constinit Wish wish = {};
bool is_confined() { return wish.confined || wish.gate || wish.stops; }

constinit L4_ThreadId_t root = {}, client = {}, server = {};
alignas(page_size) constinit unsigned char client_stack[page_size] = {}, server_stack[page_size] = {};
alignas(page_size) constinit Word storage[page_size / sizeof(Word)] = {}; // behind the client's GS
// The server's, in its image.
alignas(most_pages *page_size) constinit volatile unsigned char mapped[most_pages * page_size] = {};
constinit volatile Word calls = 0, faults = 0, stops = 0; // as the server has seen them

// ------------------------------------------------------------------------------------------------ client and server

/// As on a page that the server gives its programs for that.
extern "C" char gate_lret[];
__asm__(".text\n"
        ".globl gate_call, gate_lret\n"
        "gate_call: push %ecx; push %edx; push %ebp; push %cs; call 1f\n"
        "pop %ebp; pop %edx; pop %ecx; ret\n"
        "1: mov %esp, %ebp; sysenter\n"
        "gate_lret: lret");

/// The answer is one more in EAX.
inline Word call_server(Word request)
{
    Word result;
    if (wish.gate) {
        __asm__ __volatile__("call gate_call" : "=a"(result) : "a"(request) : "memory");
        return result;
    }
    __asm__ __volatile__("int $0x80" : "=a"(result) : "a"(request) : "memory");
    return result;
}

/// Without a system call of this kernel's: GS may be the client's own. True if all answers were right.
bool run(unsigned rounds, bool measured)
{
    bool right = true;
    for (unsigned i = 0; i < rounds; i++) {
        if (measured) cobnut_lab_mark(COBNUT_LAB_ITER, 0);
        if (wish.faults) {
            *reinterpret_cast<volatile Word *>(fault_address) = i;
            if (measured) cobnut_lab_mark(COBNUT_LAB_ITER, 0);
            right = call_server(take_back) == take_back + 1 && right;
        } else {
            right = call_server(nothing) == nothing + 1 && right;
        }
    }
    if (measured && !wish.faults) cobnut_lab_mark(COBNUT_LAB_ITER, 0);
    return right;
}

bool own_segment_right()
{
    Word found = 0;
    if (wish.tls) __asm__ __volatile__("mov %%gs:0, %0" : "=r"(found));
    return found == storage[0];
}

/// Counts in its own register, and in the server's memory, until another thread ends it.
constexpr Word mark_of_loop = 0x10095;
constinit volatile Word counter = 0;
extern "C" char loop_begin[], loop_end[];
[[noreturn]] void be_stopped_for_ever()
{
    counter = counter + *reinterpret_cast<volatile char *>(loop_begin) * 0; // both pages are there
    call_server(be_stopped);
    __asm__ __volatile__(".globl loop_begin, loop_end\n\t"
                         ".balign 16\n"
                         "loop_begin:\tincl %0\n\t"
                         "jmp loop_begin\n"
                         "loop_end:"
                         : "+m"(counter)
                         : "S"(mark_of_loop));
    __builtin_unreachable();
}

[[noreturn]] void client_main()
{
    L4_Set_ExceptionHandler(server);
    L4_Set_Pager(server);
    if (is_confined()) {
        L4_Set_MsgTag(L4_MsgTag_t{.raw = ready_label << 16});
        if (L4_IpcFailed(L4_Call(root))) tell_root(failed_label, L4_ErrorCode());
    }
    if (wish.stops) be_stopped_for_ever();
    Word selector = 0, standard;
    __asm__ __volatile__("mov %%gs, %0" : "=r"(standard));
    if (wish.tls) {
        storage[0] = 0x715;
        if (!Cobnut_TlsControl(L4_Myself(), reinterpret_cast<Word>(storage), &selector))
            tell_root(failed_label, L4_ErrorCode());
        __asm__ __volatile__("mov %0, %%gs" : : "r"(selector));
    }
    bool right = run(wish.warmup, false);
    cobnut_lab_mark(COBNUT_LAB_BEGIN, 0);
    right = run(wish.rounds, true) && right;
    cobnut_lab_mark(COBNUT_LAB_END, 0);
    right = own_segment_right() && right;
    __asm__ __volatile__("mov %0, %%gs" : : "r"(standard));
    L4_Set_Pager(root);
    tell_root(right ? done_label : failed_label, 0);
}

L4_Fpage_t mapped_pages()
{
    return L4_FpageLog2(reinterpret_cast<Word>(mapped), 12 + __builtin_ctz(wish.pages)) + L4_FullyAccessible;
}

/// Loads the answer to a fault of the client's: the pages that come and go, or one of the image.
void answer_client(Word address)
{
    const Word page = address & -page_size;
    if (page != fault_address) return cobnut::load_page(page, address);
    faults = faults + 1;
    cobnut::load_answer(L4_MapItem(mapped_pages(), fault_address));
}

/// The client, which runs, is stopped where it is, and goes on. True if it did.
bool stop_client()
{
    cobnut::AllRegisters r;
    const Word before = counter;
    L4_Sleep(L4_TimePeriod(2000));
    if (stops >= wish.warmup) cobnut_lab_mark(COBNUT_LAB_ITER, 0);
    const Word running = cobnut::control_thread(client, cobnut::control_halt | cobnut::control_read, nullptr, &r);
    const Word halted = cobnut::control_thread(client, cobnut::control_resume);
    if (stops >= wish.warmup) cobnut_lab_mark(COBNUT_LAB_ITER, 0);
    stops = stops + 1;
    return running == 0 && halted == 1 && counter != before && r.esi == mark_of_loop &&
           r.eip >= reinterpret_cast<Word>(loop_begin) && r.eip < reinterpret_cast<Word>(loop_end);
}

/// The client goes on by itself, and the server is more urgent than that.
[[noreturn]] void stop_client_often()
{
    bool right = true;
    for (unsigned i = 0; i < wish.warmup; i++) right = stop_client() && right;
    cobnut_lab_mark(COBNUT_LAB_BEGIN, 0);
    for (unsigned i = 0; i < wish.rounds; i++) right = stop_client() && right;
    cobnut_lab_mark(COBNUT_LAB_END, 0);
    tell_root(right ? done_label : failed_label, 0);
}

[[noreturn]] void server_main()
{
    for (Word at = 0; at < wish.pages * page_size; at += page_size) mapped[at] = 1; // what is not there is not mapped
    L4_ThreadId_t from;
    L4_MsgTag_t tag = L4_Wait(&from);
    for (;;) {
        if (L4_IpcFailed(tag)) tell_root(failed_label, L4_ErrorCode());
        if (L4_Label(tag) == exception_label) {
            Word ip, request;
            L4_StoreMR(1, &ip);
            L4_StoreMR(12, &request);
            if (request == take_back) L4_UnmapFpage(mapped_pages());
            calls = calls + 1;
            // all others are still where they came
            L4_Set_MsgTag(L4_MsgTag_t{.raw = 12});
            L4_LoadMR(1, wish.gate ? reinterpret_cast<Word>(gate_lret) : ip + int_length);
            if (wish.gate) L4_LoadMR(4, cobnut::sysenter_answer);
            L4_LoadMR(12, request + 1);
            if (request == be_stopped) {
                if (L4_IpcFailed(L4_Send(from))) tell_root(failed_label, L4_ErrorCode());
                stop_client_often();
            }
        } else if (!cobnut::is_page_fault(tag)) {
            Word value; // that the client is done, which it may tell the server alone
            L4_StoreMR(1, &value);
            tell_root(L4_Label(tag), value);
        } else {
            Word address;
            L4_StoreMR(1, &address);
            answer_client(address);
        }
        tag = L4_ReplyWait(from, &from);
    }
}

// ------------------------------------------------------------------------------------------------- the root thread

bool parse(const char *command_line)
{
    const cobnut::Options options(command_line);
    const cobnut::Text pair = options.find("pair"), what = options.find("what");
    wish.small_client = pair == "small_small" || pair == "small_large";
    wish.small_server = pair == "small_small" || pair == "large_small";
    wish.faults = what == "fault";
    wish.stops = what == "stop";
    bool bad = pair && !wish.small_client && !wish.small_server && !(pair == "large_large");
    bad = bad || (what && !wish.faults && !wish.stops && !(what == "call"));
    wish.confined = options.number("confined", wish.confined, &bad);
    wish.gate = options.number("gate", wish.gate, &bad);
    wish.tls = options.number("tls", wish.tls, &bad);
    wish.rounds = options.number("rounds", wish.rounds, &bad);
    wish.warmup = options.number("warmup", wish.warmup, &bad);
    wish.slot_mb = options.number("slot", wish.slot_mb, &bad);
    wish.pages = options.number("pages", wish.pages, &bad);
    bad = bad || !wish.pages || wish.pages > most_pages || wish.pages & (wish.pages - 1);
    if (!bad && wish.rounds && wish.tls <= 1 && wish.confined <= 1 && wish.gate <= 1) return true;
    cobnut::print("reflect: FAIL bad option in '%s'\n", command_line);
    return false;
}

/// The page of this image in the same place.
void answer_fault(L4_ThreadId_t from, Word address, Word ip)
{
    if (address < reinterpret_cast<Word>(image_start) || address >= reinterpret_cast<Word>(image_end))
        fail("page fault outside the image", from.raw, ip);
    cobnut::load_page(address & -page_size, address);
}

/// The client, which has asked for that, can send to the server alone from now on.
void confine_client()
{
    const cobnut::Said said = cobnut::page_until_said(L4_nilthread, answer_fault);
    if (said.from != client || said.label != ready_label) fail("unknown message", said.from.raw, said.label);
    if (!L4_SpaceControl(client, 0, L4_Nilpage, L4_Nilpage, server, nullptr)) fail("the redirector", L4_ErrorCode());
    if ((wish.stops || wish.gate) && !cobnut::set_controlled(client, true))
        fail("control of the client", L4_ErrorCode());
    if (wish.stops && !L4_Set_Priority(server, 101)) fail("the server's priority", L4_ErrorCode());
    L4_Set_MsgTag(L4_Niltag);
    if (L4_IpcFailed(L4_Reply(client))) fail("the client does not wait", L4_ErrorCode());
}

} // namespace

int cobnut_main(const char *command_line)
{
    if (!parse(command_line)) return 1;
    if (reinterpret_cast<Word>(image_end) > fault_address) fail("the image reaches too far");
    root = L4_Myself();
    const Word number = L4_ThreadNo(root);
    client = L4_GlobalId(number + 1, 1);
    server = L4_GlobalId(number + 2, 1);
    const L4_Fpage_t kip = L4_FpageLog2(kip_address, 12), utcbs = L4_FpageLog2(utcb_address, 12);
    cobnut::make_thread(client, client, kip, utcbs);
    cobnut::make_thread(server, server, kip, utcbs);
    if (wish.small_client) cobnut::make_small(client, 0, wish.slot_mb);
    if (wish.small_server) cobnut::make_small(server, 1, wish.slot_mb);
    cobnut::start(server, server_main, server_stack + page_size);
    cobnut::start(client, client_main, client_stack + page_size);
    if (is_confined()) confine_client();
    const cobnut::Said said = cobnut::page_until_said(L4_nilthread, answer_fault);
    if (said.label != done_label) fail("unknown message", said.from.raw, said.label);
    if ((said.from == server) != is_confined()) fail("who said so", said.from.raw);
    cobnut::check_still(client, wish.small_client, 0, wish.slot_mb);
    cobnut::check_still(server, wish.small_server, 1, wish.slot_mb);
    cobnut::print("reflect: %u calls, %u faults, %u stops\n", calls, faults, stops);
    cobnut::print("reflect: done\n");
    return 0;
}
