// SPDX-License-Identifier: BSD-2-Clause
// Whether a system goes on while one of its drivers is unruly. Arguments: the words of servers/unruly, which is started
// as often as there are words; meanwhile this program calls servers and waits for the clock's driver. One line each; it
// ends with the number of those that failed.
#include <interfaces/adder.h>
#include <interfaces/clock.h>
#include <system/check.h>
#include <system/system.h>

#include <cobnut/options.h>
#include <l4/schedule.h>

namespace {

using cobnut::ask_init, cobnut::check, cobnut::comes_true;
using rpc::Word;

constexpr Word calls = 20, waits = 5, wait_us = 2000;
constexpr int second_ms = 1000;
constexpr Word most_tries = 10; // to find it out of memory
constexpr Word least_ms = 5; // of the processor, which a program that loops takes

constinit cobnut::Session adder("adder"), clock("clock"), unruly("unruly");
alignas(16) constinit char stack[4096];

/// Calls the unruly driver, which may never answer.
[[noreturn]] void call_it()
{
    for (;;) {
        if (!unruly.call<Adder::Null>()) L4_Sleep(L4_TimePeriod(wait_us));
    }
}

bool add(Word a, Word b)
{
    const auto sum = adder.call<Adder::Add>(a, b);
    return sum && sum.value == a + b;
}

bool served()
{
    for (Word i = 0; i < waits; i++) {
        const L4_Word64_t before = L4_SystemClock().raw;
        if (!clock.call<Clock::Sleep>(wait_us) || L4_SystemClock().raw - before < wait_us) return false;
        for (Word j = 0; j < calls / waits; j++)
            if (!add(i, j)) return false;
    }
    return bool(clock.call<Clock::Now>());
}

/// A server that ends while others have all places for memory is started again as soon as they have ended.
bool starts_when_there_is_memory()
{
    constexpr const char *hoarders[] = {"hoarder", "hoarder2", "hoarder3", "hoarder4"};
    Word numbers[4], started = 0;
    for (const char *name : hoarders) {
        const auto number = ask_init<init::Run>(init::Name(name));
        if (number) numbers[started++] = number.value;
    }
    const bool full = comes_true(second_ms, [] {
        const auto made = ask_init<init::Create>(Word{1});
        if (made) ask_init<init::Close>(made.value);
        return made.error == rpc::Error::full;
    });
    bool out = false;
    for (Word i = 0; i < most_tries && !out; i++) {
        // the first time it is started again at once, the second time after a while, in which the others take its
        // places; but at once, too, if this machine had no time for us in between
        adder.call<Adder::Crash>();
        comes_true(second_ms, [] { return add(1, 1); });
        adder.call<Adder::Crash>();
        L4_Sleep(L4_TimePeriod(300'000)); // more than init waits before it tries again
        out = !add(1, 1);
    }
    while (started) ask_init<init::Kill>(numbers[--started]);
    return full && out && comes_true(second_ms, [] { return add(1, 1); });
}

bool loops(cobnut::Text word)
{
    cobnut::split(word, ':');
    return word == "loop";
}

} // namespace

int cobnut_main(const char *arguments)
{
    check(served(), "served.alone");
    const Word ip = reinterpret_cast<Word>(call_it), sp = reinterpret_cast<Word>(stack + sizeof stack - 16);
    ask_init<init::MakeThread>(ip, sp);
    const Word free = ask_init<init::Memory>().value.free;
    cobnut::Text words{arguments, 0};
    while (arguments[words.size]) words.size++;
    while (words.size) {
        const cobnut::Text word = cobnut::split(words, ' ');
        const auto number = ask_init<init::Run>(init::Name("unruly"));
        const bool held = number && served();
        const auto used = ask_init<init::Describe>(number.value);
        if (loops(word)) check(used && used.value.used_ms > least_ms, "time.of_a_program_is_counted");
        cobnut_printf("%s served.beside.%.*s\n", held ? "ok" : "FAIL", static_cast<int>(word.size), word.data);
        cobnut::failed_checks += !held;
        ask_init<init::Kill>(number.value);
        check(ask_init<init::Memory>().value.free == free, "memory.is_back");
    }
    check(starts_when_there_is_memory(), "restart.when_there_is_memory_again");
    check(ask_init<init::Memory>().value.free == free, "memory.is_back");
    cobnut_printf("steady: %d failed\n", cobnut::failed_checks);
    return cobnut::failed_checks;
}
