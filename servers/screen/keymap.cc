// SPDX-License-Identifier: BSD-2-Clause
#include "keymap.h"

namespace screen {
namespace {

// by the codes of set 1
constexpr char plain[] = "\0\0331234567890-=\177\tqwertyuiop[]\r\0asdfghjkl;'`\0\\zxcvbnm,./\0*\0 ";
constexpr char shifted[] = "\0\033!@#$%^&*()_+\177\tQWERTYUIOP{}\r\0ASDFGHJKL:\"~\0|ZXCVBNM<>?\0*\0 ";
static_assert(sizeof plain == sizeof shifted);

enum : unsigned char { left_shift = 0x2A, right_shift = 0x36, control = 0x1D, caps_lock = 0x3A };
constexpr unsigned extended = 0x80, enter = 0x1C;

struct Sequence {
    unsigned key;
    const char *text;
};
constexpr Sequence sequences[] = {
    {extended | 0x48, "\033[A"}, {extended | 0x50, "\033[B"}, {extended | 0x4D, "\033[C"},  {extended | 0x4B, "\033[D"},
    {extended | 0x47, "\033[H"}, {extended | 0x4F, "\033[F"}, {extended | 0x53, "\033[3~"}, {extended | enter, "\r"}};

bool letter(char c) { return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z'); }

} // namespace

unsigned Keymap::take(const Input::Event &event, char *text)
{
    if (event.kind == Input::Kind::moved) return 0;
    const bool pressed = event.kind == Input::Kind::pressed;
    if (event.key == left_shift || event.key == right_shift) return shift_ = pressed, 0;
    if ((event.key & ~extended) == control) return control_ = pressed, 0;
    if (!pressed) return 0;
    if (event.key == caps_lock) return capitals_ = !capitals_, 0;
    for (const Sequence &sequence : sequences) {
        if (sequence.key != event.key) continue;
        unsigned size = 0;
        for (; sequence.text[size]; size++) text[size] = sequence.text[size];
        return size;
    }
    if (event.key >= sizeof plain || !plain[event.key]) return 0;
    const bool upper = shift_ != (capitals_ && letter(plain[event.key]));
    text[0] = upper ? shifted[event.key] : plain[event.key];
    if (control_) text[0] &= 0x1F;
    return 1;
}

} // namespace screen
