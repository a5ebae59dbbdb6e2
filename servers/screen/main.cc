// SPDX-License-Identifier: BSD-2-Clause
// A console on display and keyboard: the service `console`, as the serial port's driver has it. A second thread waits
// for keys, so that the console can be written to meanwhile. The boot image's file `font` is its font.
#include "keymap.h"
#include "terminal.h"

#include <interfaces/console.h>
#include <interfaces/display.h>
#include <system/server.h>

#include <cobnut/payload.h>
#include <l4/schedule.h>

namespace {

using rpc::Error, rpc::Nothing, rpc::Result, rpc::Word;

constexpr Word width = 640, height = 480;
constexpr Word between_attempts_us = 50'000;

constinit screen::Font font;

/// Characters on their way from the thread that waits for keys to the other one: one writes, one reads.
struct Typed {
    static constexpr Word most = 256;
    char text[most] = {};
    volatile Word written = 0, read = 0;

    void put(char c)
    {
        if (written - read < most) text[written % most] = c;
        if (written - read < most) written = written + 1;
    }
};
constinit Typed typed;

struct Server {
    using Client = rpc::Client;

    Result<Nothing> handle(Console::Write, Client &, const Console::Text &text)
    {
        terminal.write(text.data, text.size);
        show();
        return Nothing{};
    }

    Result<Console::Text> handle(Console::Read, Client &client)
    {
        if (typed.written != typed.read) return taken();
        if (!L4_IsNilThread(reader.thread)) return Error::full;
        reader = client;
        return Error::later;
    }

    /// The other thread has characters.
    void notified()
    {
        if (typed.written == typed.read || L4_IsNilThread(reader.thread)) return;
        rpc::answer<Console::Read>(reader.thread, taken());
        reader = {};
    }

    void left(Word program)
    {
        if (reader.program == program) reader = {};
    }

    Console::Text taken()
    {
        Console::Text text;
        while (typed.read != typed.written && text.size < text.room) {
            text.data[text.size++] = typed.text[typed.read % Typed::most];
            typed.read = typed.read + 1;
        }
        return text;
    }

    /// A display whose driver has died is asked for again.
    L4_Time_t patience()
    {
        if (at || open()) return L4_Never;
        return L4_TimePeriod(between_attempts_us);
    }

    bool open()
    {
        const auto mode = display.call<Display::SetMode>(width, height);
        if (!mode) return false;
        const auto attached = cobnut::ask_init<init::Attach>(mode.value.handle, Word{0}, Word{1});
        if (!attached) return false;
        at = attached.value;
        const auto pixels = reinterpret_cast<unsigned *>(at);
        terminal.show_on({pixels, mode.value.width, mode.value.height, mode.value.line / sizeof *pixels});
        return true;
    }

    void show()
    {
        if (!at || display.call<Display::Show>(Word{0}, Word{0}, width, height)) return;
        cobnut::ask_init<init::Detach>(at);
        at = 0;
        terminal.show_on({});
    }

    screen::Terminal terminal;
    cobnut::Session display{"display"};
    Word at = 0; ///< where the display's memory is; 0: there is none
    Client reader = {};
};

constinit Server server;
constinit L4_ThreadId_t main_thread = {};
alignas(16) constinit char stack[4096];

[[noreturn]] void wait_for_keys()
{
    static constinit cobnut::Session input("input");
    static constinit screen::Keymap keys;
    for (;;) {
        const auto events = input.call<Input::Read>();
        if (!events) {
            L4_Sleep(L4_TimePeriod(between_attempts_us));
            continue;
        }
        char text[screen::Keymap::most];
        for (Word i = 0; i < events.value.count && i < Input::most; i++) {
            const unsigned size = keys.take(events.value.events[i], text);
            for (unsigned j = 0; j < size; j++) typed.put(text[j]);
        }
        L4_Set_MsgTag(L4_MsgTag_t{.raw = 0});
        L4_Call(main_thread);
    }
}

bool read_font()
{
    const auto file = cobnut::ask_init<init::OpenFile>(init::Name("font"));
    if (!file) return false;
    const auto at = cobnut::ask_init<init::Attach>(file.value.handle, Word{0}, Word{0});
    return at && font.read(reinterpret_cast<const void *>(at.value), file.value.bytes);
}

} // namespace

int cobnut_main(const char *)
{
    if (!read_font()) {
        cobnut_printf("screen: there is no font of 8 pixels a line in the file `font`\n");
        return 1;
    }
    server.terminal.begin(font);
    main_thread = L4_Myself();
    const Word ip = reinterpret_cast<Word>(wait_for_keys), sp = reinterpret_cast<Word>(stack + sizeof stack - 16);
    if (!cobnut::ask_init<init::MakeThread>(ip, sp)) return 1;
    cobnut::serve(server, Console::Operations{});
}
