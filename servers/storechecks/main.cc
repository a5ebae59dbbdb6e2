// SPDX-License-Identifier: BSD-2-Clause
// Checks of a file server that writes (servers/store): what its operations do, and that a file is the old one or the
// new one, whole, when the server or the disk's driver is killed while it is replaced. One line each; it ends with the
// number of those that failed.
#include <interfaces/store.h>
#include <system/check.h>
#include <system/memory.h>
#include <system/system.h>

#include <cobnut/payload.h>
#include <l4/schedule.h>

namespace {

using cobnut::ask_init, cobnut::check;
using rpc::Error, rpc::Word;

constexpr Word pages = 4, words = pages * init::page_size / sizeof(Word), bytes = words * sizeof(Word);
constexpr Word kills = 12, first_pause_us = 1'000, more_us = 2'000;

constinit cobnut::Session files("files");
constinit cobnut::Memory memory = {};
alignas(16) constinit char stack[4096];
constinit volatile Word target = 0, pause_us = 0; ///< which program is to be killed, and how soon; 0: none

using Text = rpc::Bytes<100>;
Files::Path path() { return "folder/file"; }

void operations()
{
    files.call<Store::Remove>(path());
    files.call<Store::Remove>(Files::Path("folder"));
    check(files.call<Files::Stat>(path()).error == Error::not_found, "store.nothing_there_yet");
    check(files.call<Store::Write>(path(), Word{0}, Text("x")).error == Error::not_found,
          "store.no_file_without_a_folder");
    check(bool(files.call<Store::MakeFolder>(Files::Path("/folder/"))), "store.a_folder");
    check(files.call<Store::MakeFolder>(Files::Path("folder")).error == Error::full, "store.not_twice");
    check(files.call<Store::Write>(path(), Word{0}, Text("Hello")).value == 5, "store.a_new_file");
    check(files.call<Store::Write>(path(), Word{5}, Text(", world")).value == 12, "store.more_at_its_end");
    check(files.call<Store::Write>(path(), Word{0}, Text("J")).value == 12, "store.in_its_middle");
    check(files.call<Store::Write>(path(), Word{13}, Text("x")).error == Error::bad_value, "store.not_behind_its_end");
    const auto whole = files.call<Files::Read>(path(), Word{0});
    check(whole && whole.value == "Jello, world", "store.read");
    check(files.call<Files::Read>(path(), Word{12}).value.size == 0, "store.nothing_behind_the_end");
    const auto entry = files.call<Files::List>(Files::Path("folder"), Word{0});
    check(entry && entry.value.name == "file" && entry.value.info.bytes == 12, "store.list");
    check(files.call<Files::List>(Files::Path("folder"), entry.value.next).error == Error::not_found,
          "store.list_ends");
    check(files.call<Store::Remove>(Files::Path("folder")).error == Error::full, "store.no_folder_with_files");
    check(files.call<Store::Write>(Files::Path("../x"), Word{0}, Text("x")).error == Error::bad_value,
          "store.dots_are_no_names");
    check(files.call<Store::Replace>(path(), memory.handle, Word{1}).error == Error::not_found,
          "store.not_from_memory_that_is_not_passed_on");
}

/// Replaces the file by words that all have this value.
rpc::Result<rpc::Nothing> replace(Word value)
{
    auto *const word = reinterpret_cast<volatile Word *>(memory.address);
    for (Word i = 0; i < words; i++) word[i] = value;
    const auto server = ask_init<init::Open>(init::Name("files"));
    if (!server) return server.error;
    ask_init<init::Pass>(memory.handle, server.value, Word{0});
    return files.call<Store::Replace>(path(), memory.handle, bytes);
}

/// The value that all words of the file have; 0 if they have not one, or if it is not as long as it should be.
Word value_of_file()
{
    Word value = 0;
    for (Word offset = 0; offset < bytes;) {
        const auto piece = files.call<Files::Read>(path(), offset);
        if (!piece || !piece.value.size) return 0;
        for (Word i = 0; i < piece.value.size / sizeof(Word); i++) {
            const Word word = reinterpret_cast<const Word *>(piece.value.data)[i];
            if (value && word != value) return 0;
            value = word;
        }
        offset += piece.value.size;
    }
    return value;
}

[[noreturn]] void kill()
{
    for (;;) {
        L4_Sleep(L4_TimePeriod(pause_us ? pause_us : 1'000));
        if (!pause_us) continue;
        pause_us = 0;
        ask_init<init::Kill>(Word{target});
    }
}

Word find(const char *name)
{
    for (Word i = 0;; i++) {
        const auto program = ask_init<init::Describe>(i);
        if (!program) return 0;
        if (program.value.name == name) return i;
    }
}

/// Waits until the server serves.
bool back()
{
    for (Word i = 0; i < 200; i++) {
        if (files.call<Files::Stat>(path())) return true;
        L4_Sleep(L4_TimePeriod(10'000));
    }
    return false;
}

/// Kills a program again and again while the file is replaced, each time a little later.
bool survives(const char *name, Word &value, Word &cut)
{
    for (Word i = 0; i < kills; i++) {
        const Word old = value++;
        target = find(name);
        pause_us = first_pause_us + i * more_us;
        const bool done = bool(replace(value));
        while (pause_us) L4_Sleep(L4_TimePeriod(1'000));
        if (!back()) return false;
        const Word found = value_of_file();
        cut += found == old;
        if (found != value && (done || found != old)) return false;
        value = found;
    }
    return true;
}

} // namespace

int cobnut_main(const char *)
{
    memory = cobnut::make_memory(pages).value;
    check(back() || files.call<Files::Stat>(Files::Path("")), "store.serves");
    operations();
    Word value = 7, cut = 0, none = 0;
    check(replace(value) && value_of_file() == value, "store.replace");
    ask_init<init::MakeThread>(reinterpret_cast<Word>(kill), reinterpret_cast<Word>(stack + sizeof stack - 16));
    check(survives("store", value, cut), "store.the_old_or_the_new_file_when_it_is_killed");
    check(cut > 0, "store.it_was_killed_in_the_middle");
    check(survives("ide", value, none) && !none, "store.goes_on_with_the_next_driver");
    cobnut_printf("storechecks: %d failed, %u of %u replaced nothing\n", cobnut::failed_checks, cut, kills);
    return cobnut::failed_checks;
}
