// SPDX-License-Identifier: BSD-2-Clause
#include <cobnut/options.h>

namespace cobnut {
namespace {

bool is_space(char c) { return c == ' ' || c == '\t' || c == '\n' || c == '\r'; }

/// Takes the next word off `p`; a null Text at the end.
Text next_word(const char *&p)
{
    while (is_space(*p)) p++;
    Text word{p, 0};
    while (*p && !is_space(*p)) p++;
    word.size = static_cast<size_t>(p - word.data);
    return word.size ? word : Text{};
}

} // namespace

bool Text::operator==(const char *other) const
{
    size_t i = 0;
    while (i < size && other[i] && data[i] == other[i]) i++;
    return i == size && other[i] == 0;
}

bool parse_number(Text text, unsigned &value)
{
    unsigned base = 10;
    size_t i = 0;
    if (text.size > 2 && text.data[0] == '0' && (text.data[1] == 'x' || text.data[1] == 'X')) {
        base = 16;
        i = 2;
    }
    if (i == text.size) return false;
    unsigned result = 0;
    for (; i < text.size; i++) {
        const char c = text.data[i];
        unsigned digit;
        if (c >= '0' && c <= '9') digit = static_cast<unsigned>(c - '0');
        else if (base == 16 && c >= 'a' && c <= 'f') digit = static_cast<unsigned>(c - 'a') + 10;
        else if (base == 16 && c >= 'A' && c <= 'F') digit = static_cast<unsigned>(c - 'A') + 10;
        else return false;
        if (result > (~0u - digit) / base) return false;
        result = result * base + digit;
    }
    value = result;
    return true;
}

Text Options::program() const
{
    const char *p = line_;
    Text word = next_word(p);
    for (size_t i = 0; i < word.size; i++)
        if (word.data[i] == '/') {
            word = Text{word.data + i + 1, word.size - i - 1};
            i = ~size_t{0};
        }
    return word;
}

Text Options::find(const char *key) const
{
    Text found;
    const char *p = line_;
    while (Text word = next_word(p)) {
        Text name{word.data, 0};
        while (name.size < word.size && word.data[name.size] != '=') name.size++;
        if (name.size < word.size && name == key) found = Text{word.data + name.size + 1, word.size - name.size - 1};
    }
    return found;
}

unsigned Options::number(const char *key, unsigned fallback, bool *bad) const
{
    unsigned value = fallback;
    if (const Text text = find(key); text && !parse_number(text, value) && bad) *bad = true;
    return value;
}

bool parse_range(Text text, unsigned &start, unsigned &stop, unsigned &step)
{
    const Text first = split(text, ':');
    unsigned a, b, c = 1;
    if (!parse_number(first, a)) return false;
    b = a;
    if (text.size) {
        const Text second = split(text, ':');
        if (!parse_number(second, b)) return false;
        if (text.size && !parse_number(text, c)) return false;
    }
    if (c == 0 || b < a) return false;
    start = a;
    stop = b;
    step = c;
    return true;
}

} // namespace cobnut
