// SPDX-License-Identifier: BSD-2-Clause
#include "commands.h"

#include <system/system.h>

namespace shell {
namespace {

using cobnut::ask_init, cobnut::Text;
using rpc::Word;

struct Called {
    Word number;
    const char *name;
};
constexpr Called operations[] = {
    {init::Open::number, "Open"},
    {init::Admit::number, "Admit"},
    {init::MayUse::number, "MayUse"},
    {init::Create::number, "Create"},
    {init::Copy::number, "Copy"},
    {init::Attach::number, "Attach"},
    {init::Detach::number, "Detach"},
    {init::Pass::number, "Pass"},
    {init::Close::number, "Close"},
    {init::OpenFile::number, "OpenFile"},
    {init::Shared::number, "Shared"},
    {init::Memory::number, "Memory"},
    {init::Describe::number, "Describe"},
    {init::Kill::number, "Kill"},
    {init::Run::number, "Run"},
    {init::Await::number, "Await"},
    {init::Trace::number, "Trace"},
    {init::ReadTrace::number, "ReadTrace"},
    {init::MakeThread::number, "MakeThread"},
    {init::TakeInterrupt::number, "TakeInterrupt"},
    {init::MakeSpace::number, "MakeSpace"},
    {init::EndSpace::number, "EndSpace"},
    {init::FindDevice::number, "FindDevice"},
    {init::OpenRange::number, "OpenRange"},
    {init::Physical::number, "Physical"},
    {init::BusMaster::number, "BusMaster"},
};

const char *name_of(Word operation)
{
    for (const Called &one : operations)
        if (one.number == operation) return one.name;
    return "an operation that init does not have";
}

void print_event(const init::Event &e)
{
    const auto program = ask_init<init::Describe>(e.program);
    const rpc::Name &name = program.value.name;
    print("%5u.%03u ms %.*s.%u: ", e.us / 1000, e.us % 1000, static_cast<int>(name.size), name.data, e.thread);
    switch (e.kind) {
    case init::Kind::call: {
        const auto error = static_cast<rpc::Error>(e.more);
        const char *const answer =
            e.more ? error == rpc::Error::later ? "answered later" : rpc::describe(error) : "done";
        print("%s: %s\n", name_of(e.what), answer);
        break;
    }
    case init::Kind::page_fault: print("page fault at %08x, ip %08x\n", e.what, e.more); break;
    case init::Kind::port_fault: print("fault at port %x, ip %08x\n", e.what, e.more); break;
    case init::Kind::exception: print("exception %u, ip %08x\n", e.what, e.more); break;
    case init::Kind::quantum: print("a quantum is used up\n"); break;
    case init::Kind::started: print("started, start %u\n", e.what); break;
    case init::Kind::ended: print("ended with code %d\n", static_cast<int>(e.what)); break;
    }
}

/// As far as there are events now: what the shell asks for meanwhile is traced, too.
void show()
{
    const Word end = ask_init<init::ReadTrace>(~Word{0}).value.next;
    for (Word from = 0; from < end;) {
        const init::Events some = ask_init<init::ReadTrace>(from).value;
        if (some.first > from) print("(%u events before are lost)\n", some.first - from);
        for (Word n = some.first; n < some.next && n < end; n++) print_event(some.events[n - some.first]);
        from = some.next > from ? some.next : end;
    }
}

} // namespace

bool trace(Text arguments, int &)
{
    const Text word = next_word(arguments);
    const bool on = word == "on";
    if (on || word == "off") {
        const auto done = ask_init<init::Trace>(Word{on});
        if (!done) return complain(word, done.error);
    } else if (word.size) {
        print("trace: on, off, or nothing\n");
    } else {
        show();
    }
    return true;
}

} // namespace shell
