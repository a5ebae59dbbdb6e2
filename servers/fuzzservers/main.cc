// SPDX-License-Identifier: BSD-2-Clause
// fuzzservers: malformed requests to init and the servers of the services that its description lets it use, made from
// the declarations of their interfaces. That they have what they had in the end servers/keeper sees.
//
// Command line (defaults first): seed=1 requests=2000 (to each interface)
#include "attack.h"

#include <interfaces/adder.h>
#include <interfaces/clock.h>
#include <interfaces/console.h>
#include <interfaces/display.h>
#include <interfaces/drain.h>
#include <interfaces/files.h>
#include <interfaces/input.h>
#include <interfaces/network.h>
#include <interfaces/nic.h>
#include <interfaces/store.h>
#include <pipes/pipe.h>
#include <system/disk.h>

#include <cobnut/options.h>
#include <cobnut/payload.h>
#include <l4/schedule.h>

namespace {

using cobnut::ask_init;
using fuzz::attack, fuzz::Interface, fuzz::Word;

// What harms the fuzzer alone: threads where it has no code, the end of its own memory.
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
constexpr Interface disk_interface(Disk::Operations{}, rpc::List<>{});
constexpr Interface input_interface(Input::Operations{}, rpc::List<>{});
constexpr Interface network_interface(Network::Operations{}, rpc::List<>{});
constexpr Interface nic_interface(Nic::Operations{}, rpc::List<>{});
constexpr Interface store_interface(Store::Operations{}, rpc::List<>{});

/// The driver serves its client, the TCP/IP server, and no other one.
bool keeps_its_client(L4_ThreadId_t server) { return rpc::call<Nic::Begin>(server).error == rpc::Error::full; }

/// Read waits for a key, or says that a request before it does.
bool listens(L4_ThreadId_t server)
{
    L4_Set_MsgTag(L4_MsgTag_t{.raw = Input::Read::number << 16});
    const L4_MsgTag_t tag = L4_Call_Timeouts(server, L4_Never, L4_TimePeriod(20'000));
    if (L4_IpcFailed(tag)) return L4_ErrorCode() & 1;
    return !L4_Label(tag) || L4_Label(tag) == static_cast<Word>(rpc::Error::full);
}

/// A request may be on its way, and the buffer may be another one.
bool reads_blocks()
{
    static constinit cobnut::DiskPart disk("disk");
    for (int i = 0; i < 100; i++) {
        if (disk.open(1) && disk.write(1, 1) && disk.read(1, 1) && disk.flush()) return true;
        L4_Sleep(L4_TimePeriod(10'000));
    }
    return false;
}

} // namespace

int cobnut_main(const char *command_line)
{
    const cobnut::Options options(command_line);
    bool bad = false;
    fuzz::seed = options.number("seed", fuzz::seed, &bad);
    fuzz::requests = options.number("requests", fuzz::requests, &bad);
    if (bad || !fuzz::requests) {
        cobnut_printf("fuzzservers: FAIL bad option in '%s'\n", command_line);
        return 1;
    }
    // first, since it takes memory, and what init is asked for uses that up
    fuzz::attack_mach();
    attack("disk", disk_interface, [](L4_ThreadId_t) { return reads_blocks(); });
    attack("init", L4_Pager(), init_interface, [] { return bool(ask_init<init::Memory>()); });
    attack("adder", adder_interface,
           [](L4_ThreadId_t adder) { return rpc::call<Adder::Add>(adder, 2u, 3u).value == 5; });
    attack("files", files_interface, [](L4_ThreadId_t files) {
        const auto file = rpc::call<Files::Stat>(files, Files::Path("index.html"));
        return file && file.value.kind == Files::Kind::file && file.value.bytes;
    });
    attack("clock", clock_interface, [](L4_ThreadId_t clock) {
        const auto now = rpc::call<Clock::Now>(clock);
        return now && now.value.seconds && now.value.microseconds < 1000000;
    });
    attack("display", display_interface, [](L4_ThreadId_t display) {
        const auto mode = rpc::call<Display::SetMode>(display, Word{640}, Word{480});
        return mode && mode.value.width == 640 && mode.value.height == 480;
    });
    attack("console", console_interface,
           [](L4_ThreadId_t console) { return bool(rpc::call<Console::Write>(console, Console::Text())); });
    attack("drain", drain_interface, [](L4_ThreadId_t drain) {
        const auto seen = rpc::call<Drain::Read>(drain, L4_GlobalId(4000, 1).raw, Word{1});
        return seen && seen.value.status == static_cast<Word>(pipes::Status::dead);
    });
    attack("input", input_interface, listens);
    attack("nic", nic_interface, keeps_its_client);
    attack("network", network_interface, [](L4_ThreadId_t network) {
        const auto state = rpc::call<Network::Describe>(network);
        return state && state.value.up && state.value.drivers == 1;
    });
    attack("store", store_interface, [](L4_ThreadId_t store) {
        const auto written = rpc::call<Store::Write>(store, Files::Path("kept"), Word{0}, rpc::Bytes<100>("all"));
        const auto kept = rpc::call<Files::Read>(store, Files::Path("kept"), Word{0});
        return written && kept && kept.value == "all";
    });
    fuzz::attack_machs_boot();
    cobnut_printf(fuzz::failed ? "fuzzservers: FAIL\n" : "fuzzservers: done\n");
    return fuzz::failed;
}
