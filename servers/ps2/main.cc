// SPDX-License-Identifier: BSD-2-Clause
// The driver of keyboard and mouse.
#include "controller.h"
#include "decoder.h"

#include <system/server.h>

#include <cobnut/payload.h>

namespace {

using rpc::Error, rpc::Result, rpc::Word;

struct Server {
    using Client = rpc::Client;

    Result<Input::Events> handle(Input::Read, Client &client)
    {
        if (count) return taken();
        if (!L4_IsNilThread(reader.thread)) return Error::full;
        reader = client;
        return Error::later;
    }

    void interrupted(Word)
    {
        Input::Event event;
        for (ps2::Byte byte; (byte = ps2::get()).there;)
            if (byte.of_mouse ? decoder.take_mouses(byte.value, event) : decoder.take_keyboards(byte.value, event))
                if (count < most) waiting[(first + count++) % most] = event;
        if (!count || L4_IsNilThread(reader.thread)) return;
        rpc::answer<Input::Read>(reader.thread, taken());
        reader = {};
    }

    void left(Word program)
    {
        if (reader.program == program) reader = {};
    }

    Input::Events taken()
    {
        Input::Events events = {};
        for (; count && events.count < Input::most; count--, first++)
            events.events[events.count++] = waiting[first % most];
        return events;
    }

    static constexpr Word most = 64;
    ps2::Decoder decoder;
    Input::Event waiting[most] = {};
    Word first = 0, count = 0;
    Client reader = {};
};

constinit Server server;

} // namespace

int cobnut_main(const char *)
{
    if (!ps2::begin()) return 1;
    for (unsigned i = 0; i < ps2::line_count; i++)
        if (!cobnut::ask_init<init::TakeInterrupt>(Word{ps2::lines[i]})) return 1;
    server.interrupted(0); // what has come meanwhile
    cobnut::serve(server, Input::Operations{});
}
