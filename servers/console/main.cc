// SPDX-License-Identifier: BSD-2-Clause
// The driver of the serial console. On a PC it shares the port with the kernel's own console, which prints by itself.
#include "uart.h"

#include <interfaces/console.h>
#include <system/server.h>

#include <cobnut/payload.h>

namespace {

struct Server {
    using Client = rpc::Client;

    rpc::Result<rpc::Nothing> handle(Console::Write, Client &, const Console::Text &text)
    {
        for (rpc::Word i = 0; i < text.size; i++) {
            if (text.data[i] == '\n') uart::put('\r');
            uart::put(text.data[i]);
        }
        return rpc::Nothing{};
    }

    rpc::Result<Console::Text> handle(Console::Read, Client &client)
    {
        if (typed.size) return taken();
        if (!L4_IsNilThread(reader.thread)) return rpc::Error::full;
        reader = client;
        return rpc::Error::later;
    }

    void interrupted(L4_Word_t)
    {
        for (int c; (c = uart::get()) >= 0;)
            if (typed.size < typed.room) typed.data[typed.size++] = static_cast<char>(c);
        if (!typed.size || L4_IsNilThread(reader.thread)) return;
        rpc::answer<Console::Read>(reader.thread, taken());
        reader = {};
    }

    void left(L4_Word_t program)
    {
        if (reader.program == program) reader = {};
    }

    Console::Text taken()
    {
        const Console::Text text = typed;
        typed.size = 0;
        return text;
    }

    Console::Text typed;
    Client reader = {}; ///< who waits for something to be typed
};

constinit Server server;

} // namespace

int cobnut_main(const char *)
{
    if (!cobnut::ask_init<init::TakeInterrupt>(rpc::Word{uart::line}) || !uart::begin()) return 1;
    cobnut::serve(server, Console::Operations{});
}
