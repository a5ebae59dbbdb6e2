// SPDX-License-Identifier: BSD-2-Clause
#include "commands.h"

#include "network.h"

#include <system/system.h>

#include <cobnut/format.h>
#include <cobnut/options.h>
#include <l4/schedule.h>

namespace shell {
namespace {

using cobnut::ask_init, cobnut::Text;

struct Command {
    const char *name, *arguments, *help;
    bool (*execute)(Text arguments, int &code);
};

const char *describe(init::State state)
{
    switch (state) {
    case init::State::none: return "not started";
    case init::State::waiting: return "to start";
    case init::State::running: return "running";
    case init::State::ended: return "ended";
    }
    return "?";
}

/// A program by its number or its name; its number.
rpc::Result<rpc::Word> find(Text wanted)
{
    unsigned number = 0;
    const bool numeric = cobnut::parse_number(wanted, number);
    const rpc::Name name(wanted.data, wanted.size);
    for (rpc::Word i = 0;; i++) {
        const auto program = ask_init<init::Describe>(i);
        if (!program) return program.error;
        if (numeric ? number == i : program.value.name == name) return i;
    }
}

/// What the programs have used until now.
struct Used {
    struct {
        rpc::Word starts, ms, messages;
    } of[init::most_programs] = {};

    void look()
    {
        for (rpc::Word i = 0; i < init::most_programs; i++) {
            const auto found = ask_init<init::Describe>(i);
            if (!found) break;
            of[i] = {found.value.starts, found.value.used_ms, found.value.messages};
        }
    }
};

void print_program(rpc::Word number, const init::ProgramInfo &p, rpc::Word used, rpc::Word messages)
{
    char space[40] = "-";
    if (p.state == init::State::running) {
        if (p.slot_size_mb)
            cobnut::format(space, sizeof space, "%u MB at %u%s", p.slot_size_mb, p.slot_offset_mb,
                           p.bound ? ", in a group" : "");
        else cobnut::format(space, sizeof space, "large");
    }
    print("%3u %-16.*s %-11s %4u %7u %8u %6u %7u %7u %7u %7u %5d  %s\n", number, static_cast<int>(p.name.size),
          p.name.data, describe(p.state), p.priority, p.threads, p.pages * 4, p.limit * 4, p.kernel_pages * 4, used,
          messages, p.starts, static_cast<int>(p.code), space);
}

/// With a number of seconds: what they use in a second of so many, rather than since their start.
bool ps(Text arguments, int &)
{
    constexpr unsigned most_seconds = 60;
    unsigned seconds = 0;
    Used before;
    const Text word = next_word(arguments);
    if (word.size && (!cobnut::parse_number(word, seconds) || !seconds || seconds > most_seconds)) {
        print("ps: 1 to %u seconds\n", most_seconds);
        return true;
    }
    if (seconds) {
        before.look();
        L4_Sleep(L4_TimePeriod(seconds * 1000000ull));
    }
    print("  # program          state       prio threads  KB used  limit  kernel  %s  starts  code  space\n",
          seconds ? " ms/s  asks/s" : "   ms    asks");
    for (rpc::Word i = 0;; i++) {
        const auto found = ask_init<init::Describe>(i);
        if (!found) break;
        const init::ProgramInfo &p = found.value;
        const auto &then = before.of[i];
        const bool since_then = seconds && then.starts == p.starts;
        const rpc::Word used = p.used_ms - (since_then ? then.ms : 0);
        const rpc::Word messages = p.messages - (since_then ? then.messages : 0);
        const rpc::Word span = seconds ? seconds : 1;
        print_program(i, p, used / span, messages / span);
    }
    return true;
}

bool mem(Text, int &)
{
    const auto usage = ask_init<init::Memory>();
    if (usage)
        print("%u KB of %u KB used by the shell, %u KB free\n", usage.value.used * 4, usage.value.limit * 4,
              usage.value.free * 4);
    return true;
}

bool kill(Text arguments, int &)
{
    const Text name = next_word(arguments);
    const auto number = find(name);
    if (!number) return complain(name, number.error);
    const auto done = ask_init<init::Kill>(number.value);
    return done ? true : complain(name, done.error);
}

bool run(Text arguments, int &)
{
    const Text name = next_word(arguments), background = next_word(arguments);
    const auto number = ask_init<init::Run>(rpc::Name(name.data, name.size));
    if (!number) return complain(name, number.error);
    if (background == "&") return true;
    const auto code = ask_init<init::Await>(number.value);
    if (!code) return complain(name, code.error);
    if (code.value) print("%.*s: ended with code %d\n", static_cast<int>(name.size), name.data, int(code.value));
    return true;
}

bool uptime(Text, int &)
{
    const L4_Word64_t us = L4_SystemClock().raw;
    print("%u ms\n", static_cast<unsigned>(us >> 10)); // without a division of 64 bits: about
    return true;
}

bool echo(Text arguments, int &)
{
    while (arguments.size && *arguments.data == ' ') arguments = {arguments.data + 1, arguments.size - 1};
    print("%.*s\n", static_cast<int>(arguments.size), arguments.data);
    return true;
}

bool exit(Text arguments, int &code)
{
    unsigned number = 0;
    const Text text = next_word(arguments);
    if (text.size) cobnut::parse_number(text, number);
    code = static_cast<int>(number);
    return false;
}

bool help(Text, int &);

constexpr Command commands[] = {
    {"help", "", "this list", help},
    {"ps", "[SECONDS]", "programs: state, memory of their own and the kernel's, time, questions to init, slot", ps},
    {"mem", "", "memory of the machine", mem},
    {"kill", "PROGRAM", "ends a program, by name or number", kill},
    {"run", "PROGRAM [&]", "starts a program of the system that does not run; & does not wait for its end", run},
    {"ls", "[FOLDER]", "what is in a folder of the file server", ls},
    {"cat", "FILE", "a file of the file server", cat},
    {"write", "FILE TEXT", "adds a line to a file; for a file server that writes, as the next two", append},
    {"mkdir", "FOLDER", "makes a folder", mkdir},
    {"rm", "FILE", "removes a file, or an empty folder", rm},
    {"net", "", "the network: addresses, frames, sockets", net},
    {"trace", "[on|off]", "what programs ask init for, and what happens to them; without a word: shows it", trace},
    {"uptime", "", "how long the machine has run", uptime},
    {"echo", "TEXT", "says it", echo},
    {"exit", "[CODE]", "ends the shell, and a system that ends with it", exit},
};

bool help(Text, int &)
{
    for (const Command &c : commands) print("  %-6s %-12s %s\n", c.name, c.arguments, c.help);
    return true;
}

} // namespace

Text next_word(Text &text)
{
    while (text.size && *text.data == ' ') text = {text.data + 1, text.size - 1};
    return cobnut::split(text, ' ');
}

bool complain(Text what, rpc::Error error)
{
    print("%.*s: %s\n", static_cast<int>(what.size), what.data, rpc::describe(error));
    return true;
}

bool execute(const char *line, int &code)
{
    Text rest{line, 0};
    while (line[rest.size]) rest.size++;
    const Text name = next_word(rest);
    if (!name.size) return true;
    for (const Command &c : commands)
        if (name == c.name) return c.execute(rest, code);
    print("%.*s: no such command; `help` lists them\n", static_cast<int>(name.size), name.data);
    return true;
}

} // namespace shell
