// SPDX-License-Identifier: BSD-2-Clause
// Whether the TCP/IP server takes from a driver what is right and nothing else, and whether the others are served
// meanwhile. Arguments: the words of servers/impostor, which is started as often as there are words; the first is only
// for what is made once. One line each; it ends with the number of those that failed.
#include <interfaces/adder.h>
#include <interfaces/clock.h>
#include <interfaces/network.h>
#include <system/check.h>
#include <system/system.h>

#include <cobnut/options.h>
#include <l4/schedule.h>

namespace {

using cobnut::ask_init, cobnut::check;
using rpc::Word;

constexpr Word waits = 5, calls = 4, wait_us = 2000;
constexpr Word longest_looks = 400, look_us = 10'000, settle_us = 50'000;

constinit cobnut::Session adder("adder"), clock("clock"), network("network");

/// Frames that came in, went out, and were dropped for want of room.
struct Counts {
    Word in, out, dropped;

    bool operator==(const Counts &) const = default;
};

constexpr Counts questions = {4, 4, 0}; // three before the word's part and one behind it, and their answers

Counts wanted(cobnut::Text word)
{
    if (word == "long") return {5, 4, 0};
    if (word == "short") return {604, 4, 0};
    if (word == "sent") return {4, 3, 1}; // to the last one it has no answer
    return questions;
}

Counts counts()
{
    const auto state = network.call<Network::Describe>();
    return {state.value.frames_in, state.value.frames_out, state.value.dropped};
}

bool served()
{
    for (Word i = 0; i < waits; i++) {
        const L4_Word64_t before = L4_SystemClock().raw;
        if (!clock.call<Clock::Sleep>(wait_us) || L4_SystemClock().raw - before < wait_us) return false;
        for (Word j = 0; j < calls; j++) {
            const auto sum = adder.call<Adder::Add>(i, j);
            if (!sum || sum.value != i + j || !network.call<Network::Describe>()) return false;
        }
    }
    return true;
}

/// Waits until so many frames have come since, and a while for more.
Counts counts_behind(const Counts &before, Word in)
{
    Counts now = counts();
    for (Word i = 0; i < longest_looks && now.in - before.in < in; i++) {
        L4_Sleep(L4_TimePeriod(look_us));
        now = counts();
    }
    L4_Sleep(L4_TimePeriod(settle_us));
    now = counts();
    return {now.in - before.in, now.out - before.out, now.dropped - before.dropped};
}

void say(bool holds, const char *what, cobnut::Text word)
{
    cobnut_printf("%s %s.%.*s\n", holds ? "ok" : "FAIL", what, static_cast<int>(word.size), word.data);
    cobnut::failed_checks += !holds;
}

void run(cobnut::Text word)
{
    const Counts before = counts(), right = wanted(word);
    const auto number = ask_init<init::Run>(init::Name("impostor"));
    const bool held = number && served();
    const Counts found = counts_behind(before, right.in);
    say(found == right, "frames.with", word);
    if (!(found == right))
        cobnut_printf("linkchecks: %u in, %u out, %u dropped instead of %u, %u, %u\n", found.in, found.out,
                      found.dropped, right.in, right.out, right.dropped);
    say(held && served(), "served.beside", word);
    ask_init<init::Kill>(number.value);
}

} // namespace

int cobnut_main(const char *arguments)
{
    cobnut::Text words{arguments, 0};
    while (arguments[words.size]) words.size++;
    cobnut::split(words, ' ');
    const auto first = ask_init<init::Run>(init::Name("impostor"));
    counts_behind({}, questions.in);
    ask_init<init::Kill>(first.value);
    const Word free = ask_init<init::Memory>().value.free;
    while (words.size) {
        run(cobnut::split(words, ' '));
        check(ask_init<init::Memory>().value.free == free, "memory.is_back");
    }
    cobnut_printf("linkchecks: %d failed\n", cobnut::failed_checks);
    return cobnut::failed_checks;
}
