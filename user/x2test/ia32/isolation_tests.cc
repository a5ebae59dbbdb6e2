// SPDX-License-Identifier: BSD-2-Clause
// What keeps spaces apart where two features meet: a segment of a thread's own in a slot that changes, a return to an
// address that its space no longer reaches, map items that map nothing, what a processor keeps of the thread before.
#include "../harness.h"

#include <cobnut/audit.h>
#include <cobnut/pager.h>
#include <cobnut/tags.h>
#include <cobnut/tls.h>
#include <initializer_list>

// Code that tests copy to where it runs; by the numbers in kernel/ia32/layout.hpp.
extern "C" {
extern const char x2test_receiver[], x2test_receiver_end[], x2test_reader[], x2test_reader_end[];
extern const char x2test_waiter[], x2test_waiter_end[];
x2test::Word x2test_send_from_tls(x2test::Word selector, x2test::Word to, x2test::Word);
x2test::Word x2test_step_into_kernel(x2test::Word, x2test::Word, x2test::Word);
x2test::Word x2test_step_once(x2test::Word, x2test::Word, x2test::Word);
}
__asm__(".text\n"
        // Receives from the thread in EBX's place, for ever. The immediate operand is its first word but one.
        "x2test_receiver: mov $0x11111111, %edx\n"
        "xor %eax, %eax; xor %ecx, %ecx; xor %esi, %esi; int $0x30; jmp x2test_receiver\n"
        "x2test_receiver_end:\n"
        // Loads FS with the TLS segment, reads a word there, puts it into its own MR1 and sends that.
        "x2test_reader: mov $0x3b, %eax; mov %eax, %fs; mov $0x11111111, %ebx; mov $0x11111111, %edi\n"
        "mov %fs:(%ebx), %eax; mov %eax, 4(%edi)\n"
        "mov $0x11111111, %eax; xor %edx, %edx; xor %ecx, %ecx; mov $1, %esi; int $0x30\n"
        "1: jmp 1b\n"
        "x2test_reader_end:\n"
        // Waits for any thread; returns MR1.
        "x2test_waiter: push %ebp; push %ebx; push %esi; push %edi\n"
        "xor %eax, %eax; mov $-1, %edx; xor %ecx, %ecx; xor %esi, %esi; int $0x30\n"
        "x2test_waiter_back: mov %ebx, %eax; pop %edi; pop %esi; pop %ebx; pop %ebp; ret\n"
        "x2test_waiter_end:\n"
        // With the TLS segment as the stack's: sends to a thread, then waits for any; returns MR1.
        "x2test_send_from_tls: push %ebp; push %ebx; push %esi; push %edi\n"
        "mov 24(%esp), %eax; mov 20(%esp), %ecx; mov %ecx, %ss\n"
        "mov $-1, %edx; xor %ecx, %ecx; xor %esi, %esi; int $0x30\n"
        "mov %ds, %eax; mov %eax, %ss\n"
        "mov %ebx, %eax; pop %edi; pop %esi; pop %ebx; pop %ebp; ret\n"
        // TF on, and the next instruction enters the kernel: a receive from nobody that does not wait.
        "x2test_step_into_kernel: push %ebp; push %ebx; push %esi; push %edi\n"
        "call __L4_Kip_Base; mov %eax, %ebx; add 0xE0(%eax), %ebx\n"
        "xor %eax, %eax; xor %edx, %edx; mov $0x0400, %ecx; xor %esi, %esi\n"
        "cmpb $0x5B, (%ebx); jne 1f\n"
        "push %cs; push $2f; mov %esp, %ebp; mov $2f, %ebx; pushf; orl $0x100, (%esp); popf; sysenter\n"
        "1: call *%ebx\n"
        "2: pushf; andl $~0x100, (%esp); popf; xor %eax, %eax; pop %edi; pop %esi; pop %ebx; pop %ebp; ret\n"
        // A debug exception without a cause that the status could tell.
        "x2test_step_once: .byte 0xF1; xor %eax, %eax; ret\n");

namespace x2test {
namespace {

constexpr Word mb = 1u << 20;
constexpr Word invalid_opcode = 6;
void *const unchanged = reinterpret_cast<void *>(-1);

// ------------------------------------------------------------------------------------------ a TLS segment past its
// slot

/// A space without an image: its interface page and its code lie in its first megabyte.
class Outlaw {
public:
    explicit Outlaw(Word number)
        : first_(L4_GlobalId(L4_ThreadNo(main_id) + number, 1)),
          second_(L4_GlobalId(L4_ThreadNo(main_id) + number + 1, 1))
    {
    }
    ~Outlaw()
    {
        for (const L4_ThreadId_t id : {second_, first_})
            L4_ThreadControl(id, L4_nilthread, L4_nilthread, L4_nilthread, unchanged);
    }
    bool create() { return L4_ThreadControl(first_, first_, main_id, L4_nilthread, unchanged) && set_utcbs(0xA000); }
    bool set_utcbs(Word at)
    {
        utcbs_ = at;
        return L4_SpaceControl(first_, 0, L4_FpageLog2(0x8000, 12), L4_FpageLog2(at, 12), L4_nilthread, nullptr) != 0;
    }
    /// Makes both threads active; the first one waits for messages.
    bool activate()
    {
        if (!L4_ThreadControl(first_, first_, main_id, main_id, reinterpret_cast<void *>(utcbs_)) ||
            !L4_ThreadControl(second_, first_, main_id, main_id, reinterpret_cast<void *>(utcbs_ + 512)))
            return false;
        copy(x2test_receiver, x2test_receiver_end, arena_page(1));
        *reinterpret_cast<Word *>(arena_page(1) + 1) = main_id.raw;
        start(first_, code);
        return answer_fault(first_, code, 1);
    }
    /// Takes in the reader's code as a message, so that no access of its own goes past the slot, and runs it there.
    /// Returns the message that comes of it, if any.
    Word read(Word tls, Word offset)
    {
        alignas(4) unsigned char words[64] = {};
        const Word length = copy(x2test_reader, x2test_reader_end, reinterpret_cast<Word>(words));
        const Word values[] = {offset, utcbs_ + 512 + L4_UtcbIdOffset, main_id.raw};
        Word n = 0;
        for (Word i = 0; i + 4 <= length && n < 3; i++)
            if (*reinterpret_cast<Word *>(words + i) == 0x11111111) __builtin_memcpy(words + i, &values[n++], 4);
        L4_Set_MsgTag(L4_MsgTag_t{.raw = 16});
        L4_LoadMRs(1, 16, reinterpret_cast<Word *>(words));
        if (L4_IpcFailed(L4_Send_Timeout(first_, second)) || !Cobnut_TlsControl(second_, tls, nullptr))
            return fail("no reader"), 0;
        start(second_, utcbs_ + L4_UtcbIdOffset + 4);
        const L4_MsgTag_t tag = L4_Receive_Timeout(second_, short_time);
        Word found = 0;
        if (L4_IpcSucceeded(tag) && tag.raw == 1) L4_StoreMR(1, &found);
        return found;
    }
    /// Runs as far as its first fault in its first megabyte, so that the host in force has its directory entry.
    bool touch()
    {
        if (!L4_ThreadControl(first_, first_, main_id, main_id, reinterpret_cast<void *>(utcbs_))) return false;
        copy(x2test_receiver, x2test_receiver_end, arena_page(2));
        *reinterpret_cast<Word *>(arena_page(2) + 1) = main_id.raw;
        *reinterpret_cast<volatile Word *>(arena_page(2) + secret_at) = secret;
        start(first_, code);
        return answer_fault(first_, code, 2);
    }
    L4_ThreadId_t id() const { return first_; }

    static constexpr Word code = 0x10000, secret_at = 0x800, secret = 0x5EC2E7;

private:
    static Word copy(const char *from, const char *end, Word to)
    {
        const Word length = static_cast<Word>(end - from);
        __builtin_memcpy(reinterpret_cast<void *>(to), from, length);
        return length;
    }
    static void start(L4_ThreadId_t id, Word ip)
    {
        L4_Set_MsgTag(L4_MsgTag_t{.raw = 2});
        L4_LoadMR(1, ip);
        L4_LoadMR(2, 0);
        L4_Send(id);
    }
    static bool answer_fault(L4_ThreadId_t id, Word address, Word page)
    {
        Word at = 0;
        if (L4_IpcFailed(L4_Receive_Timeout(id, second))) return false;
        L4_StoreMR(1, &at);
        cobnut::load_page(arena_page(page), address);
        return at == address && L4_IpcSucceeded(L4_Reply(id));
    }

    L4_ThreadId_t first_, second_;
    Word utcbs_ = 0;
};

/// limits=1. Its code in UTCBs past its slot, and its segment past what has to be added for that: FS ends with the
/// space all the same. A neighbour in the same 4 MB has made the directory entry present already.
void segment_past_a_slot(bool by_moving)
{
    if (!wish.limits || !wish.automatic) return;
    constexpr Word utcbs = 0x180000, tls = 3 * mb;
    Outlaw victim(200), outlaw(202);
    CHECK(victim.create() && victim.touch() && outlaw.create());
    const Word offset_mb = cobnut::tag_of(victim.id()).offset_mb;
    CHECK_EQUAL(cobnut::tag_of(victim.id()).size_mb, 1);
    CHECK(outlaw.set_utcbs(utcbs) && outlaw.activate());
    if (!by_moving) CHECK(cobnut::give_slot(outlaw.id(), 0) && cobnut::leave_to_kernel(outlaw.id()));
    // A slot of 2 MB that holds the code begins at the next even megabyte.
    const Word there = (offset_mb + 2) * mb, wanted = offset_mb * mb + Outlaw::code + Outlaw::secret_at;
    const Word found = outlaw.read(tls, wanted - there - tls);
    CHECK(found != Outlaw::secret);
    CHECK_EQUAL(found, 0);
}
void segment_and_moved_utcbs() { segment_past_a_slot(true); }
void segment_and_a_short_slot() { segment_past_a_slot(false); }

/// Moved before their first use, areas lie in the slot that the kernel chooses.
void areas_move_with_a_slot()
{
    if (!wish.automatic) return;
    const struct {
        Word first, then;
        unsigned size_mb;
    } moves[] = {{0xA000, 0xB000, 1}, {0xA000, mb, 2}, {mb, 15 * mb, 16}, {0xA000, 300 * mb, 0}, {15 * mb, 0xA000, 16}};
    for (const auto &move : moves) {
        Outlaw outlaw(200);
        CHECK(outlaw.create() && outlaw.set_utcbs(move.first) && outlaw.set_utcbs(move.then) && outlaw.activate());
        CHECK_EQUAL(cobnut::tag_of(outlaw.id()).size_mb, move.size_mb); // one that is too long is kept
    }
}

// ------------------------------------------------------------------------------------------- the way back from a gate

Word do_call_with_word(Word to, Word word, Word)
{
    L4_Set_MsgTag(L4_MsgTag_t{.raw = word ? 1u : 0});
    L4_LoadMR(1, word);
    return L4_Call(L4_ThreadId_t{.raw = to}).raw;
}

/// It waits at an address that its space does not reach any more when it is called: the space becomes large, and its
/// pager hears of a fault there. All that the call has brought is still there afterwards.
void return_past_a_slot()
{
    constexpr Word place = 0x20000000;
    for (const Word word : {0u, 0xCA11u}) {
        Agent *waiter = agent(Kind::large), *mate = waiter ? agent_beside(waiter) : nullptr,
              *caller = agent(Kind::large);
        if (!mate || !caller) return;
        __builtin_memcpy(reinterpret_cast<void *>(arena_page(0)), x2test_waiter,
                         static_cast<size_t>(x2test_waiter_end - x2test_waiter));
        give_page(waiter, 0, place, L4_FullyAccessible);
        begin(waiter, reinterpret_cast<Function>(place));
        pause(1000);
        L4_Unmap(page_at(arena_page(0), L4_FullyAccessible));
        CHECK(make_small(mate, 2)); // naming the waiter itself would take it off the fast path
        begin(caller, do_call_with_word, waiter->id.raw, word);
        finish(waiter, true);
        CHECK(waiter->out.stuck);
        CHECK_EQUAL(waiter->out.fault_address & ~(page_size - 1), place);
        CHECK_EQUAL(small_number(mate), 0);
        cobnut::load_page(arena_page(0), place);
        CHECK(L4_IpcSucceeded(L4_Reply(waiter->id)));
        waiter->out = Outcome{};
        const Word found = finish(waiter).value;
        if (word) CHECK_EQUAL(found, word);
        remove(caller);
        remove(waiter);
        remove(mate);
    }
}

/// Its stack segment is one that it has no more when it is called.
void return_to_a_lost_stack()
{
    for (const Kind kind : {Kind::large, Kind::small}) {
        Agent *waiter = agent(kind), *receiver = agent(Kind::large), *caller = agent(Kind::large);
        if (!waiter || !receiver || !caller) return;
        Word selector = 0;
        CHECK(Cobnut_TlsControl(waiter->id, 0, &selector));
        begin(waiter, x2test_send_from_tls, selector, receiver->id.raw);
        pause(1000);
        CHECK(Cobnut_TlsControl(waiter->id, ~0u, &selector));
        ask(receiver, [](Word from, Word, Word) { return L4_Receive(L4_ThreadId_t{.raw = from}).raw; }, waiter->id.raw);
        begin(caller, do_call_with_word, waiter->id.raw, 0x57AC);
        CHECK_EQUAL(finish(waiter).value, 0x57AC);
    }
}

// -------------------------------------------------------------------------------------------- map items that map
// nothing

/// `item` from one agent to another, which opens all of its space; the tag that the receiver has then.
unsigned size_after(Agent *from, Agent *to, L4_Fpage_t fpage, Word base)
{
    pass(from, to, fpage, base, L4_CompleteAddressSpace);
    return cobnut::tag_of(to->id).size_mb;
}

/// Only what is mapped takes a slot: neither a hole, nor an item with more room than pages, nor what the space has
/// already.
void items_without_pages()
{
    for (const Kind kind : {Kind::small, Kind::automatic}) {
        if (kind == Kind::automatic && !wish.automatic) continue;
        Agent *from = agent(Kind::large), *to = agent(kind);
        if (!from || !to) return;
        const unsigned before = cobnut::tag_of(to->id).size_mb;
        CHECK_EQUAL(before, 16);
        CHECK_EQUAL(size_after(from, to, page_at(beyond_small, L4_FullyAccessible), beyond_small), before);
        CHECK_EQUAL(size_after(from, to, L4_FpageLog2(beyond_small, 24) + L4_FullyAccessible, 64 * mb), before);
        CHECK_EQUAL(size_after(from, to, L4_CompleteAddressSpace + L4_FullyAccessible, 0), before);
        arena_word(3) = 0x0B5E;
        give_page(from, 3, free_area, L4_FullyAccessible);
        CHECK_EQUAL(size_after(from, to, L4_FpageLog2(free_area, 14) + L4_FullyAccessible, 16 * mb - 4 * page_size),
                    before);
        CHECK_EQUAL(ask(to, do_read, 16 * mb - 4 * page_size).value, 0x0B5E);
        // One page of a long item is past the slot.
        const unsigned after = size_after(from, to, L4_FpageLog2(0, 24) + L4_FullyAccessible, 16 * mb);
        CHECK_EQUAL(after, kind == Kind::automatic ? 32 : 0);
        CHECK_EQUAL(ask(to, do_read, 16 * mb + free_area).value, 0x0B5E);
        remove(from);
        remove(to);
    }
}

// --------------------------------------------------------------------------------------- what others leave in the
// processor

Word do_get_status(Word, Word, Word)
{
    Word status;
    __asm__ volatile("mov %%dr6, %0" : "=r"(status));
    return status;
}

/// A debug exception that the kernel drops leaves no status to the thread that has the next one.
void dropped_debug_status()
{
    constexpr Word status_bits = 0xE00F;
    Agent *a = agent(Kind::other), *b = agent(Kind::other);
    if (!a || !b) return;
    begin(a, x2test_step_into_kernel);
    while (finish(a, true).exceptions) { // where TF is still on behind the call
        a->out.exceptions = 0;
        a->out.exception[0] = 2;
        a->out.exception[2] &= ~0x100u;
        L4_LoadMRs(0, 3, a->out.exception);
        CHECK(L4_IpcSucceeded(L4_Reply(a->id)));
    }
    CHECK(a->out.done);
    begin(b, x2test_step_once);
    CHECK_EQUAL(finish(b, true).exceptions, 1);
    CHECK_EQUAL(b->out.exception[3], 1);
    L4_Set_MsgTag(L4_Niltag);
    L4_Reply(b->id);
    CHECK(finish(b).done);
    CHECK_EQUAL(ask(b, do_get_status).value & status_bits, 0);
}

/// A Pentium that meets the locked compare-exchange without a memory operand reads the gate of its exception as if to
/// write it: that is a page fault there, and becomes the exception. A thread that reads it otherwise learns no more
/// than that.
void gate_of_undefined_instructions()
{
    struct [[gnu::packed]] {
        unsigned short limit;
        Word base;
    } table;
    __asm__("sidt %0" : "=m"(table));
    for (const Kind kind : {Kind::large, Kind::small}) {
        for (const Word offset : {0u, 4u, 7u}) {
            Agent *a = agent(kind);
            if (!a) return;
            begin(a, do_read, table.base + 8 * invalid_opcode + offset);
            finish(a, true);
            CHECK(!a->out.done);
            // Past a limit there is another exception before.
            if (!wish.limits) CHECK_EQUAL(a->out.exception[3], invalid_opcode);
            remove(a);
        }
    }
}

// ------------------------------------------------------------------------------------------------ the kernel's own
// books

/// Spaces of each kind run on each other's directories, and change kind; all the time the kernel's audit finds nothing.
void audited()
{
    Agent *leader = agent(Kind::large), *bound = agent(Kind::large), *small = agent(Kind::small),
          *own = agent(Kind::automatic);
    if (!leader || !bound || !small || !own) return;
    for (Word round = 0; round < 3; round++) {
        CHECK(cobnut::bind(bound->id, leader->id));
        for (Agent *a : {leader, bound, small, own, bound}) CHECK_EQUAL(ask(a, do_nothing).value, 0);
        CHECK_EQUAL(cobnut::audit().faults, 0);
        const Word log2 = wish.area_mb < 256 ? 4 : 5 + round % 2; // the smallest area has room for four of 16 MB
        CHECK(cobnut::give_slot(bound->id, log2) && cobnut::give_slot(small->id, 4));
        for (Agent *a : {bound, leader, small}) CHECK_EQUAL(ask(a, do_nothing).value, 0);
        CHECK_EQUAL(cobnut::audit().faults, 0);
    }
}

} // namespace

const Test isolation_tests[] = {
    {"isolation.segment_and_moved_utcbs", segment_and_moved_utcbs},
    {"isolation.segment_and_a_short_slot", segment_and_a_short_slot},
    {"isolation.areas_move_with_a_slot", areas_move_with_a_slot},
    {"isolation.return_past_a_slot", return_past_a_slot},
    {"isolation.return_to_a_lost_stack", return_to_a_lost_stack},
    {"isolation.items_without_pages", items_without_pages},
    {"isolation.dropped_debug_status", dropped_debug_status},
    {"isolation.gate_of_undefined_instructions", gate_of_undefined_instructions},
    {"isolation.audited", audited},
    {nullptr, nullptr},
};

} // namespace x2test
