// SPDX-License-Identifier: BSD-2-Clause
#include <cobnut/format.h>

namespace cobnut {
namespace {

/// Collects characters, counts those that did not fit.
struct Sink {
    char *out;
    size_t size;
    size_t count = 0;

    void put(char c)
    {
        if (count + 1 < size) out[count] = c;
        count++;
    }
    void finish()
    {
        if (size) out[count < size ? count : size - 1] = 0;
    }
};

struct Spec {
    bool left = false, zero = false, wide = false;
    bool precision_argument = false; // written as .*
    size_t width = 0;
    size_t precision = ~size_t{0};
};

/// Divides by 10 or 16 with 32-bit steps only: the 64-bit division helper is not there without a C library.
unsigned divide(unsigned long long &value, unsigned base)
{
    if (base == 16) {
        const unsigned digit = static_cast<unsigned>(value) & 15u;
        value >>= 4;
        return digit;
    }
    unsigned long long quotient = 0;
    unsigned rest = 0;
    for (int bit = 63; bit >= 0; bit--) {
        rest = rest << 1 | static_cast<unsigned>(value >> bit & 1);
        if (rest >= base) {
            rest -= base;
            quotient |= 1ull << bit;
        }
    }
    value = quotient;
    return rest;
}

void put_text(Sink &sink, const char *text, size_t length, const Spec &spec)
{
    const size_t pad = length < spec.width ? spec.width - length : 0;
    for (size_t i = 0; !spec.left && i < pad; i++) sink.put(' ');
    for (size_t i = 0; i < length; i++) sink.put(text[i]);
    for (size_t i = 0; spec.left && i < pad; i++) sink.put(' ');
}

void put_number(Sink &sink, unsigned long long value, bool negative, unsigned base, bool upper, const Spec &spec)
{
    char reversed[24];
    size_t n = 0;
    do {
        const unsigned digit = divide(value, base);
        reversed[n++] = static_cast<char>(digit < 10 ? '0' + digit : (upper ? 'A' : 'a') + digit - 10);
    } while (value);
    const size_t length = n + negative;
    const size_t pad = length < spec.width ? spec.width - length : 0;
    const bool zeros = spec.zero && !spec.left;
    for (size_t i = 0; !spec.left && !zeros && i < pad; i++) sink.put(' ');
    if (negative) sink.put('-');
    for (size_t i = 0; zeros && i < pad; i++) sink.put('0');
    while (n) sink.put(reversed[--n]);
    for (size_t i = 0; spec.left && i < pad; i++) sink.put(' ');
}

/// Reads flags, width, precision and size; returns the place of the conversion letter.
const char *parse(const char *p, Spec &spec)
{
    for (;; p++) {
        if (*p == '-') spec.left = true;
        else if (*p == '0') spec.zero = true;
        else break;
    }
    while (*p >= '0' && *p <= '9') spec.width = spec.width * 10 + static_cast<size_t>(*p++ - '0');
    if (*p == '.') {
        spec.precision = 0;
        if (p[1] == '*') {
            spec.precision_argument = true;
            p++;
        }
        for (p++; *p >= '0' && *p <= '9'; p++) spec.precision = spec.precision * 10 + static_cast<size_t>(*p - '0');
    }
    if (p[0] == 'l' && p[1] == 'l') {
        spec.wide = true;
        p += 2;
    } else if (*p == 'l' || *p == 'z') {
        p++;
    }
    return p;
}

} // namespace

size_t format(char *out, size_t size, const char *text, va_list arguments)
{
    Sink sink{out, size};
    for (const char *p = text; *p; p++) {
        if (*p != '%') {
            sink.put(*p);
            continue;
        }
        Spec spec;
        p = parse(p + 1, spec);
        if (spec.precision_argument) spec.precision = static_cast<size_t>(va_arg(arguments, int));
        switch (*p) {
        case 'd': {
            const long long value = spec.wide ? va_arg(arguments, long long) : va_arg(arguments, int);
            const auto bits = static_cast<unsigned long long>(value);
            put_number(sink, value < 0 ? 0 - bits : bits, value < 0, 10, false, spec);
            break;
        }
        case 'u':
        case 'x':
        case 'X': {
            const unsigned long long value =
                spec.wide ? va_arg(arguments, unsigned long long) : va_arg(arguments, unsigned);
            put_number(sink, value, false, *p == 'u' ? 10 : 16, *p == 'X', spec);
            break;
        }
        case 'p': put_number(sink, reinterpret_cast<size_t>(va_arg(arguments, void *)), false, 16, false, spec); break;
        case 'c': {
            const char c = static_cast<char>(va_arg(arguments, int));
            put_text(sink, &c, 1, spec);
            break;
        }
        case 's': {
            const char *s = va_arg(arguments, const char *);
            if (!s) s = "(null)";
            size_t length = 0;
            while (length < spec.precision && s[length]) length++;
            put_text(sink, s, length, spec);
            break;
        }
        case '%': sink.put('%'); break;
        case 0:
            p--; // a lone % at the end: the loop meets the NUL next
            break;
        default: sink.put('?'); break;
        }
    }
    sink.finish();
    return sink.count;
}

size_t format(char *out, size_t size, const char *text, ...)
{
    va_list arguments;
    va_start(arguments, text);
    const size_t n = format(out, size, text, arguments);
    va_end(arguments);
    return n;
}

} // namespace cobnut
