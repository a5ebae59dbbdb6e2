// SPDX-License-Identifier: BSD-2-Clause
// A driver of the keyboard's controller that does what no driver should. Arguments: words WHEN:EVENT, of which its
// first start takes the first, and so on. WHEN is `start`, `interrupt` or `call`; EVENT is `loop`, `die`, `fault`,
// `flood` or `storm`, of interrupts, each of which asks for the next one. For checks that the others are served:
// servers/steady.
#include "starts.h"

#include <interfaces/adder.h>
#include <system/ports.h>
#include <system/server.h>

#include <cobnut/options.h>
#include <cobnut/payload.h>

namespace {

using rpc::Nothing, rpc::Result, rpc::Word;

constexpr Word line = 1;
constexpr unsigned short data = 0x60, status = 0x64, command = 0x64;
constexpr unsigned char input_full = 2, put_back = 0xD2; // a byte as if a key had sent it

constinit cobnut::Text event, when;

void ask_for_an_interrupt()
{
    while (ports::in8(status) & input_full) {}
    ports::out8(command, put_back);
    while (ports::in8(status) & input_full) {}
    ports::out8(data, 0x1E);
}

/// Asks whom it may ask, all the time: operations that are not there, memory that it gives back.
[[noreturn]] void flood()
{
    cobnut::Session adder("adder");
    for (Word i = 0;; i++) {
        adder.call<Adder::Sum>(i, i);
        L4_Set_MsgTag(L4_MsgTag_t{.raw = (i & 0x7FFF) << 16 | 5});
        L4_Call(adder.server());
        const auto made = cobnut::ask_init<init::Create>(i & 7);
        if (made) cobnut::ask_init<init::Close>(made.value);
    }
}

void act()
{
    if (event == "loop")
        for (;;) __asm__ volatile("");
    if (event == "die") __asm__ volatile("ud2");
    if (event == "fault") *reinterpret_cast<volatile char *>(0x3FFFF000) = 1;
    if (event == "flood") flood();
    if (event == "storm") ask_for_an_interrupt();
}

struct Server {
    Result<Nothing> handle(Adder::Null, rpc::Client &)
    {
        if (when == "call") act();
        return Nothing{};
    }
    void interrupted(Word)
    {
        ports::in8(data);
        if (when == "interrupt") act();
    }
};
constinit Server server;

} // namespace

int cobnut_main(const char *arguments)
{
    event = starts::word_of_this(arguments);
    when = cobnut::split(event, ':');
    if (when == "start") act();
    if (!cobnut::ask_init<init::TakeInterrupt>(line)) return 1;
    ports::in8(data);
    ask_for_an_interrupt();
    cobnut::serve(server, rpc::List<Adder::Null>{});
}
