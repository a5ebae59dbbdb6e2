// SPDX-License-Identifier: BSD-2-Clause
// What Mach's primitives cost as a server's (interfaces/mach.h), for the laboratory (cobnut/lab.h), beside a plain
// message of this kernel between the same two tasks. Cases:
//   0 ipc       an empty message of this kernel's to another task, and its answer
//   1 null      a call of Mach's kernel: PortType
//   2 port      a port is made and given up
//   3 rpc       an empty Mach message to another task, and its answer, by Call on both sides
//   4 right     the same with a send right, which the receiver gives up
//   5 memory    the same with 64 KB of memory, which the receiver gives up
//   6 zero      the first access to a page of zeros
//   7 copy      a write to a page that was sent in a message
//   8 pager     the first access to a page of an external pager's
//   9 file      a page of a file is mapped, read through the program `filepager`, and given up
//  10 fork      a task is made as a copy, ends, and the caller is told
//  11 page      as 5 with a page of memory
#include <mach/mach.h>
#include <system/system.h>

#include <cobnut/payload.h>
#include <cobnut/rounds.h>

namespace {

using mach::ask, mach::Disposition, mach::Message, mach::Name, mach::Word;

constexpr unsigned rounds = 48, warmup = 8;
constexpr Word page = mach::page_size, block = 16 * page, all_pages = (rounds + warmup) * page;
constexpr Name bootstrap = 1;

constinit int failures = 0;
void must(bool holds) { failures += !holds; }

template <typename Once> void measure(unsigned number, Once once)
{
    cobnut::measure_rounds<warmup, rounds>(number, once);
}

volatile Word *words(Word address) { return reinterpret_cast<volatile Word *>(address); }

Message message_to(Name port, Word id)
{
    Message m;
    m.port = port;
    m.id = id;
    return m;
}

template <typename Body> Name make_task(Name port, Body body)
{
    const auto made = mach::fork(port);
    if (made && !made.value) {
        body();
        mach::exit(0);
    }
    must(bool(made));
    return made.value;
}

/// Answers Mach messages for ever, and gives up what they carry. The first tells where it is.
void echo_task()
{
    const Name port = ask<mach::PortAllocate>().value;
    Message answer = message_to(bootstrap, 1);
    answer.reply = port;
    auto got = ask<mach::Call>(answer, port);
    for (;;) {
        Message &m = got.value;
        if (m.right_count) ask<mach::PortDeallocate>(m.rights[0].name);
        if (m.memory_count) ask<mach::VmDeallocate>(m.memory[0].address);
        got = ask<mach::Call>(message_to(m.reply, 2), port);
    }
}

/// Answers plain messages for ever, after it has told its thread.
void plain_task()
{
    Message hello = message_to(bootstrap, 1);
    hello.word_count = 1;
    hello.words[0] = L4_Myself().raw;
    ask<mach::Send>(hello, mach::Wait::yes);
    L4_Accept(L4_UntypedWordsAcceptor);
    L4_ThreadId_t from = L4_nilthread;
    for (;;) {
        L4_Set_MsgTag(L4_MsgTag_t{.raw = 0});
        L4_ReplyWait(from, &from);
    }
}

void pager_task()
{
    const Name port = ask<mach::PortAllocate>().value;
    const Word buffer = ask<mach::VmAllocate>(page).value;
    *words(buffer) = 7;
    Message hello = message_to(bootstrap, 1);
    hello.reply = port;
    ask<mach::Send>(hello, mach::Wait::yes);
    for (;;) {
        const auto got = ask<mach::Receive>(port, mach::Wait::yes);
        if (got.value.id != mach::data_request) continue;
        ask<mach::DataProvided>(port, got.value.words[0], got.value.words[1], buffer);
    }
}

void messages(Name port, Name reply)
{
    const Name plain = make_task(port, plain_task);
    const L4_ThreadId_t thread = {.raw = ask<mach::Receive>(port, mach::Wait::yes).value.words[0]};
    measure(0, [&](unsigned) {
        L4_Set_MsgTag(L4_MsgTag_t{.raw = 0});
        must(!L4_IpcFailed(L4_Call(thread)));
    });
    measure(1, [&](unsigned) { must(ask<mach::PortType>(port).value == 3); });
    measure(2, [&](unsigned) { must(bool(ask<mach::PortDeallocate>(ask<mach::PortAllocate>().value))); });
    const Name echo = make_task(port, echo_task);
    Message m = message_to(ask<mach::Receive>(port, mach::Wait::yes).value.reply, 1);
    m.reply = reply;
    const auto call = [&](unsigned) { must(ask<mach::Call>(m, reply).value.id == 2); };
    measure(3, call);
    m.right_count = 1;
    m.rights[0] = {port, static_cast<Word>(Disposition::copy_send)};
    measure(4, call);
    m.right_count = 0;
    const Word at = ask<mach::VmAllocate>(block).value;
    for (Word i = 0; i < block; i += page) *words(at + i) = i;
    m.memory_count = 1;
    m.memory[0] = {at, block};
    measure(5, call);
    m.memory[0].bytes = page;
    measure(11, call);
    ask<mach::VmDeallocate>(at);
    ask<mach::TaskTerminate>(plain, Word{0});
    ask<mach::TaskTerminate>(echo, Word{0});
}

void pages(Name port)
{
    const Word at = ask<mach::VmAllocate>(all_pages).value;
    measure(6, [&](unsigned i) { *words(at + i * page) = i; });
    Message m = message_to(port, 1);
    m.memory_count = 1;
    m.memory[0] = {at, all_pages};
    ask<mach::Send>(m, mach::Wait::yes);
    measure(7, [&](unsigned i) { *words(at + i * page) = i + 1; });
    const auto sent = ask<mach::Receive>(port, mach::Wait::yes);
    must(*words(sent.value.memory[0].address + page) == 1);
    ask<mach::VmDeallocate>(sent.value.memory[0].address);
    ask<mach::VmDeallocate>(at);
    const Name pager = make_task(port, pager_task);
    const Name object = ask<mach::Receive>(port, mach::Wait::yes).value.reply;
    const Word mapped = ask<mach::VmMap>(object, all_pages, Word{0}, Word{0}).value;
    measure(8, [&](unsigned i) { must(*words(mapped + i * page) == 7); });
    ask<mach::VmDeallocate>(mapped);
    ask<mach::TaskTerminate>(pager, Word{0});
}

/// The first byte of the page, or -1 for none.
int first_byte(Name object)
{
    const auto at = ask<mach::VmMap>(object, page, Word{0}, Word{0});
    const int read = at ? *reinterpret_cast<volatile unsigned char *>(at.value) : -1;
    ask<mach::VmDeallocate>(at.value);
    return read;
}

void files()
{
    must(mach::is_there("files"));
    const auto opened = mach::open_object("files", "index.html");
    measure(9, [&](unsigned) { must(first_byte(opened.value.object) == '<'); });
    ask<mach::PortDeallocate>(opened.value.object);
}

void forks(Name notify)
{
    measure(10, [&](unsigned) {
        const Name child = make_task(0, [] {});
        ask<mach::PortNotify>(child, notify);
        must(ask<mach::Receive>(notify, mach::Wait::yes).value.id == mach::dead_name_notification);
        ask<mach::PortDeallocate>(child);
    });
}

int all()
{
    const Name port = ask<mach::PortAllocate>().value, reply = ask<mach::PortAllocate>().value;
    ask<mach::PortInsertSend>(port);
    messages(port, reply);
    pages(port);
    files();
    forks(reply);
    return failures;
}

} // namespace

int cobnut_main(const char *)
{
    const auto code = mach::boot(all);
    const bool right = code && !code.value;
    cobnut_printf(right ? "machbench: done\n" : "machbench: FAIL\n");
    return right ? 0 : 1;
}
