// SPDX-License-Identifier: BSD-2-Clause
// What a thread of a controlled space (docs/controlled-spaces.md) reaches by itself: its redirector, and nothing else.
#include <cobnut/control.h>
#include <l4/kdebug.h>
#include <l4/string.h>

#include "harness.h"
#include "machine.h"

namespace x2test {
namespace {

constexpr Word hello = 0x51 << 16 | 1;
constexpr Word page_fault_label = 0xFFE, exception_label = 0xFFB;

/// An agent in a space that main controls. Null after fail().
Agent *confined()
{
    Agent *a = agent(Kind::other);
    if (!a) return nullptr;
    if (redirect(a, main_id) && cobnut::set_controlled(a->id, true)) return a;
    fail("no control: error %u", L4_ErrorCode());
    return nullptr;
}

Word do_send(Word to, Word word, Word)
{
    L4_Set_MsgTag(L4_MsgTag_t{.raw = hello});
    L4_LoadMR(1, word);
    return L4_IpcSucceeded(L4_Send_Timeout(L4_ThreadId_t{.raw = to}, second));
}

/// The words of a message, and whether it has come.
constinit volatile Word heard = 0;
Word do_hear(Word, Word, Word)
{
    L4_ThreadId_t from;
    if (L4_IpcSucceeded(L4_Wait_Timeout(second, &from))) heard = heard + 1;
    return 0;
}

/// The thread that is named gets nothing: not a neighbour, not the redirector's, not one of a third space.
void sends_to_its_redirector_alone()
{
    Agent *a = confined();
    Agent *mate = a ? agent_beside(a) : nullptr, *beside_main = agent(Kind::here), *third = agent(Kind::other);
    if (!mate || !beside_main || !third) return;
    heard = 0;
    begin(mate, do_hear), begin(beside_main, do_hear), begin(third, do_hear);
    const Word named[] = {mate->id.raw, mate->local.raw, beside_main->id.raw, third->id.raw, main_id.raw};
    for (Word n = 0; n < 5; n++) {
        begin(a, do_send, named[n], n);
        const L4_MsgTag_t tag = L4_Receive_Timeout(a->id, second);
        Word word;
        L4_StoreMR(1, &word);
        CHECK(L4_IpcSucceeded(tag));
        CHECK(L4_IpcRedirected(tag));
        CHECK_EQUAL(tag.raw & 0xFFFF0FFF, hello);
        CHECK_EQUAL(word, n);
        CHECK_EQUAL(L4_IntendedReceiver().raw, n == 1 ? mate->id.raw : named[n]);
        CHECK_EQUAL(finish(a).value, 1);
    }
    CHECK_EQUAL(heard, 0);
}

Word do_fault_to(Word address, Word to, Word function)
{
    L4_Set_Pager(L4_ThreadId_t{.raw = to});
    L4_Set_ExceptionHandler(L4_ThreadId_t{.raw = to});
    if (function) reinterpret_cast<Function>(function)(0, 0, 0);
    return *reinterpret_cast<volatile Word *>(address);
}
/// Its faults and exceptions come there, too, whatever it names; and that they are the kernel's messages can be told,
/// since those that it makes up are all marked.
void faults_are_not_forged()
{
    for (int made_up = 0; made_up < 2; made_up++)
        for (int exception = 0; exception < 2; exception++)
            for (int named = 0; named < 3; named++) {
                Agent *a = confined();
                Agent *mate = a ? agent_beside(a) : nullptr, *beside_main = agent(Kind::here);
                if (!mate || !beside_main) return;
                const Word to = named == 0 ? main_id.raw : named == 1 ? mate->id.raw : beside_main->id.raw;
                const Word label = exception ? exception_label : page_fault_label;
                const Word code = reinterpret_cast<Word>(x2test_undefined_at);
                if (made_up) {
                    begin(a, [](Word whom, Word what, Word) {
                        L4_Set_MsgTag(L4_MsgTag_t{.raw = what << 20 | 2});
                        return Word{L4_IpcSucceeded(L4_Send(L4_ThreadId_t{.raw = whom}))};
                    }, to, label);
                } else {
                    ask(a, do_read, code); // the page is there
                    begin(a, do_fault_to, free_area, to, exception ? code : 0);
                }
                const L4_MsgTag_t tag = L4_Receive_Timeout(a->id, second);
                CHECK(L4_IpcSucceeded(tag));
                CHECK_EQUAL(tag.raw >> 20, label);
                CHECK_EQUAL(L4_IpcRedirected(tag), made_up);
                remove(a), remove(mate), remove(beside_main);
            }
}

constexpr Word page_of_string = free_area; // not mapped there
constexpr Word string_label = 0x53;

/// A string to or from that page, without a transfer timeout. The error code, 0 if it went well.
Word do_string(Word with, Word send, Word)
{
    const L4_ThreadId_t partner{.raw = with};
    const L4_StringItem_t string = L4_StringItem(page_size, reinterpret_cast<void *>(page_of_string));
    L4_Set_XferTimeouts(0);
    L4_MsgTag_t tag;
    if (send) {
        L4_Msg_t message;
        L4_MsgClear(&message);
        L4_Set_MsgLabel(&message, string_label);
        L4_MsgAppendSimpleStringItem(&message, string);
        L4_MsgLoad(&message);
        tag = L4_Send_Timeout(partner, second);
    } else {
        L4_MsgBuffer_t buffers;
        L4_MsgBufferClear(&buffers);
        L4_MsgBufferAppendSimpleRcvString(&buffers, string);
        L4_AcceptStrings(L4_StringItemsAcceptor, &buffers);
        tag = L4_Receive_Timeout(partner, second);
    }
    const Word error = L4_ErrorCode();
    L4_Accept(L4_UntypedWordsAcceptor);
    return L4_IpcFailed(tag) ? error : 0;
}
/// A page fault of the program in a string between the two ends the string at once: its pager is the redirector, which
/// waits for that string and would wait for ever.
void a_fault_in_a_string_keeps_nobody_waiting()
{
    constexpr Word of_partner = 6, mine = 5;
    for (Word program_sends = 0; program_sends < 2; program_sends++) {
        Agent *a = confined();
        if (!a) return;
        L4_Set_XferTimeouts(Word{second.raw} << 16 | second.raw); // an end also if it fails
        L4_MsgTag_t tag;
        const L4_Word64_t before = L4_SystemClock().raw;
        begin(a, do_string, main_id.raw, program_sends);
        if (program_sends) {
            L4_MsgBuffer_t buffers;
            L4_MsgBufferClear(&buffers);
            L4_MsgBufferAppendSimpleRcvString(&buffers, L4_StringItem(page_size, arena));
            L4_AcceptStrings(L4_StringItemsAcceptor, &buffers);
            tag = L4_Receive_Timeout(a->id, second);
        } else {
            L4_Msg_t message;
            L4_MsgClear(&message);
            L4_MsgAppendSimpleStringItem(&message, L4_StringItem(page_size, arena));
            L4_MsgLoad(&message);
            tag = L4_Send_Timeout(a->id, second);
        }
        const Word error = L4_ErrorCode();
        const L4_Word64_t passed = L4_SystemClock().raw - before;
        L4_Accept(L4_UntypedWordsAcceptor);
        L4_Set_XferTimeouts(0);
        CHECK(L4_IpcFailed(tag));
        CHECK_EQUAL(error >> 1 & 7, of_partner);
        CHECK(passed < 500000);
        CHECK_EQUAL(finish(a).value >> 1 & 7, mine);
        CHECK_EQUAL(a->out.faults, 0);
        remove(a);
    }
}

Word do_exchange(Word thread, Word, Word)
{
    cobnut::AllRegisters r;
    return cobnut::control_thread(L4_ThreadId_t{.raw = thread}, cobnut::control_read, nullptr, &r) == ~0u
               ? L4_ErrorCode()
               : 0;
}
/// What its threads do is the redirector's to say.
void no_registers_of_neighbours()
{
    Agent *a = confined(), *mate = a ? agent_beside(a) : nullptr;
    if (!mate) return;
    const Word threads[] = {mate->id.raw, mate->local.raw, a->id.raw, a->local.raw};
    for (const Word thread : threads) CHECK_EQUAL(ask(a, do_exchange, thread).value, L4_ErrInvalidThread);
    CHECK(cobnut::set_controlled(a->id, false));
    for (const Word thread : threads) CHECK_EQUAL(ask(a, do_exchange, thread).value, 0);
}

Word do_read_console(Word, Word, Word) { return static_cast<Word>(L4_KDB_ReadChar()); }
Word do_print(Word, Word, Word)
{
    L4_KDB_PrintChar('#');
    return 0;
}
/// No calls to the debug console: their instructions are what they are without.
void no_console()
{
    constexpr Function calls[] = {do_read_console, do_print};
    for (const Function call : calls) {
        Agent *a = confined();
        if (!a) return;
        begin(a, call);
        const L4_MsgTag_t tag = L4_Receive_Timeout(a->id, second);
        CHECK(L4_IpcSucceeded(tag));
        CHECK(!L4_IpcRedirected(tag));
#ifdef __arm__
        CHECK_EQUAL(tag.raw >> 20, page_fault_label);
#else
        Word mr[4];
        L4_StoreMRs(0, 4, mr);
        CHECK_EQUAL(tag.raw >> 20, exception_label);
        CHECK_EQUAL(mr[3], 3); // a breakpoint
#endif
        remove(a);
    }
}

#ifndef __arm__
Word do_out(Word port, Word, Word)
{
    __asm__ volatile("outb %0, %1" : : "a"('#'), "d"(port));
    return 0;
}
/// All may use the console's port, but not there.
void no_console_port()
{
    constexpr Word serial = 0x3F8, label = 0xFF8;
    Agent *a = confined();
    if (!a) return;
    begin(a, do_out, serial);
    const L4_MsgTag_t tag = L4_Receive_Timeout(a->id, second);
    CHECK(L4_IpcSucceeded(tag));
    CHECK_EQUAL(tag.raw >> 20, label);
    remove(a);
}
#endif

} // namespace

const Test confined_tests[] = {
    {"confined.sends_to_its_redirector_alone", sends_to_its_redirector_alone},
    {"confined.faults_are_not_forged", faults_are_not_forged},
    {"confined.a_fault_in_a_string_keeps_nobody_waiting", a_fault_in_a_string_keeps_nobody_waiting},
    {"confined.no_registers_of_neighbours", no_registers_of_neighbours},
    {"confined.no_console", no_console},
#ifndef __arm__
    {"confined.no_console_port", no_console_port},
#endif
    {nullptr, nullptr},
};

} // namespace x2test
