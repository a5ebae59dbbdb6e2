// SPDX-License-Identifier: BSD-2-Clause
// I/O ports as fpages (manual A.4): mapped, granted and revoked like memory, to the single port; faults go to the pager
// (docs/x2-ia32.md, 6.2). The page registers of the DMA controller (0x81 to 0x83) hold what is written to them.
#include "../harness.h"

#include <cobnut/audit.h>
#include <initializer_list>

extern "C" {
x2test::Word x2test_in8(x2test::Word port, x2test::Word, x2test::Word);
x2test::Word x2test_in16(x2test::Word port, x2test::Word, x2test::Word);
x2test::Word x2test_in32(x2test::Word port, x2test::Word, x2test::Word);
x2test::Word x2test_in83(x2test::Word, x2test::Word, x2test::Word);
x2test::Word x2test_out8(x2test::Word port, x2test::Word value, x2test::Word);
x2test::Word x2test_ins8(x2test::Word port, x2test::Word address, x2test::Word bytes);
x2test::Word x2test_outs16(x2test::Word port, x2test::Word address, x2test::Word);
x2test::Word x2test_port_cli(x2test::Word port, x2test::Word, x2test::Word);
extern const char x2test_in8_ip[], x2test_in83_ip[], x2test_ins8_ip[];
}
__asm__(".text\n.globl x2test_in8, x2test_in8_ip\n"
        "x2test_in8: mov 4(%esp), %edx; xor %eax, %eax\n"
        "x2test_in8_ip: in %dx, %al; ret\n"
        "x2test_in16: mov 4(%esp), %edx; xor %eax, %eax; in %dx, %ax; ret\n"
        "x2test_in32: mov 4(%esp), %edx; in %dx, %eax; ret\n"
        "x2test_in83: xor %eax, %eax\n"
        "x2test_in83_ip: in $0x83, %al; ret\n"
        "x2test_out8: mov 4(%esp), %edx; mov 8(%esp), %eax; out %al, %dx; ret\n"
        "x2test_ins8: push %edi; mov 8(%esp), %edx; mov 12(%esp), %edi; mov 16(%esp), %ecx\n"
        "x2test_ins8_ip: rep insb; mov %ecx, %eax; pop %edi; ret\n"
        "x2test_outs16: push %esi; mov 8(%esp), %edx; mov 12(%esp), %esi; outsw; pop %esi; ret\n"
        "x2test_port_cli: mov 4(%esp), %edx; in %dx, %al; cli; ret\n");

namespace x2test {
namespace {

constexpr Word port = 0x83;
constexpr Kind own_kinds[] = {Kind::large, Kind::small};

L4_Fpage_t ports(Word first, int log2) { return L4_IoFpageLog2(first, log2); }
const L4_Fpage_t all_ports = {.raw = 0x4020};

void give_ports(Agent *a, L4_Fpage_t f, L4_Fpage_t window) { give(a, f, 0, window); }
void give_port(Agent *a) { give_ports(a, ports(port, 0), all_ports); }

/// Whether an access faults; its agent waits for the answer from then on.
bool port_faults(Agent *a, Function f, Word number)
{
    begin(a, f, number);
    finish(a, true);
    if (a->out.done == (a->out.port_faults != 0)) fail("port %x: neither done nor a fault", number);
    return a->out.port_faults != 0;
}
/// The answer to the fault: a mapping of f, or nothing; the instruction runs again.
void answer(Agent *a, L4_Fpage_t f)
{
    a->out.port_faults = 0;
    const L4_MapItem_t item = L4_MapItem(f, 0);
    L4_Set_MsgTag(L4_MsgTag_t{.raw = L4_IsNilFpage(f) ? 0 : 2u << 6});
    L4_LoadMR(1, item.raw[0]);
    L4_LoadMR(2, f.raw);
    if (L4_IpcFailed(L4_Send_Timeout(a->id, second))) fail("the answer to a port fault is not taken");
}

void fault_message()
{
    struct {
        Function f;
        Word number, log2, ip;
    } const cases[] = {
        {x2test_in8, 0x83, 0, reinterpret_cast<Word>(x2test_in8_ip)},
        {x2test_in16, 0x82, 1, 0},
        {x2test_in32, 0xCF8, 2, 0},
        {x2test_in83, 0x83, 0, reinterpret_cast<Word>(x2test_in83_ip)},
        {x2test_out8, 0x80, 0, 0},
        {x2test_ins8, 0x1F0, 0, reinterpret_cast<Word>(x2test_ins8_ip)},
        {x2test_outs16, 0x1F0, 1, 0},
        {x2test_in16, 0x3F8, 1, 0}, // of the console's ports all may use bytes only
    };
    for (const Kind kind : own_kinds)
        for (const auto &c : cases) {
            Agent *a = agent(kind);
            if (!a) return;
            begin(a, c.f, c.number, reinterpret_cast<Word>(arena), 1);
            finish(a, true);
            CHECK_EQUAL(a->out.port_faults, 1);
            CHECK_EQUAL(a->out.port_fault[0], 0xFF860002);
            CHECK_EQUAL(a->out.port_fault[1], ports(c.number, static_cast<int>(c.log2)).raw);
            if (c.ip) CHECK_EQUAL(a->out.port_fault[2], c.ip);
            CHECK_EQUAL((small_number(a) != 0), (kind == Kind::small));
            remove(a);
        }
}

void answered_with_a_mapping()
{
    for (const Kind kind : own_kinds) {
        Agent *a = agent(kind);
        if (!a) return;
        x2test_out8(port, 0x5A, 0);
        CHECK(port_faults(a, x2test_in8, port));
        answer(a, L4_Nilpage); // nothing: the same fault comes again
        finish(a, true);
        CHECK_EQUAL(a->out.port_faults, 1);
        answer(a, ports(port, 0));
        CHECK_EQUAL(finish(a).value, 0x5A);
        CHECK_EQUAL(ask(a, x2test_in8, port).value, 0x5A);
        ask(a, x2test_out8, port, 0xA5);
        CHECK_EQUAL(x2test_in8(port, 0, 0), 0xA5);
        CHECK_EQUAL((small_number(a) != 0), (kind == Kind::small));
    }
}

Word do_use_both(Word first, Word second, Word)
{
    x2test_in8(first, 0, 0);
    return x2test_in8(second, 0, 0);
}
/// Only what is mapped, to the single port, also for a thread that may use another at the moment.
void single_ports()
{
    for (const Word beside : {port - 1, port + 1}) {
        Agent *a = agent(Kind::other);
        if (!a) return;
        give_port(a);
        CHECK(!port_faults(a, x2test_in8, port));
        begin(a, do_use_both, port, beside);
        CHECK_EQUAL(finish(a, true).port_faults, 1);
        CHECK_EQUAL(a->out.port_fault[1], ports(beside, 0).raw);
    }
    Agent *a = agent(Kind::other), *b = agent(Kind::other);
    if (!a || !b) return;
    give_port(a);
    CHECK(port_faults(a, x2test_in16, port - 1)); // one port of two
    give_ports(b, ports(port - 1, 0), all_ports);
    give_port(b);
    CHECK(!port_faults(b, x2test_in16, port - 1));
}

void many_ports()
{
    Agent *a = agent(Kind::other);
    if (!a) return;
    give_ports(a, all_ports, all_ports);
    for (const Word first : {0x20u, 0x61u, 0x70u, port, 0x3F9u, 0xFFFFu}) CHECK(!port_faults(a, x2test_in8, first));
}

/// The receiver's window decides: an I/O fpage cuts, a memory window or none refuses, the complete space takes all.
void windows()
{
    Agent *cut = agent(Kind::other), *complete = agent(Kind::other);
    if (!cut || !complete) return;
    give_ports(cut, ports(0x80, 4), ports(0x82, 1));
    CHECK(!port_faults(cut, x2test_in8, 0x82));
    CHECK(!port_faults(cut, x2test_in8, 0x83));
    CHECK(port_faults(cut, x2test_in8, 0x81));
    give_ports(complete, ports(port, 0), L4_CompleteAddressSpace);
    CHECK(!port_faults(complete, x2test_in8, port));
    for (const L4_Fpage_t window : {L4_Nilpage, L4_FpageLog2(free_area, 16)}) {
        Agent *a = agent(Kind::other), *b = agent(Kind::other);
        if (!a || !b) return;
        give_port(a);
        CHECK(!pass(a, b, ports(port, 0), 0, window));
        CHECK(port_faults(b, x2test_in8, port));
    }
}

/// A thread cannot map ports that its space does not have.
void only_ones_own()
{
    Agent *a = agent(Kind::large), *b = agent(Kind::small);
    if (!a || !b) return;
    give_port(a);
    CHECK(pass(a, b, all_ports, 0, all_ports));
    CHECK(!port_faults(b, x2test_in8, port));
    CHECK(port_faults(b, x2test_in8, port - 1));
}

Word do_unmap(Word fpage, Word control, Word)
{
    L4_LoadMR(0, fpage);
    L4_Unmap(control);
    return 0;
}
/// Revoked from all spaces that got it from this one; those that used it a moment ago included.
void unmapped()
{
    for (const Kind kind : own_kinds) {
        Agent *a = agent(kind), *b = agent(kind), *c = agent(Kind::other);
        if (!a || !b || !c) return;
        give_ports(a, ports(0x80, 4), all_ports);
        CHECK(pass(a, b, ports(0x80, 4), 0, all_ports));
        CHECK(pass(b, c, ports(port, 0), 0, all_ports));
        for (Agent *x : {c, b, a}) CHECK(!port_faults(x, x2test_in8, port));
        ask(a, do_unmap, ports(port, 0).raw, 0); // from a's children, not from a
        CHECK(!port_faults(a, x2test_in8, port));
        CHECK(!port_faults(b, x2test_in8, port - 1));
        CHECK(port_faults(b, x2test_in8, port));
        CHECK(port_faults(c, x2test_in8, port));
        L4_Unmap(all_ports);
        CHECK(port_faults(a, x2test_in8, port));
        x2test_out8(port, 0x3C, 0); // mine are still mine
        CHECK_EQUAL(x2test_in8(port, 0, 0), 0x3C);
    }
}

Word do_unmap_each(Word first, Word count, Word)
{
    for (Word i = 0; i < count; i++) do_unmap(ports(first + i, 0).raw, 0x40, 0);
    return 0;
}
/// A space without ports splits no other's mappings, which would cost kernel memory; and without any, ports.
void others_stay_whole()
{
    constexpr Word first = 0x4000;
    Agent *a = agent(Kind::other), *stranger = agent(Kind::other);
    if (!a || !stranger) return;
    give_ports(a, ports(first, 12), all_ports);
    const Word before = cobnut::audit().unused;
    ask(stranger, do_unmap_each, first, 1u << 12);
    CHECK_EQUAL(cobnut::audit().unused, before);
    CHECK(!port_faults(a, x2test_in8, first + 7));
}

Word do_use_and_flush(Word number, Word fpage, Word)
{
    x2test_in8(number, 0, 0);
    do_unmap(fpage, 0x40, 0);
    x2test_in8(number - 1, 0, 0);
    return x2test_in8(number, 0, 0);
}
/// One's own, without a thread switch in between; the port below stays.
void flushed()
{
    Agent *a = agent(Kind::other), *b = agent(Kind::other);
    if (!a || !b) return;
    give_ports(a, ports(port - 1, 1), all_ports);
    CHECK(pass(a, b, ports(port, 0), 0, all_ports));
    begin(a, do_use_and_flush, port, ports(port, 0).raw);
    CHECK_EQUAL(finish(a, true).port_faults, 1);
    CHECK_EQUAL(a->out.port_fault[1], ports(port, 0).raw);
    CHECK(port_faults(b, x2test_in8, port));
}

void granted()
{
    Agent *a = agent(Kind::large), *b = agent(Kind::small), *c = agent(Kind::other);
    if (!a || !b || !c) return;
    give_ports(a, ports(0x80, 4), all_ports);
    CHECK(pass(a, c, ports(port, 0), 0, all_ports));
    CHECK(!port_faults(a, x2test_in8, port));
    CHECK(pass(a, b, ports(port, 0), 0, all_ports, true));
    CHECK(!port_faults(b, x2test_in8, port));
    CHECK(!port_faults(c, x2test_in8, port)); // what was derived stays, now from b
    CHECK(!port_faults(a, x2test_in8, port - 1));
    CHECK(port_faults(a, x2test_in8, port));
    ask(b, do_unmap, ports(port, 0).raw, 0);
    CHECK(port_faults(c, x2test_in8, port));
}

Word do_use_and_call(Word number, Word partner, Word)
{
    x2test_in8(number, 0, 0);
    L4_Set_MsgTag(L4_Niltag);
    L4_Call(L4_ThreadId_t{.raw = partner});
    return x2test_in8(number, 0, 0);
}
Word do_wait_and_use(Word number, Word, Word)
{
    L4_ThreadId_t from;
    L4_Wait(&from);
    return x2test_in8(number, 0, 0);
}
/// A thread that the fast path switches to from one that used its ports cannot use them; one of the same space can.
void nobody_elses()
{
    for (const Kind kind : own_kinds)
        for (const Kind other : own_kinds) {
            Agent *a = agent(kind), *b = agent(other);
            Agent *mate = a ? agent_beside(a) : nullptr;
            if (!a || !b || !mate) return;
            give_port(a);
            begin(b, do_wait_and_use, port);
            begin(a, do_use_and_call, port, b->id.raw);
            CHECK_EQUAL(finish(b, true).port_faults, 1);
            CHECK(!port_faults(mate, x2test_in8, port));
        }
}

/// A space that is made of what a deleted one left has nothing of its ports.
void deleted_with_space()
{
    for (Word i = 0; i < 8; i++) {
        Agent *a = agent(i & 1 ? Kind::small : Kind::large);
        if (!a) return;
        CHECK(port_faults(a, x2test_in8, port));
        answer(a, all_ports);
        CHECK(finish(a).done);
        remove(a);
    }
}

/// The space changes between small and large, its ports do not.
void space_changes()
{
    Agent *a = agent(Kind::large);
    if (!a) return;
    give_port(a);
    for (int i = 0; i < 3; i++) {
        CHECK(make_small(a, a->index));
        CHECK(!port_faults(a, x2test_in8, port));
        make_large(a);
        CHECK(!port_faults(a, x2test_in8, port));
    }
}

/// String instructions work on mapped ports, over page faults in their memory.
void string_instructions()
{
    Agent *a = agent(Kind::small);
    if (!a) return;
    x2test_out8(port, 0x77, 0);
    give_port(a);
    arena_word(0) = 0;
    const Outcome &out = ask(a, x2test_ins8, port, free_area, 4);
    CHECK_EQUAL(out.port_faults, 0);
    CHECK_EQUAL(out.faults, 1);
    CHECK_EQUAL(ask(a, do_read, free_area).value, 0x77777777);
}
/// limits=1: memory past a slot promotes, as for all instructions.
void string_past_slot()
{
    if (!wish.limits) return;
    Agent *a = agent(Kind::small);
    if (!a) return;
    give_port(a);
    CHECK_EQUAL(ask(a, x2test_ins8, port, beyond_small, 1).faults, 1);
    CHECK_EQUAL(small_number(a), 0);
}

/// All may use the console's two ports, but not those beside them. Ports do not make cli allowed.
void console()
{
    Agent *a = agent(Kind::other), *b = agent(Kind::other);
    if (!a || !b) return;
    CHECK(!port_faults(a, x2test_in8, 0x3FD));
    CHECK(port_faults(a, x2test_in8, 0x3F9));
    give_ports(b, all_ports, all_ports);
    begin(b, x2test_port_cli, port);
    CHECK_EQUAL(finish(b, true).exceptions, 1);
    CHECK_EQUAL(b->out.exception[3], 13);
}

/// Ports are given out once, like devices' memory: by request, whole, to one thread.
void by_sigma0()
{
    Agent *a = agent(Kind::here), *b = agent(Kind::other);
    if (!a || !b) return;
    constexpr Word rights = L4_FullyAccessible;
    const Word block = L4_IoFpageLog2(0x5600, 4).raw, inside = L4_IoFpageLog2(0x5608, 0).raw;
    CHECK_EQUAL(ask(b, do_sigma0_get, block, 0).value, block | rights);
    CHECK_EQUAL(ask(b, do_sigma0_get, inside, 0).value, inside | rights);
    CHECK_EQUAL(ask(a, do_sigma0_get, inside, 0).value, 0);
    CHECK_EQUAL(ask(a, do_sigma0_get, L4_IoFpageLog2(0x5600, 8).raw, 0).value, 0); // part of it is another's
    CHECK_EQUAL(ask(a, do_sigma0_get, L4_IoFpageLog2(0x5601, 1).raw, 0).value, 0); // not aligned
    CHECK_EQUAL(ask(a, do_sigma0_get, L4_IoFpageLog2(0, 17).raw, 0).value, 0);
    begin(b, [](Word port, Word, Word) -> Word {
        Word value = 0;
        __asm__ volatile("inb %%dx, %%al" : "+a"(value) : "d"(port));
        return value;
    }, 0x560F);
    CHECK_EQUAL(finish(b).port_faults, 0);
    // The kernel's interrupt controllers and clock: a thread that stopped the ticks would have the processor for ever.
    for (Word port : {0x21, 0x40, 0x43, 0xA1})
        CHECK_EQUAL(ask(b, do_sigma0_get, L4_IoFpageLog2(port, 0).raw, 0).value, 0);
}

} // namespace

const Test port_tests[] = {
    {"port.by_sigma0", by_sigma0},
    {"port.fault_message", fault_message},
    {"port.answered_with_a_mapping", answered_with_a_mapping},
    {"port.single_ports", single_ports},
    {"port.many_ports", many_ports},
    {"port.windows", windows},
    {"port.only_ones_own", only_ones_own},
    {"port.unmapped", unmapped},
    {"port.others_stay_whole", others_stay_whole},
    {"port.flushed", flushed},
    {"port.granted", granted},
    {"port.nobody_elses", nobody_elses},
    {"port.deleted_with_space", deleted_with_space},
    {"port.space_changes", space_changes},
    {"port.string_instructions", string_instructions},
    {"port.string_past_slot", string_past_slot},
    {"port.console", console},
    {nullptr, nullptr},
};

} // namespace x2test
