// SPDX-License-Identifier: BSD-2-Clause
#include "strings.h"

namespace x2test::strings {

alignas(4096) constinit Message message = {};
constinit unsigned char expected[half] = {};

namespace {

constexpr int rubbish = 0xEE;

} // namespace

void clear()
{
    message = Message{};
    message.acceptor = L4_StringItemsAcceptor.raw;
}

void fill()
{
    for (Word i = 0; i < half; i++) arena[i] = static_cast<unsigned char>(i * 7 + (i >> 8) * 13 + 1);
    __builtin_memset(arena + half, rubbish, half);
    __builtin_memset(expected, rubbish, half);
}

void prepare(Word bytes, Word from, Word to)
{
    clear(), fill();
    L4_Set_MsgLabel(&message.msg, 0x57);
    send(source(from), bytes);
    accept(target(to), half - to);
}

void expect(Word to, Word from, Word bytes) { __builtin_memcpy(expected + to, arena + from, bytes); }

bool target_as_expected()
{
    for (Word i = 0; i < half; i++)
        if (arena[half + i] != expected[i]) {
            fail("byte %x is %02x, not %02x", i, arena[half + i], expected[i]);
            return false;
        }
    return true;
}

Word do_send(Word to, Word timeout, Word)
{
    L4_Set_XferTimeouts(message.send_xfer);
    L4_MsgLoad(&message.msg);
    L4_LoadMR(0, message.msg.raw[0]);
    const L4_MsgTag_t tag =
        L4_Send_Timeout(L4_ThreadId_t{.raw = to}, L4_Time_t{.raw = static_cast<L4_Word16_t>(timeout)});
    message.sent_error = L4_ErrorCode();
    message.sent = tag.raw;
    L4_Set_XferTimeouts(0);
    return 0;
}

Word do_receive(Word from, Word timeout, Word)
{
    L4_Set_XferTimeouts(message.receive_xfer);
    L4_AcceptStrings(L4_Acceptor_t{.raw = message.acceptor}, &message.buffers);
    L4_ThreadId_t sender = L4_nilthread;
    const L4_MsgTag_t tag = L4_Ipc(L4_nilthread, L4_ThreadId_t{.raw = from}, timeout, &sender);
    L4_StoreMRs(0, 64, message.mr);
    message.got_error = L4_ErrorCode();
    message.actual_sender = L4_ActualSender().raw;
    message.from = sender.raw;
    message.got = tag.raw;
    L4_Accept(L4_UntypedWordsAcceptor);
    L4_Set_XferTimeouts(0);
    return 0;
}

void start(Agent *sender, Agent *receiver)
{
    begin(receiver, do_receive, sender->id.raw, second.raw);
    begin(sender, do_send, receiver->id.raw, second.raw);
}

void wait(Agent *sender, Agent *receiver)
{
    finish(sender);
    finish(receiver);
}

void transfer(Agent *sender, Agent *receiver)
{
    start(sender, receiver);
    wait(sender, receiver);
}

bool arrived()
{
    const Word tag = message.msg.raw[0] & 0xFFFF0FFF;
    if (message.sent == 0 && message.got == tag) return true;
    fail("sender has %08x (error %x), receiver %08x (error %x), not %08x", message.sent, message.sent_error,
         message.got, message.got_error, tag);
    return false;
}

bool failed(Word sender_code, Word receiver_code, Word offset)
{
    const Word for_sender = sender_code << 1 | offset << 4, for_receiver = receiver_code << 1 | 1 | offset << 4;
    const Word tag = (message.msg.raw[0] & 0xFFFF0FFF) | 0x8000;
    if (message.sent == 0x8000 && message.got == tag && message.sent_error == for_sender &&
        message.got_error == for_receiver)
        return true;
    x2test::fail("sender has %08x (error %x, not %x), receiver %08x (error %x, not %x)", message.sent,
                 message.sent_error, for_sender, message.got, message.got_error, for_receiver);
    return false;
}

void lose(Agent *a, Word address, Word pages)
{
    for (Word i = 0; i < pages; i++) ask(a, do_flush, page_at(address + i * page_size, L4_FullyAccessible).raw, 0x40);
}

} // namespace x2test::strings
