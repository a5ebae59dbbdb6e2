// SPDX-License-Identifier: BSD-2-Clause
// Copies much memory, and counts how often init answers another thread of its meanwhile. It ends with the number of the
// first thing that is not as it should be, 0: none.
#include <system/system.h>

#include <cobnut/payload.h>
#include <l4/schedule.h>

namespace {

using cobnut::ask_init, rpc::Word;

constexpr Word pages = 1536, least_answers = 4;
alignas(16) constinit char stack[4096];
constinit volatile bool copying = false;
constinit volatile Word answers = 0;

[[noreturn]] void ask()
{
    for (;;)
        if (ask_init<init::Memory>() && copying) answers = answers + 1;
}

volatile Word &word(Word address, Word page)
{
    return *reinterpret_cast<volatile Word *>(address + page * init::page_size);
}

} // namespace

int cobnut_main(const char *)
{
    const auto made = ask_init<init::Create>(pages);
    const auto at = ask_init<init::Attach>(made.value, Word{0}, Word{1});
    if (!made || !at) return 1;
    for (Word i = 0; i < pages; i++) word(at.value, i) = i;
    ask_init<init::MakeThread>(reinterpret_cast<Word>(ask), reinterpret_cast<Word>(stack + sizeof stack - 16));
    copying = true;
    const auto copy = ask_init<init::Copy>(made.value);
    copying = false;
    const auto copied = ask_init<init::Attach>(copy.value, Word{0}, Word{1});
    if (!copy || !copied) return 2;
    for (Word i = 0; i < pages; i++) {
        if (word(copied.value, i) != i) return 3;
        word(at.value, i) = ~i;
        if (word(copied.value, i) != i) return 4;
    }
    if (answers < least_answers) return 5;
    return 0;
}
