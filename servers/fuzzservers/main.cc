// SPDX-License-Identifier: BSD-2-Clause
// fuzzservers: malformed requests to init and other servers of a system, made from the declarations of their
// interfaces. After each hundred requests each server has to answer a right one rightly, and at the end to have what it
// had.
//
// Command line (defaults first): seed=1 requests=2000 (to each interface)
#include "requests.h"

#include <interfaces/adder.h>
#include <interfaces/clock.h>
#include <interfaces/console.h>
#include <interfaces/display.h>
#include <interfaces/drain.h>
#include <interfaces/files.h>
#include <mach/mach.h>
#include <pipes/pipe.h>
#include <system/system.h>

#include <cobnut/options.h>
#include <cobnut/payload.h>

namespace {

using cobnut::ask_init;
using fuzz::Dice, fuzz::Interface, fuzz::Tally, fuzz::Word;

constexpr Word between = 100;

// What harms the fuzzer alone: threads where it has no code, the end of its own memory or task.
constexpr Interface init_interface(init::Operations{},
                                   rpc::List<init::MakeThread, init::Detach, init::Attach, init::Close>{});
constexpr Interface adder_interface(Adder::Operations{}, rpc::List<Adder::Crash>{});
constexpr Interface files_interface(Files::Operations{}, rpc::List<>{});
// The clock answers a sleeper when the time has come.
constexpr Interface clock_interface(Clock::Operations{}, rpc::List<Clock::Sleep>{});
constexpr Interface display_interface(Display::Operations{}, rpc::List<>{});
// Text that no person has written is for no screen.
constexpr Interface console_interface(Console::Operations{}, rpc::List<Console::Write>{});
// A pipe is a thread that the server is told to call, which would wait for one that never answers.
constexpr Interface drain_interface(Drain::Operations{}, rpc::List<Drain::Read, Drain::Write>{});
constexpr Interface boot_interface(rpc::List<mach::Boot>{}, rpc::List<>{});
constexpr Interface mach_interface(mach::Operations{},
                                   rpc::List<mach::TaskTerminate, mach::TaskCreate, mach::VmDeallocate>{});

constinit Word seed = 1, requests = 2000;
constinit bool failed = false;

void say(const char *name, const Tally &t, Word lost)
{
    cobnut_printf("fuzzservers: %s: %u requests, %u answered, %u refused, %u unanswered, %u undelivered, %u wrong, %u"
                  " lost\n",
                  name, t.requests, t.answered, t.refused, t.unanswered, t.undelivered, t.wrong, lost);
    failed = failed || t.wrong || lost;
}

/// `well`: whether the server does what it should.
template <typename Well> void attack(const char *name, L4_ThreadId_t server, const Interface &interface, Well well)
{
    Dice dice(seed);
    Tally tally;
    Word lost = 0;
    while (tally.requests < requests) {
        fuzz::request(server, interface, dice, tally);
        if (tally.requests % between == 0 && !well()) lost++;
    }
    say(name, tally, lost);
}

L4_ThreadId_t find(const char *service) { return {.raw = ask_init<init::Open>(init::Name(service)).value}; }

/// In a task of Mach's, against its kernel.
int attack_mach()
{
    attack("mach", L4_Pager(), mach_interface, [] {
        const auto port = mach::ask<mach::PortAllocate>();
        // names are used up by what goes well: that is an answer, too
        if (!port) return port.error == rpc::Error::full;
        mach::ask<mach::PortInsertSend>(port.value);
        mach::Message m;
        m.port = port.value;
        m.id = 5;
        const bool sent = bool(mach::ask<mach::Send>(m, mach::Wait::no));
        const auto got = mach::ask<mach::Receive>(port.value, mach::Wait::no);
        mach::ask<mach::PortDeallocate>(port.value);
        return sent && got && got.value.id == 5;
    });
    return failed;
}

} // namespace

int cobnut_main(const char *command_line)
{
    const cobnut::Options options(command_line);
    bool bad = false;
    seed = options.number("seed", seed, &bad);
    requests = options.number("requests", requests, &bad);
    if (bad || !requests) {
        cobnut_printf("fuzzservers: FAIL bad option in '%s'\n", command_line);
        return 1;
    }
    const L4_ThreadId_t adder = find("adder"), console = find("console"), drain = find("drain"), mach = find("mach");
    const L4_ThreadId_t files = find("files"), clock = find("clock"), display = find("display");
    // first, since it takes memory, and what init is asked for uses that up
    const auto code = mach::boot(attack_mach);
    failed = failed || !code || code.value;
    attack("init", L4_Pager(), init_interface, [] { return bool(ask_init<init::Memory>()); });
    attack("adder", adder, adder_interface, [=] { return rpc::call<Adder::Add>(adder, 2u, 3u).value == 5; });
    attack("files", files, files_interface, [=] {
        const auto file = rpc::call<Files::Stat>(files, Files::Path("index.html"));
        return file && file.value.kind == Files::Kind::file && file.value.bytes;
    });
    attack("clock", clock, clock_interface, [=] {
        const auto now = rpc::call<Clock::Now>(clock);
        return now && now.value.seconds && now.value.microseconds < 1000000;
    });
    attack("display", display, display_interface, [=] {
        const auto mode = rpc::call<Display::SetMode>(display, Word{640}, Word{480});
        return mode && mode.value.width == 640 && mode.value.height == 480;
    });
    attack("console", console, console_interface,
           [=] { return bool(rpc::call<Console::Write>(console, Console::Text())); });
    attack("drain", drain, drain_interface, [=] {
        const auto seen = rpc::call<Drain::Read>(drain, L4_GlobalId(4000, 1).raw, Word{1});
        return seen && seen.value.status == static_cast<Word>(pipes::Status::dead);
    });
    attack("mach's boot", mach, boot_interface, [=] {
        // a task that has been booted at random may be one that never ends
        const rpc::Error error = rpc::call<mach::Boot>(mach, Word{0}, Word{0}, Word{0}, Word{0}, Word{0}).error;
        return error == rpc::Error::bad_value || error == rpc::Error::full;
    });
    cobnut_printf(failed ? "fuzzservers: FAIL\n" : "fuzzservers: done\n");
    return failed;
}
