// SPDX-License-Identifier: BSD-2-Clause
// A client with a working set that calls a server of the system now and then, for the laboratory (cobnut/lab.h): L95's
// figure 4 with real servers. A turn is a call, and then a word read in each page of the working set.
//
// Command line (defaults first):
//   server=adder|console       whom it calls: with nothing, or with no text
//   first=4 last=64 step=4     pages of the working set; the n-th size is case n - 1
//   rounds=40 warmup=10        turns of each, measured and not
//   distance=4160              bytes from one word to the next
//   calls=1                    0: only the working set is read
#include <interfaces/adder.h>
#include <interfaces/console.h>
#include <system/system.h>

#include <cobnut/lab.h>
#include <cobnut/options.h>
#include <cobnut/payload.h>

namespace {

using cobnut::ask_init;
using rpc::Word;

constexpr Word most_bytes = 1 << 20;

struct Wish {
    Word first = 4, last = 64, step = 4, rounds = 40, warmup = 10, distance = 4160, calls = 1;
    bool console = false;
};
constinit Wish wish = {};
constinit L4_ThreadId_t server = {};
constinit bool failed = false;

void call()
{
    if (!wish.calls) return;
    const bool done =
        wish.console ? bool(rpc::call<Console::Write>(server, Console::Text())) : bool(rpc::call<Adder::Null>(server));
    failed = failed || !done;
}

void turns(Word memory, Word pages, Word count, bool measured)
{
    for (Word i = 0; i < count; i++) {
        if (measured) cobnut_lab_mark(COBNUT_LAB_ITER, 0);
        call();
        for (Word n = 0; n < pages; n++) (void)*reinterpret_cast<volatile Word *>(memory + n * wish.distance);
    }
}

bool parse(const char *command_line)
{
    const cobnut::Options options(command_line);
    bool bad = false;
    const cobnut::Text name = options.find("server");
    wish.console = name == "console";
    wish.first = options.number("first", wish.first, &bad);
    wish.last = options.number("last", wish.last, &bad);
    wish.step = options.number("step", wish.step, &bad);
    wish.rounds = options.number("rounds", wish.rounds, &bad);
    wish.warmup = options.number("warmup", wish.warmup, &bad);
    wish.distance = options.number("distance", wish.distance, &bad);
    wish.calls = options.number("calls", wish.calls, &bad);
    const bool known = wish.console || name == "adder" || !name;
    return known && !bad && wish.step && wish.rounds && wish.last <= 128 && wish.last * wish.distance <= most_bytes;
}

} // namespace

int cobnut_main(const char *command_line)
{
    const bool understood = parse(command_line);
    const auto made = ask_init<init::Create>(most_bytes / init::page_size);
    const auto memory = ask_init<init::Attach>(made.value, Word{0}, Word{1});
    const auto found = ask_init<init::Open>(init::Name(wish.console ? "console" : "adder"));
    if (!understood || !memory || !found) {
        cobnut_printf("caller: FAIL '%s'\n", command_line);
        return 1;
    }
    server.raw = found.value;
    for (Word at = 0; at < most_bytes; at += init::page_size) *reinterpret_cast<volatile Word *>(memory.value + at) = 1;
    Word number = 0;
    for (Word pages = wish.first; pages <= wish.last; pages += wish.step, number++) {
        turns(memory.value, pages, wish.warmup, false);
        cobnut_lab_mark(COBNUT_LAB_BEGIN, number);
        turns(memory.value, pages, wish.rounds, true);
        cobnut_lab_mark(COBNUT_LAB_ITER, 0);
        cobnut_lab_mark(COBNUT_LAB_END, number);
    }
    cobnut_printf(failed ? "caller: FAIL a call\n" : "caller: done\n");
    return failed;
}
