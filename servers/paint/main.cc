// SPDX-License-Identifier: BSD-2-Clause
// Draws with the mouse, on a pattern that shows whether each pixel is where it should be: for trying display, keyboard
// and mouse. A square follows the mouse while a button is held down; the key q ends it. Arguments: `width=`, `height=`.
#include <interfaces/display.h>
#include <interfaces/input.h>
#include <system/system.h>

#include <cobnut/options.h>
#include <cobnut/payload.h>

namespace {

using rpc::Word;

constexpr Word key_q = 0x10;
constexpr int square = 8;
constexpr unsigned colours[] = {0xFFFFFF, 0xFF0000, 0x00FF00, 0x0000FF}; // no button, left, right, middle

constinit cobnut::Session display("display"), input("input");
constinit unsigned *pixels = nullptr;
constinit Display::Mode mode = {};

void pattern()
{
    for (Word y = 0; y < mode.height; y++)
        for (Word x = 0; x < mode.width; x++)
            pixels[y * (mode.line / 4) + x] = (x & 0xFF) << 16 | (y & 0xFF) << 8 | x >> 8;
}

void draw(int left, int top, unsigned colour)
{
    for (int y = top; y < top + square; y++)
        for (int x = left; x < left + square; x++)
            pixels[static_cast<Word>(y) * (mode.line / 4) + static_cast<Word>(x)] = colour;
    display.call<Display::Show>(static_cast<Word>(left), static_cast<Word>(top), Word{square}, Word{square});
}

int within(int value, Word size)
{
    const int most = static_cast<int>(size) - square;
    return value < 0 ? 0 : value > most ? most : value;
}

int follow()
{
    int x = 0, y = 0;
    for (;;) {
        const auto events = input.call<Input::Read>();
        if (!events) return 2;
        for (Word i = 0; i < events.value.count; i++) {
            const Input::Event &event = events.value.events[i];
            if (event.kind != Input::Kind::moved) {
                cobnut_printf("paint: key %x %s\n", event.key, event.kind == Input::Kind::pressed ? "down" : "up");
                if (event.key == key_q && event.kind == Input::Kind::released) return 0;
                continue;
            }
            x = within(x + event.x, mode.width);
            y = within(y + event.y, mode.height);
            const Word button = event.key & 1 ? 1 : event.key & 2 ? 2 : event.key & 4 ? 3 : 0;
            if (button) draw(x, y, colours[button]);
            cobnut_printf("paint: mouse %d %d buttons %u\n", x, y, event.key);
        }
    }
}

} // namespace

int cobnut_main(const char *arguments)
{
    const cobnut::Options options(arguments);
    const auto set = display.call<Display::SetMode>(options.number("width", 800), options.number("height", 600));
    if (!set) {
        cobnut_printf("paint: no such mode: %s\n", rpc::describe(set.error));
        return 1;
    }
    mode = set.value;
    const auto at = cobnut::ask_init<init::Attach>(mode.handle, Word{0}, Word{1});
    if (!at) return 1;
    pixels = reinterpret_cast<unsigned *>(at.value);
    pattern();
    cobnut_printf("paint: ready\n");
    return follow();
}
