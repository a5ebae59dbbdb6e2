// SPDX-License-Identifier: BSD-2-Clause
// Checks of what a system promises its programs: names, memory, threads, servers that die. One line each; it ends with
// the number of those that failed.
#include "checks.h"

#include <interfaces/adder.h>
#include <interfaces/console.h>
#include <system/files.h>

#include <cobnut/payload.h>
#include <l4/schedule.h>

namespace checks {
namespace {

using cobnut::ask_init, cobnut::check;
using rpc::Error, rpc::Word;

constinit cobnut::Session adder("adder");

Word used() { return ask_init<init::Memory>().value.used; }

void names()
{
    check(ask_init<init::Open>(init::Name("adder")).error == Error::none, "names.a_service_in_uses");
    check(ask_init<init::Open>(init::Name("console")).error == Error::denied, "names.a_service_that_is_not_in_uses");
    check(ask_init<init::Open>(init::Name("nobody")).error == Error::not_found, "names.an_unknown_service");
    check(ask_init<init::TakeInterrupt>(Word{4}).error == Error::denied, "names.an_interrupt_that_is_not_ours");
}

/// Thread ids are no secret, so each server asks init about its callers.
void strangers()
{
    rpc::Result<init::ProgramInfo> found = Error::not_found;
    for (Word i = 0; (found = ask_init<init::Describe>(i)) && !(found.value.name == "console"); i++) {}
    const auto written = rpc::call<Console::Write>(L4_ThreadId_t{.raw = found.value.thread}, Console::Text("?\n"));
    check(found && written.error == Error::denied, "names.a_server_refuses_those_that_may_not_use_it");
}

void calls()
{
    const auto sum = adder.call<Adder::Add>(Word{2}, Word{3});
    check(sum && sum.value == 5, "calls.a_sum");
    L4_ThreadId_t server = {};
    server.raw = ask_init<init::Open>(init::Name("adder")).value;
    // a message that no stub makes: too few words; an operation that is not there
    L4_Set_MsgTag(L4_MsgTag_t{.raw = Adder::Add::number << 16 | 1});
    check(L4_Label(L4_Call(server)) == static_cast<Word>(Error::malformed), "calls.too_few_words");
    L4_Set_MsgTag(L4_MsgTag_t{.raw = 0x7FFF << 16});
    check(L4_Label(L4_Call(server)) == static_cast<Word>(Error::unknown), "calls.an_unknown_operation");
    check(rpc::call<Adder::Null>(L4_GlobalId(4000, 1)).error == Error::dead, "calls.a_thread_that_is_not_there");
}

volatile Word *words(Word address) { return reinterpret_cast<volatile Word *>(address); }

void memory()
{
    const Word before = used();
    const auto made = ask_init<init::Create>(Word{4});
    check(bool(made) && used() == before + 5, "memory.a_dataspace_and_its_table_are_charged");
    const auto at = ask_init<init::Attach>(made.value, Word{0}, Word{1});
    check(at && *words(at.value) == 0 && *words(at.value + 0x3FFC) == 0, "memory.it_is_zero");
    *words(at.value) = 7;
    const auto second = ask_init<init::Attach>(made.value, Word{0x600000}, Word{0});
    check(second && *words(0x600000) == 7, "memory.it_is_the_same_at_two_addresses");
    check(ask_init<init::Attach>(made.value, Word{0x601000}, Word{0}).error == Error::bad_value, "memory.overlap");
    check(ask_init<init::Attach>(made.value, Word{0x100000}, Word{0}).error == Error::bad_value,
          "memory.not_over_the_kernels_pages");

    const auto copy = ask_init<init::Copy>(made.value);
    const auto copied = ask_init<init::Attach>(copy.value, Word{0}, Word{1});
    check(copied && *words(copied.value) == 7, "memory.a_copy_has_the_contents");
    *words(at.value) = 8;
    check(*words(copied.value) == 7 && *words(0x600000) == 8, "memory.what_is_written_to_the_original_stays_there");
    *words(copied.value + 4) = 9;
    check(*words(at.value + 4) == 0 && *words(copied.value + 4) == 9, "memory.what_is_written_to_the_copy_stays_there");

    check(!ask_init<init::Detach>(Word{0x40000000}), "memory.detach_of_nothing");
    check(bool(ask_init<init::Detach>(Word{0x600000})), "memory.detach");
    check(bool(ask_init<init::Close>(copy.value)) && bool(ask_init<init::Close>(made.value)), "memory.close");
    check(ask_init<init::Close>(made.value).error == Error::not_found, "memory.a_handle_ends");
    check(used() == before, "memory.all_of_it_comes_back");
    const init::Usage usage = ask_init<init::Memory>().value;
    check(usage.free > usage.limit && ask_init<init::Create>(usage.limit).error == Error::no_memory,
          "memory.the_limit_is_an_error_while_the_machine_has_more");
    check(ask_init<init::Create>(Word{16000}).error == Error::no_memory, "memory.the_limit_is_an_error");
    check(ask_init<init::Create>(Word{0}).error == Error::bad_value, "memory.nothing_at_all");
    check(ask_init<init::Attach>(Word{77}, Word{0}, Word{0}).error == Error::not_found, "memory.a_handle_of_others");
}

void many()
{
    constexpr Word most = 32; // interfaces/init.h
    const Word before = used();
    Word handles[most + 1], count = 0;
    rpc::Result<Word> made = Word{0};
    for (; count <= most; handles[count++] = made.value)
        if (!(made = ask_init<init::Create>(Word{1}))) break;
    check(count < most && made.error == Error::full, "memory.nobody_makes_all_dataspaces");
    while (count) ask_init<init::Close>(handles[--count]);
    made = ask_init<init::Create>(Word{1});
    check(bool(made) && used() == before + 2, "memory.so_many_again");
    ask_init<init::Close>(made.value);
}

void sharing()
{
    const auto made = ask_init<init::Create>(Word{1});
    const auto at = ask_init<init::Attach>(made.value, Word{0}, Word{1});
    for (Word i = 0; i < 10; i++) words(at.value)[i] = i;
    check(adder.call<Adder::Sum>(made.value, Word{10}).error == Error::not_found, "sharing.not_before_it_is_passed_on");
    const auto server = ask_init<init::Open>(init::Name("adder"));
    check(bool(ask_init<init::Pass>(made.value, server.value, Word{0})), "sharing.pass");
    const auto sum = adder.call<Adder::Sum>(made.value, Word{10});
    check(sum && sum.value == 45, "sharing.the_server_reads_it");
    check(ask_init<init::Pass>(Word{1000}, server.value, Word{0}).error == Error::not_found, "sharing.no_such_handle");
    check(ask_init<init::Pass>(made.value, Word{0x1234567}, Word{0}).error == Error::not_found, "sharing.nobody");
    check(adder.call<Adder::Keep>(made.value).error == Error::denied, "sharing.what_was_passed_to_be_read");
    Word others = 0;
    for (Word handle = 1; handle < made.value; handle++)
        others += adder.call<Adder::Sum>(handle, Word{1}).error != Error::not_found;
    check(!others, "sharing.no_memory_of_the_servers_own");
    ask_init<init::Pass>(made.value, server.value, Word{1});
    check(adder.call<Adder::Keep>(made.value) && adder.call<Adder::Count>().value == 1 && words(at.value)[0] == 1,
          "sharing.the_server_writes_to_it");
    ask_init<init::Close>(made.value);
    check(adder.call<Adder::Sum>(made.value, Word{10}).error == Error::not_found, "sharing.not_when_it_is_closed");
    check(bool(adder.call<Adder::Count>()), "sharing.a_server_survives_its_end");
}

void files()
{
    const auto file = ask_init<init::OpenFile>(init::Name("motd"));
    check(file && file.value.bytes > 10, "files.one_in_the_boot_image");
    const auto at = ask_init<init::Attach>(file.value.handle, Word{0}, Word{0});
    const char *const text = reinterpret_cast<const char *>(at.value);
    check(at && text[0] == 'C' && text[1] == 'o', "files.its_contents");
    check(ask_init<init::Attach>(file.value.handle, Word{0}, Word{1}).error == Error::denied, "files.are_read_only");
    check(ask_init<init::OpenFile>(init::Name("secret")).error == Error::denied, "files.not_those_of_others");
}

void file_server()
{
    cobnut::FileSystem files;
    const auto info = files.call<Files::Stat>(Files::Path("motd.txt"));
    check(info && info.value.kind == Files::Kind::file && info.value.bytes == 29, "file_server.stat");
    const auto whole = files.call<Files::Read>(Files::Path("/motd.txt"), Word{0});
    check(whole && whole.value == "Cobnut: a system of servers.\n", "file_server.read");
    const auto rest = files.call<Files::Read>(Files::Path("motd.txt"), Word{27});
    check(rest && rest.value == ".\n", "file_server.read_from_the_middle");
    const auto behind = files.call<Files::Read>(Files::Path("motd.txt"), Word{0} - 1);
    check(behind && behind.value.size == 0, "file_server.nothing_behind_the_end");
    const auto view = files.map(Files::Path("notes/paths.txt"));
    check(view && view.value.bytes == 37 && view.value.data[0] == 'A', "file_server.map");
    const auto mapping = files.call<Files::Map>(Files::Path("motd.txt"), Word{0});
    check(mapping && ask_init<init::Attach>(mapping.value.handle, Word{0}, Word{1}).error == Error::denied,
          "file_server.mappings_are_read_only");
    const auto first = files.call<Files::List>(Files::Path("notes"), Word{0});
    check(first && first.value.name == "paths.txt", "file_server.list");
    check(files.call<Files::List>(Files::Path("notes"), first.value.next).error == Error::not_found,
          "file_server.list_ends");
    check(files.call<Files::List>(Files::Path("notes"), Word{0} - 1).error == Error::not_found,
          "file_server.a_list_from_far_behind_its_end");
    check(files.call<Files::List>(Files::Path("motd.txt"), Word{0}).error == Error::bad_value,
          "file_server.no_list_of_a_file");
    check(files.call<Files::Read>(Files::Path("notes"), Word{0}).error == Error::bad_value &&
              files.map(Files::Path("")).error == Error::bad_value,
          "file_server.a_folder_has_no_contents");
    check(files.call<Files::Stat>(Files::Path("notes/../motd.txt")).error == Error::bad_value,
          "file_server.dots_are_no_names");
    check(files.call<Files::Stat>(Files::Path("motd.txt\0", 9)).error == Error::bad_value, "file_server.no_byte_0");
    check(files.call<Files::Stat>(Files::Path("none")).error == Error::not_found, "file_server.not_found");
}

constinit volatile Word noted = 0;
alignas(16) constinit char stack[4096];

[[noreturn]] void second_thread()
{
    noted = adder.call<Adder::Add>(Word{20}, Word{22}).value;
    for (;;) L4_Sleep(L4_Never);
}

void threads()
{
    const auto made = ask_init<init::MakeThread>(reinterpret_cast<Word>(second_thread),
                                                 reinterpret_cast<Word>(stack + sizeof stack - 16));
    for (int i = 0; i < 100 && !noted; i++) L4_Sleep(L4_TimePeriod(10000));
    check(made && noted == 42, "threads.a_second_one_calls_a_server");
}

/// The end of a program that awaits another one frees its place.
void awaiting()
{
    const auto sleeper = ask_init<init::Run>(init::Name("sleeper")), waiter = ask_init<init::Run>(init::Name("waiter"));
    L4_Sleep(L4_TimePeriod(50'000));
    check(sleeper && waiter && ask_init<init::Await>(sleeper.value).error == Error::full, "awaiting.one_at_a_time");
    ask_init<init::Kill>(waiter.value);
    check(ask_init<init::Await>(sleeper.value).value == 7, "awaiting.not_kept_from_it_by_one_that_has_ended");
}

/// What a program has passed on is not held any longer than it runs.
void lending()
{
    const auto lender = ask_init<init::Run>(init::Name("lender"));
    const auto info = ask_init<init::Describe>(lender.value);
    const auto made = ask_init<init::Create>(Word{1});
    const auto at = ask_init<init::Attach>(made.value, Word{0}, Word{1});
    words(at.value)[0] = 0x1E4D;
    ask_init<init::Pass>(made.value, info.value.thread, Word{1});
    rpc::Result<rpc::Nothing> kept = Error::not_found;
    for (int i = 0; i < 100 && !kept; i++) {
        L4_Sleep(L4_TimePeriod(10000));
        kept = adder.call<Adder::Keep>(made.value);
    }
    words(at.value)[0] = 5;
    adder.call<Adder::Count>();
    check(lender && kept && words(at.value)[0] == 6, "lending.a_server_has_what_a_client_passes_on");
    ask_init<init::Kill>(lender.value);
    check(adder.call<Adder::Keep>(made.value).error == Error::not_found, "lending.not_behind_that_ones_end");
    check(adder.call<Adder::Count>().value == 1 && words(at.value)[0] == 6, "lending.not_even_where_it_is_attached");
    ask_init<init::Close>(made.value);
}

void copying()
{
    const auto copier = ask_init<init::Run>(init::Name("copier"));
    const auto code = ask_init<init::Await>(copier.value);
    check(copier && code && code.value == 0, "copying.much_memory_while_others_are_served");
}

void deaths()
{
    check(adder.call<Adder::Clients>().value == 1, "deaths.the_server_knows_one_client");
    const auto brief = ask_init<init::Run>(init::Name("brief"));
    const auto code = ask_init<init::Await>(brief.value);
    check(brief && code && code.value == 0, "deaths.a_client_that_ends");
    Word clients = 2;
    for (int i = 0; i < 100 && clients != 1; i++) {
        L4_Sleep(L4_TimePeriod(10000));
        clients = adder.call<Adder::Clients>().value;
    }
    check(clients == 1, "deaths.its_server_is_told");
    const auto absent = ask_init<init::Run>(init::Name("absent"));
    check(absent && ask_init<init::Await>(absent.value).value == 0, "deaths.a_server_that_waits_is_told_later");
    check(ask_init<init::Kill>(brief.value).error == Error::not_found, "deaths.nothing_to_kill");
    check(adder.call<Adder::Crash>().error == Error::dead, "deaths.the_session_ends_with_an_error");
    Error error = Error::dead;
    L4_Word64_t start = L4_SystemClock().raw;
    while (L4_SystemClock().raw - start < 500000) {
        const auto sum = adder.call<Adder::Add>(Word{1}, Word{1});
        error = sum.error;
        if (sum && sum.value == 2) break;
        L4_Sleep(L4_TimePeriod(1000));
    }
    check(error == Error::none, "deaths.the_next_session_works");
}

} // namespace
} // namespace checks

int cobnut_main(const char *)
{
    using namespace checks;
    names();
    strangers();
    calls();
    memory();
    many();
    sharing();
    files();
    file_server();
    devices();
    threads();
    deaths();
    awaiting();
    lending();
    copying();
    cobnut_printf("checks: %d failed\n", cobnut::failed_checks);
    return cobnut::failed_checks;
}
