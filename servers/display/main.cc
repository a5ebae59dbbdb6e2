// SPDX-License-Identifier: BSD-2-Clause
// The driver of a display.
#include "adapter.h"

#include <interfaces/display.h>
#include <system/server.h>

#include <cobnut/payload.h>

namespace {

using rpc::Error, rpc::Nothing, rpc::Result, rpc::Word;

struct Server {
    using Client = rpc::Client;

    Result<Display::Mode> handle(Display::SetMode, Client &client, Word width, Word height)
    {
        if (owned && owner != client.program) return Error::full;
        if (!memory.handle) {
            const auto opened = cobnut::ask_init<init::OpenRange>(Word{adapter::memory_range});
            if (!opened) return opened.error;
            memory = opened.value;
        }
        if (!adapter::set_mode(width, height, memory.bytes)) return Error::bad_value;
        const auto passed = cobnut::ask_init<init::Pass>(memory.handle, client.thread.raw, Word{1});
        if (!passed) return passed.error;
        owned = true;
        owner = client.program;
        return Display::Mode{memory.handle, width, height, width * sizeof(Word)};
    }

    /// What is drawn is seen at once here.
    Result<Nothing> handle(Display::Show, Client &client, Word, Word, Word, Word)
    {
        if (!owned || owner != client.program) return Error::denied;
        return Nothing{};
    }

    void left(Word program)
    {
        if (!owned || owner != program) return;
        adapter::off();
        // the next start of that program, and those that it has passed the memory to, do not hold it any more
        cobnut::ask_init<init::Close>(memory.handle);
        memory = {};
        owned = false;
    }

    init::File memory = {};
    bool owned = false;
    Word owner = 0; ///< the program that has the display
};

constinit Server server;

} // namespace

int cobnut_main(const char *)
{
    if (!adapter::begin()) {
        cobnut_printf("display: there is none\n");
        return 1;
    }
    cobnut::serve(server, Display::Operations{});
}
