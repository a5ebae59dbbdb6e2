// SPDX-License-Identifier: BSD-2-Clause
// All that a server of another system's programs does, and all that may happen to these meanwhile, at random and at
// once: calls by `int` and sysenter, page faults, ports, strings, single steps, breakpoints, segments on both sides of
// their base, coprocessor registers, delayed preemptions; answers by the fast path, by the slow one and from outside;
// while spaces get slots and lose them, segments change, memory is short, threads move, get other ids and end. No
// program may find a register, a word or a segment that is not its own, and none may wait for ever.
#include "reflected.h"

#include <cobnut/account.h>
#include <cobnut/audit.h>
#include <cobnut/control.h>
#include <cobnut/pager.h>
#include <cobnut/tls.h>

extern "C" {
x2test::Word x2test_gs_sides(x2test::Word selector, x2test::Word rounds, x2test::Word);
extern x2test::Word x2test_data_selector;
/// Some instructions with TF set, among them a call, a page fault and accesses on both sides of the segment's base.
x2test::Word x2test_stepped(x2test::Word selector, x2test::Word page, x2test::Word);
extern const char x2test_step_first[], x2test_step_last[];
/// A breakpoint on a write, and accesses on both sides; the sum of these.
x2test::Word x2test_watched(x2test::Word selector, x2test::Word, x2test::Word);
extern const char x2test_watch_first[], x2test_watch_last[];
x2test::Word x2test_in8(x2test::Word port, x2test::Word, x2test::Word);
extern const char x2test_in8_ip[];
}
__asm__(".text\n.globl x2test_stepped, x2test_step_first, x2test_step_last\n"
        "x2test_stepped: push %gs; mov 8(%esp), %edx; mov 12(%esp), %ecx; mov %edx, %gs; mov $5, %eax\n"
        "pushf; orl $0x100, (%esp); popf\n"
        "x2test_step_first: inc %eax; inc %eax; int $0x80; mov (%ecx), %edx; sub %gs:-4, %eax; add %gs:0, %eax\n"
        "sub %gs:0, %eax; add %gs:-4, %eax; inc %eax; nop\n"
        "pushf; andl $~0x100, (%esp); popf\n"
        "x2test_step_last: pop %gs; ret\n"
        ".globl x2test_watched, x2test_watch_first, x2test_watch_last\n"
        "x2test_watched: push %gs; mov 8(%esp), %edx; mov %edx, %gs\n"
        "lea -16(%esp), %eax; xor %ecx, %ecx; mov $0xD00004, %edx\n"
        "x2test_watch_first: mov %eax, %dr1; mov %edx, %dr7\n"
        "push %ecx; push %ecx; push %ecx; push %ecx; add %gs:-4, %ecx; add %gs:0, %ecx; mov %ecx, (%esp)\n"
        "add $16, %esp\n"
        "xor %eax, %eax; mov %eax, %dr7; mov %dr6, %edx; mov %eax, %dr6\n"
        "x2test_watch_last: pop %gs; mov %ecx, %eax; ret\n");

namespace x2test {
namespace {

constexpr Word spaces = 3, each = 2, clients = spaces * each; // all spaces but the last are controlled by the server
constexpr Word shared = 3, seal = 0x5EA15EA1; // the arena's page with the segments, which is full of these
constexpr Word gate_call = 7, quick_call = 9, step_call = 7, string_label = 0x77, changed = 0x100;
constexpr Word port = 0x83, port_value = 0x5C, protection = 13, of_int80 = 8 * 0x80 + 2;
constexpr Word utcb_selector = 0x2B;

struct Client {
    Agent *agent;
    Word selector;
    volatile bool confined;
    volatile Word rounds;
};
constinit Client all[clients] = {};
constinit L4_ThreadId_t server_id = {};
/// Whether calls by sysenter take part. Their clients keep their spaces and ids: a call that is canceled goes on at 0.
constinit bool gate = false;
/// Whether there are coprocessor registers.
constinit bool registers = false;
constinit unsigned char buffer[3 * page_size] = {};

constinit struct {
    volatile Word what; ///< 1 + a client's step, or more for the server; 0: nothing
    volatile Word client, found;
} wrong = {};
void report(Word what, Word client, Word found)
{
    if (wrong.what) return;
    wrong.client = client;
    wrong.found = found;
    wrong.what = what;
}

// ------------------------------------------------------------------------------------------------------ clients
Word word_of_page(Word n) { return n == shared ? seal : 0xD0 + n; }
Word page_address(Word n) { return free_area + n * page_size; }

void send_string(Random &random)
{
    const Word page = random.below(arena_pages - 2);
    L4_Set_XferTimeouts(L4_Timeouts(L4_TimePeriod(4000), L4_TimePeriod(4000)));
    L4_Set_MsgTag(L4_MsgTag_t{.raw = string_label << 16 | 2 << 6 | 1});
    L4_LoadMR(1, page);
    L4_LoadMR(2, (1 + random.below(2 * page_size)) << 10);
    L4_LoadMR(3, page_address(page));
    L4_Send_Timeout(server_id, L4_TimePeriod(random.below(8000)));
}

void delay_preemptions(Random &random)
{
    L4_DisablePreemption();
    if (random.below(2)) L4_EnablePreemptionFaultException();
    for (Word spin = random.below(20000); spin; spin--) __asm__ volatile("");
    L4_EnablePreemption();
    L4_DisablePreemptionFaultException();
    if (random.below(2)) L4_ThreadSwitch(L4_nilthread);
}

constexpr Word steps = 11;
/// Those that reach to both sides of a segment, which is a fault where limits are enforced, and elsewhere goes unseen.
bool reaches_past_a_limit(Word what) { return what == 4 || what == 7 || what == 8; }
/// What it finds, less what it has to find.
Word step(Word what, const Client &c, Random &random)
{
    if (reaches_past_a_limit(what) && !wish.limits) return 0;
    const Word selector = c.selector, page = random.below(arena_pages), times = 1 + random.below(5);
    switch (what) {
    case 0:
    case 1: return x2test_reflected(times, selector, random.below(16));
    case 2:
    case 3: return *reinterpret_cast<volatile Word *>(page_address(page)) - word_of_page(page);
    case 4: return x2test_gs_sides(selector, times, 0) - 2 * times * seal;
    case 5: return gate && c.confined ? x2test_gate(gate_call, random.next() & nested_flag, 0) - gate_call - 1 : 0;
    case 6: return x2test_quick(quick_call, !gate || !c.confined || random.below(2), 0) - quick_call - 1;
    case 7: return x2test_stepped(selector, page_address(page), 0) - step_call - changed - 1;
    case 8: return x2test_watched(selector, 0, 0) - 2 * seal;
    case 9: return x2test_in8(port, 0, 0) - port_value;
    case 10: return send_string(random), 0;
    default: return delay_preemptions(random), 0;
    }
}

Word do_steps(Word n, Word seed, Word)
{
    Random random(seed);
    L4_Set_ExceptionHandler(server_id);
    L4_Set_Pager(server_id);
    for (;;) {
        const Word value = random.next() >> 1, what = random.below(steps + 1);
        Word after = value, gs;
        if (registers) __asm__ volatile("fninit; fildl %0" : : "m"(value));
        if (const Word found = step(what, all[n], random)) report(1 + what, n, found);
        if (registers) __asm__ volatile("fistpl %0" : "=m"(after));
        __asm__ volatile("mov %%gs, %0" : "=r"(gs));
        if (after != value) report(0x100 + what, n, after);
        if ((gs & 0xFFFF) != utcb_selector) report(0x200 + what, n, gs);
        all[n].rounds = all[n].rounds + 1;
    }
}

// ------------------------------------------------------------------------------------------------------- server
bool within(Word ip, const char *first, const char *last)
{
    return ip >= reinterpret_cast<Word>(first) && ip < reinterpret_cast<Word>(last);
}

bool load_page_answer(Word *mr, Random &random)
{
    const Word page = (mr[1] - free_area) / page_size;
    if (page >= arena_pages) return report(0x1000, 0, mr[1]), false;
    const bool many = random.below(8) == 0, twice = random.below(8) == 0;
    const L4_Fpage_t fpage = many ? L4_FpageLog2(arena_page(0), 16) : L4_FpageLog2(arena_page(page), 12);
    const L4_MapItem_t item = L4_MapItem(fpage + L4_Readable, many ? free_area : page_address(page));
    mr[0] = (twice ? 4u : 2u) << 6; // not by the fast path, with two items
    mr[1] = mr[3] = item.raw[0], mr[2] = mr[4] = item.raw[1];
    return true;
}

bool load_port_answer(Word *mr)
{
    if (mr[1] >> 16 != port || mr[2] != reinterpret_cast<Word>(x2test_in8_ip)) report(0x1100, 0, mr[1]);
    mr[0] = 2u << 6;
    mr[1] = L4_MapItem(L4_IoFpageLog2(port, 0), 0).raw[0], mr[2] = L4_IoFpageLog2(port, 0).raw;
    return true;
}

/// Adds to the registers that a call answers.
void change(Word *mr)
{
    constexpr Word answered[] = {5, 6, 9, 10, 11};
    for (const Word i : answered) mr[i] += changed;
}

void load_call_answer(Word *mr)
{
    const Word ip = mr[1];
    const bool by_int = mr[4] == of_int80;
    if (by_int && ip == reinterpret_cast<Word>(x2test_reflected_ip)) {
        constexpr Word given[] = {0xA6, 0xA5, 0xA7, 0, 0xA4, 0xA3, 0xA2, 0xA1};
        for (Word i = 0; i < 8; i++)
            if (i != 3 && mr[5 + i] != given[i]) report(0x1200 + i, 0, mr[5 + i]);
        change(mr), mr[7] += changed, mr[12] += changed, mr[1] += 2;
    } else if (by_int && within(ip, x2test_step_first, x2test_step_last)) {
        if (mr[12] != step_call) report(0x1210, 0, mr[12]);
        mr[12] += changed, mr[1] += 2;
    } else {
        const bool quick = mr[12] == quick_call;
        if (!quick && (by_int || ip || mr[12] != gate_call)) report(0x1220, 0, mr[12]);
        change(mr), mr[7] = 0x1A7, mr[12]++;
        mr[1] = reinterpret_cast<Word>(quick ? x2test_quick_lret : x2test_gate_return);
        if (quick) mr[4] = cobnut::sysenter_answer;
    }
}

void check_string(const Word *mr)
{
    const Word page = mr[1], bytes = mr[2] >> 10, first = *reinterpret_cast<volatile Word *>(buffer);
    if (bytes >= sizeof first && first != word_of_page(page)) report(0x1300 + page, 0, first);
}

/// Loads the answer to a message into `mr`; false if there is none.
bool load_answer_to(Word *mr, Random &random)
{
    constexpr Word preemption_label = 0xFFD0, single_step = 1, no_coprocessor = 7;
    const L4_MsgTag_t tag = {.raw = mr[0]};
    if (cobnut::is_page_fault(tag)) return load_page_answer(mr, random);
    if (cobnut::is_port_fault(tag)) return load_port_answer(mr);
    if (L4_Label(tag) == string_label) return check_string(mr), false;
    if (L4_Label(tag) == preemption_label) return false;
    if (!cobnut::is_exception(tag)) return report(0x1400, 0, mr[0]), false;
    mr[0] = 12;
    const Word number = mr[3], code = mr[4];
    // Where memory is short for the registers of the coprocessor, or for a breakpoint: again.
    if (number == single_step || number == no_coprocessor) return true;
    if (number == protection && !code && within(mr[1], x2test_watch_first, x2test_watch_last)) return true;
    const bool call = number == protection && (code == of_int80 || code == cobnut::sysenter_call);
    if (!call) return report(0x1500 + number, 0, mr[1]), false;
    load_call_answer(mr);
    return true;
}

bool is_confined(L4_ThreadId_t id)
{
    for (const Client &c : all)
        if (const Agent *a = c.agent; a && a->id == id) return c.confined;
    return false;
}

/// What a redirector can do beside, its control may have ended and begun meanwhile. True if that was the answer.
bool from_outside(L4_ThreadId_t client, const Word *mr, bool fault, Random &random)
{
    using namespace cobnut;
    if (!is_confined(client)) return false;
    if (random.below(4) == 0) flush_in(client, page_at(page_address(random.below(arena_pages)), random.below(8)));
    if (random.below(8) == 0) flush_in(client, L4_IoFpageLog2(port, 0));
    AllRegisters r;
    switch (random.below(8)) {
    case 0: control_thread(client, control_read, nullptr, &r); return false; // the answer comes the slow way
    case 1:
        if (control_thread(client, control_read | control_halt, nullptr, &r) == ~0u) return false;
        for (int tries = 0; tries < 100; tries++, L4_Sleep(L4_TimePeriod(500)))
            if (control_thread(client, control_write | control_resume, &r) != ~0u) break;
        return false;
    case 2:
        if (fault) return control_thread(client, control_cancel) != ~0u;
        for (Word i = 0; i < AllRegisters::words; i++) reinterpret_cast<Word *>(&r)[i] = mr[1 + i];
        return control_thread(client, control_write | control_cancel, &r) != ~0u;
    default: return false;
    }
}

/// Takes its time, for what may happen to a client that waits for the shortest way back: no other one runs meanwhile,
/// which would have to wait for the server.
void dawdle()
{
    constexpr Word microseconds = 1500;
    const L4_Clock_t begin = L4_SystemClock();
    while (L4_SystemClock().raw - begin.raw < microseconds) {}
}

/// Sends the answer and takes the next message, mostly as the fast path wants it. An answer that does not fit into the
/// client's account comes again, until there is room.
L4_MsgTag_t send_answer(L4_ThreadId_t to, const Word *mr, L4_ThreadId_t &from, Random &random)
{
    constexpr Word overflow = 4 << 1;
    for (;; L4_Sleep(L4_TimePeriod(500))) {
        L4_LoadMRs(0, static_cast<int>(1 + (mr[0] & 63) + (mr[0] >> 6 & 63)), mr);
        const bool in_two = random.below(8) == 0;
        L4_MsgTag_t tag = in_two ? L4_Reply(to) : L4_ReplyWait(to, &from);
        if (in_two && L4_IpcSucceeded(tag)) tag = L4_Wait(&from);
        if (L4_IpcSucceeded(tag) || (L4_ErrorCode() & 0xF) != overflow) return tag;
    }
}

Word do_serve_all(Word seed, Word, Word)
{
    constexpr Word flags = 0xF000; // of a message: redirected, and so on
    constexpr int own = 77;
    Random random(seed);
    L4_Set_XferTimeouts(L4_Timeouts(L4_TimePeriod(4000), L4_TimePeriod(4000)));
    L4_LoadBR(0, 1);
    L4_LoadBR(1, sizeof buffer << 10);
    L4_LoadBR(2, reinterpret_cast<Word>(buffer));
    L4_ThreadId_t from;
    for (L4_MsgTag_t tag = L4_Wait(&from);;) {
        Word mr[14];
        L4_StoreMRs(0, 14, mr);
        mr[0] &= ~flags;
        const bool fault = !cobnut::is_exception(tag);
        const bool answers = L4_IpcSucceeded(tag) && load_answer_to(mr, random);
        if (registers && random.below(16) == 0) __asm__ volatile("fninit; fildl %0; fildl %0; fildl %0" : : "m"(own));
        if (random.below(16) == 0) dawdle();
        if (answers && !from_outside(from, mr, fault, random)) tag = send_answer(from, mr, from, random);
        else tag = L4_Wait(&from);
    }
}

// ---------------------------------------------------------------------------------------------- what happens to them
bool new_segment(Client &c, Random &random)
{
    const Word base = arena_page(shared) + 4 * (1 + random.below(page_size / 4 - 2));
    return Cobnut_TlsControl(c.agent->id, base, &c.selector) != 0;
}

bool controls(Word s) { return s + 1 < spaces; }

/// A space with its clients, which are to run. False after fail().
bool renew(Word s, Random &random)
{
    Client *const c = all + s * each;
    for (Word i = 0; i < each; i++) {
        c[i].confined = false;
        if (Agent *a = c[i].agent) c[i].agent = nullptr, remove(a);
    }
    for (Word i = 0; i < each; i++) {
        c[i].agent = i ? agent_beside(c->agent) : agent(Kind::large);
        if (!c[i].agent || !new_segment(c[i], random)) return fail("no client: error %u", L4_ErrorCode()), false;
        begin(c[i].agent, do_steps, s * each + i, random.next());
    }
    if (!controls(s)) return true;
    if (!redirect(c->agent, server_id) || !cobnut::set_controlled(c->agent->id, true))
        return fail("no control: error %u", L4_ErrorCode()), false;
    for (Word i = 0; i < each; i++) c[i].confined = true;
    return true;
}

void move(const Agent *a, Random &random)
{
    switch (random.below(6)) {
    case 0: make_small(a, random.below(1 + wish.area_mb / 16)); break; // one more than there are
    case 1: make_small(a, random.below(2)); break; // where another one is
    case 2: make_large(a); break;
    case 3: cobnut::bind(a->id, random.below(2) ? server_id : all[random.below(spaces) * each].agent->id); break;
    case 4: cobnut::give_slot(a->id, random.below(6)); break;
    default: cobnut::leave_to_kernel(a->id);
    }
}

void make_memory_short(L4_ThreadId_t space, Random &random)
{
    cobnut::limit_kernel_memory(space, cobnut::kernel_memory_used(space) - 1);
    pause(random.below(3000));
    cobnut::limit_kernel_memory(space, cobnut::fair_share);
}

void change_schedule(L4_ThreadId_t client, Random &random)
{
    switch (random.below(3)) {
    case 0:
        L4_Set_Priority(client, random.below(2) ? 99 : 102);
        pause(random.below(3000));
        L4_Set_Priority(client, 100);
        break;
    case 1: L4_Set_PreemptionDelay(client, 98 + random.below(6), 1000 + random.below(9000)); break;
    default:
        L4_Set_Timeslice(client, L4_TimePeriod(3000), L4_TimePeriod(1000));
        pause(random.below(6000));
        L4_Set_Timeslice(client, L4_TimePeriod(1000 + random.below(10000)), L4_Never);
    }
}

/// The last thread of a space goes to another, or the first one gets another id.
void change_thread(Word n, Word to)
{
    const auto unchanged = reinterpret_cast<void *>(-1);
    Agent *const a = all[n].agent;
    const L4_ThreadId_t next = L4_GlobalId(L4_ThreadNo(a->id), (L4_Version(a->id) + 2) | 1);
    if (n % each == 0) {
        if (L4_ThreadControl(next, a->id, L4_nilthread, L4_nilthread, unchanged)) a->id = next;
    } else if (controls(to) && controls(n / each)) {
        L4_ThreadControl(a->id, all[to * each].agent->id, L4_nilthread, L4_nilthread, unchanged);
    }
}

void end_control_for_a_while(const Agent *a, Random &random)
{
    cobnut::set_controlled(a->id, false);
    if (random.below(2)) redirect(a, L4_anythread);
    pause(random.below(2000));
    redirect(a, server_id);
    cobnut::set_controlled(a->id, true);
}

void disturb(const Agent *server, Random &random)
{
    const Word s = random.below(spaces), n = random.below(clients);
    const Agent *const first = all[s * each].agent;
    switch (const Word what = random.below(20)) {
    default: move(what < 5 ? first : server, random); break;
    case 8:
    case 9:
    case 10:
    case 11: new_segment(all[n], random); break;
    case 12: make_memory_short(first->id, random); break;
    case 13:
    case 14: change_schedule(all[n].agent->id, random); break;
    case 15:
        if (random.below(8) == 0) renew(s, random);
        break;
    case 16:
        if (!gate) change_thread(n, s);
        break;
    case 17:
        if (!gate && controls(s)) end_control_for_a_while(first, random);
        break;
    case 18:
    case 19: pause(random.below(4000));
    }
}

void prepare_memory()
{
    __asm__ volatile("mov %%ds, %0" : "=r"(x2test_data_selector));
    x2test_data_selector &= 0xFFFF;
    __asm__ volatile("out %%al, %%dx" : : "a"(port_value), "d"(port));
    for (volatile unsigned char &byte : buffer) byte = 0; // there when the server's space gets the image
    mark_arena(0xD0);
    for (Word i = 0; i < page_size; i += sizeof(Word)) *reinterpret_cast<Word *>(arena_page(shared) + i) = seal;
    x2test_client_word = seal;
    for (Client &c : all) c = {};
    wrong.what = 0;
}

/// Some thousand random events; the seed says whether calls by sysenter take part.
void all_at_once()
{
    Random random(wish.seed);
    prepare_memory();
    gate = wish.seed % 2 && has_gate();
    registers = has_coprocessor();
    Agent *const server = agent(Kind::large);
    if (!server) return;
    server_id = server->id;
    CHECK(L4_Set_Priority(server_id, 101));
    give(server, L4_IoFpageLog2(port & ~7u, 3), 0, L4_Fpage_t{.raw = 0x4020});
    begin(server, do_serve_all, random.next());
    for (Word s = 0; s < spaces; s++)
        if (!renew(s, random)) return;
    constexpr Word between_looks = 32, patience = 5;
    Word before[clients] = {}, still[clients] = {};
    for (Word i = 1; i <= wish.calls / 8; i++) {
        disturb(server, random);
        if (random.below(2)) pause(random.below(1000));
        if (wrong.what) return fail("seed %u: %x of client %u: %x", wish.seed, wrong.what, wrong.client, wrong.found);
        if (i % between_looks) continue;
        pause(20000);
        for (Word n = 0; n < clients; n++) {
            still[n] = all[n].rounds == before[n] ? still[n] + 1 : 0;
            before[n] = all[n].rounds;
            if (still[n] == patience) return fail("seed %u: client %u waits for ever", wish.seed, n);
        }
        if (cobnut::audit().faults) return fail("seed %u: the books are wrong", wish.seed);
    }
}

} // namespace

const Test mixed_tests[] = {
    {"mixed.all_at_once", all_at_once},
    {nullptr, nullptr},
};

} // namespace x2test
