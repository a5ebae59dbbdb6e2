// SPDX-License-Identifier: BSD-2-Clause
// The interrupt protocol (manual 7.2). The device is the serial port COM1: its transmitter interrupt can be raised at
// will, and the kernel, which prints through the same port, only polls it.
#include "../crowd.h"
#include "../harness.h"

namespace x2test {
namespace {

constexpr Word com1 = 0x3F8, interrupt_enable = com1 + 1, interrupt_id = com1 + 2, modem_control = com1 + 4;
constexpr Word transmitter_empty = 2, out2 = 8; // out2 connects the port to its interrupt line

const L4_ThreadId_t line3 = {.raw = 3 << 14 | 1}, line4 = {.raw = 4 << 14 | 1};

void out(Word port, Word value) { __asm__ volatile("outb %%al, %%dx" : : "a"(value), "d"(port)); }
Word in(Word port)
{
    Word value = 0;
    __asm__ volatile("inb %%dx, %%al" : "+a"(value) : "d"(port));
    return value & 0xFF;
}

void unattached_is_unknown() { CHECK_EQUAL(L4_Set_Priority(line3, 200), 0); }

void attach_and_detach()
{
    CHECK(L4_AssociateInterrupt(line3, main_id));
    CHECK(L4_Set_Priority(line3, 200) != 0);
    CHECK(L4_AssociateInterrupt(line3, main_id)); // once more is no error
    CHECK(L4_DeassociateInterrupt(line3));
    CHECK_EQUAL(L4_Set_Priority(line3, 200), 0);
}

void unavailable_lines()
{
    CHECK_EQUAL(L4_AssociateInterrupt(L4_GlobalId(2, 1), main_id), 0); // the cascade of the two controllers
    CHECK_EQUAL(L4_ErrorCode(), L4_ErrInvalidThread);
    CHECK_EQUAL(L4_AssociateInterrupt(L4_GlobalId(0, 1), main_id), 0); // the kernel's clock
    CHECK_EQUAL(L4_ErrorCode(), L4_ErrInvalidThread);
}

void no_such_handler()
{
    CHECK_EQUAL(L4_AssociateInterrupt(line3, unused_id()), 0);
    CHECK_EQUAL(L4_ErrorCode(), L4_ErrInvalidThread);
}

Word do_attach(Word, Word, Word) { return L4_AssociateInterrupt(line3, L4_Myself()) ? 0 : L4_ErrorCode(); }
void unprivileged()
{
    Agent *a = agent(Kind::other);
    if (!a) return;
    CHECK_EQUAL(ask(a, do_attach).value, L4_ErrNoPrivilege);
}

void quiet()
{
    out(interrupt_enable, 0);
    out(modem_control, in(modem_control) & ~out2);
    L4_DeassociateInterrupt(line4);
}

/// Three rounds of: raise, receive, quieten, acknowledge.
void delivery()
{
    CHECK(L4_AssociateInterrupt(line4, main_id));
    out(modem_control, in(modem_control) | out2);
    for (int i = 0; i < 3; i++) {
        out(interrupt_enable, transmitter_empty);
        L4_ThreadId_t from = L4_nilthread;
        const L4_MsgTag_t tag = L4_Ipc(L4_nilthread, line4, L4_Timeouts(L4_Never, second), &from);
        const Word error = L4_ErrorCode();
        out(interrupt_enable, 0);
        in(interrupt_id);
        if (tag.raw != 0xFFF00000 || from != line4) {
            quiet();
            fail("round %d: tag %08x from %08x, error %x", i, tag.raw, from.raw, error);
            return;
        }
        L4_Set_MsgTag(L4_Niltag);
        if (L4_IpcFailed(L4_Reply(line4))) {
            quiet();
            fail("round %d: the acknowledgement is not taken", i);
            return;
        }
    }
    quiet();
}

/// Until it is acknowledged, a line stays masked.
void masked_until_acknowledged()
{
    CHECK(L4_AssociateInterrupt(line4, main_id));
    out(modem_control, in(modem_control) | out2);
    out(interrupt_enable, transmitter_empty);
    const L4_MsgTag_t first = L4_Receive_Timeout(line4, second);
    out(interrupt_enable, 0);
    out(interrupt_enable, transmitter_empty); // asks again
    const L4_MsgTag_t silent = L4_Receive_Timeout(line4, short_time);
    L4_Set_MsgTag(L4_Niltag);
    const L4_MsgTag_t second_one = L4_Ipc(line4, line4, L4_Timeouts(L4_ZeroTime, second), nullptr);
    quiet();
    CHECK_EQUAL(first.raw, 0xFFF00000);
    CHECK(L4_IpcFailed(silent));
    CHECK_EQUAL(second_one.raw, 0xFFF00000);
}

/// An acknowledgement is taken while the next interrupt waits to be received: the usual loop may begin with one.
void acknowledged_while_pending()
{
    CHECK(L4_AssociateInterrupt(line4, main_id));
    out(modem_control, in(modem_control) | out2);
    out(interrupt_enable, transmitter_empty);
    pause(5000);
    L4_Set_MsgTag(L4_Niltag);
    const L4_MsgTag_t tag = L4_Ipc(line4, line4, L4_Timeouts(L4_ZeroTime, second), nullptr);
    quiet();
    CHECK_EQUAL(tag.raw, 0xFFF00000);
}

/// Interrupts are no threads to be deleted, moved or made members of a space.
void cannot_be_deleted_or_moved()
{
    CHECK(L4_AssociateInterrupt(line3, main_id));
    const L4_ThreadId_t nil = L4_nilthread;
    const auto unchanged = reinterpret_cast<void *>(-1);
    CHECK_EQUAL(L4_ThreadControl(line3, nil, nil, nil, unchanged), 0);
    CHECK_EQUAL(L4_ErrorCode(), L4_ErrInvalidThread);
    CHECK_EQUAL(L4_ThreadControl(line3, main_id, nil, main_id, unchanged), 0);
    CHECK(L4_Set_Priority(line3, 200) != 0); // as before
    CHECK(L4_DeassociateInterrupt(line3));
}

/// They are scheduled by privileged threads, whichever thread handles them; and receive nothing in other threads'
/// stead.
Word do_set_priority(Word id, Word priority, Word)
{
    return L4_Set_Priority(L4_ThreadId_t{.raw = id}, priority) ? 0 : L4_ErrorCode();
}
void scheduled_by_privileged_threads()
{
    Agent *mate = agent(Kind::here), *a = agent(Kind::other);
    if (!mate || !a) return;
    CHECK(L4_AssociateInterrupt(line3, main_id));
    const Word privileged = ask(mate, do_set_priority, line3.raw, 50).value;
    const Word unprivileged = ask(a, do_set_priority, line3.raw, 50).value;
    const Word redirected = L4_SpaceControl(a->id, 0, L4_Nilpage, L4_Nilpage, line3, nullptr);
    CHECK(L4_DeassociateInterrupt(line3));
    CHECK_EQUAL(privileged, 0);
    CHECK_EQUAL(unprivileged, L4_ErrNoPrivilege);
    CHECK_EQUAL(redirected, 0);
}

/// Raises the interrupt of the serial port, which main is to hear.
void raise()
{
    out(modem_control, in(modem_control) | out2);
    out(interrupt_enable, transmitter_empty);
}

/// anythread is interrupts, too; anylocalthread is not.
void received_by_open_wait()
{
    CHECK(L4_AssociateInterrupt(line4, main_id));
    raise();
    const L4_MsgTag_t none = L4_Ipc(L4_nilthread, L4_anylocalthread, L4_Timeouts(L4_Never, short_time), nullptr);
    L4_ThreadId_t from = L4_nilthread;
    const L4_MsgTag_t tag = L4_Wait_Timeout(second, &from);
    quiet();
    CHECK(L4_IpcFailed(none));
    CHECK_EQUAL(tag.raw, 0xFFF00000);
    CHECK_EQUAL(from.raw, line4.raw);
}

/// Takes an interrupt's message that its handler passes on, and acknowledges it.
Word do_handle(Word line, Word, Word)
{
    const L4_MsgTag_t tag = L4_Receive_Timeout(L4_ThreadId_t{.raw = line}, second);
    if (L4_IpcFailed(tag) || !L4_IpcPropagated(tag)) return tag.raw;
    L4_Set_MsgTag(L4_Niltag);
    return L4_IpcSucceeded(L4_Reply(L4_ThreadId_t{.raw = line})) ? L4_ActualSender().raw : 0;
}
/// The handler may pass an interrupt on in its name, to any space; the thread that gets it acknowledges it.
void propagated()
{
    Agent *a = agent(Kind::other);
    if (!a) return;
    CHECK(L4_AssociateInterrupt(line4, main_id));
    begin(a, do_handle, line4.raw);
    raise();
    const L4_MsgTag_t tag = L4_Receive_Timeout(line4, second);
    out(interrupt_enable, 0);
    L4_Set_VirtualSender(line4);
    L4_Set_MsgTag(L4_MsgTag_t{.raw = 0xFFF01000});
    const bool sent = L4_IpcSucceeded(L4_Send_Timeout(a->id, second));
    const Word actual = finish(a).value;
    quiet();
    CHECK_EQUAL(tag.raw, 0xFFF00000);
    CHECK(sent);
    CHECK_EQUAL(actual, main_id.raw);
}

/// Threads that queue at the interrupt keep neither it from its handler nor its acknowledgements from it.
void crowd_at_interrupt()
{
    CHECK(L4_AssociateInterrupt(line4, main_id));
    const Crowd crowd(line4, L4_nilthread, L4_Never, L4_Never);
    if (!crowd.complete()) return;
    out(modem_control, in(modem_control) | out2);
    for (int i = 0; i < 50; i++) {
        out(interrupt_enable, transmitter_empty);
        const L4_MsgTag_t tag = L4_Receive_Timeout(line4, second);
        out(interrupt_enable, 0);
        in(interrupt_id);
        if (tag.raw != 0xFFF00000) return quiet(), fail("round %d: tag %08x", i, tag.raw);
        if (i % 10 == 0) pause(2000); // ticks while the kernel may look through the queue
        L4_Set_MsgTag(L4_Niltag);
        if (L4_IpcFailed(L4_Reply(line4))) return quiet(), fail("round %d: the acknowledgement is not taken", i);
    }
    quiet();
}

} // namespace

const Test irq_tests[] = {
    {"irq.crowd_at_interrupt", crowd_at_interrupt},
    {"irq.unattached_is_unknown", unattached_is_unknown},
    {"irq.attach_and_detach", attach_and_detach},
    {"irq.unavailable_lines", unavailable_lines},
    {"irq.no_such_handler", no_such_handler},
    {"irq.unprivileged", unprivileged},
    {"irq.delivery", delivery},
    {"irq.masked_until_acknowledged", masked_until_acknowledged},
    {"irq.acknowledged_while_pending", acknowledged_while_pending},
    {"irq.scheduled_by_privileged_threads", scheduled_by_privileged_threads},
    {"irq.cannot_be_deleted_or_moved", cannot_be_deleted_or_moved},
    {"irq.received_by_open_wait", received_by_open_wait},
    {"irq.propagated", propagated},
    {nullptr, nullptr},
};

} // namespace x2test
