// SPDX-License-Identifier: BSD-2-Clause
#include <errno.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

#include <cobnut/payload.h>

namespace {

/// Where formatted text goes: as much as there is room for, and how much there was.
struct Sink {
    char *to;
    size_t room, size = 0;

    void put(char c)
    {
        if (size + 1 < room) to[size] = c;
        size++;
    }
    void fill(char c, int n)
    {
        for (; n > 0; n--) put(c);
    }
};

struct Conversion {
    bool left = false, zeros = false;
    char sign = 0; ///< of what is not negative; 0: none
    int width = 0, precision = -1;
};

/// Text with what stands in front of it, a sign for example, to the width.
void put_padded(Sink &sink, const Conversion &c, const char *front, const char *text, int size, int zeros)
{
    const int front_size = static_cast<int>(strlen(front)), fill = c.width - front_size - zeros - size;
    if (!c.left) sink.fill(' ', fill);
    for (; *front; front++) sink.put(*front);
    sink.fill('0', zeros);
    for (int i = 0; i < size; i++) sink.put(text[i]);
    if (c.left) sink.fill(' ', fill);
}

void put_number(Sink &sink, const Conversion &c, uint64_t value, unsigned base, bool negative, bool capitals)
{
    char digits[24];
    int size = 0;
    for (; value; value /= base)
        digits[sizeof digits - static_cast<size_t>(++size)] =
            (capitals ? "0123456789ABCDEF" : "0123456789abcdef")[value % base];
    const char front[2] = {negative ? '-' : c.sign, 0};
    int zeros = (c.precision < 0 ? 1 : c.precision) - size;
    if (c.precision < 0 && c.zeros && !c.left) zeros = c.width - size - (front[0] != 0);
    put_padded(sink, c, front, digits + sizeof digits - size, size, zeros > 0 ? zeros : 0);
}

int read_count(const char *&p, va_list *arguments)
{
    if (*p == '*') {
        p++;
        return va_arg(*arguments, int);
    }
    int n = 0;
    for (; *p >= '0' && *p <= '9'; p++) n = 10 * n + *p - '0';
    return n;
}

/// `size`: h once or twice is -1 or -2, l 1 or 2; sizes of pointers are those of long here.
uint64_t read_number(va_list *arguments, int size, bool is_signed)
{
    if (size == 2) return va_arg(*arguments, uint64_t);
    const unsigned long value = va_arg(*arguments, unsigned long);
    if (size == -2) return is_signed ? static_cast<uint64_t>(static_cast<signed char>(value)) : value & 0xFF;
    if (size == -1) return is_signed ? static_cast<uint64_t>(static_cast<short>(value)) : value & 0xFFFF;
    return is_signed ? static_cast<uint64_t>(static_cast<long>(value)) : value;
}

void convert(Sink &sink, const Conversion &c, char kind, int size, va_list *arguments)
{
    if (kind == 'd' || kind == 'i') {
        const auto value = static_cast<int64_t>(read_number(arguments, size, true));
        const bool negative = value < 0;
        put_number(sink, c, negative ? 0 - static_cast<uint64_t>(value) : static_cast<uint64_t>(value), 10, negative,
                   false);
    } else if (kind == 'u' || kind == 'o' || kind == 'x' || kind == 'X') {
        const unsigned base = kind == 'u' ? 10 : kind == 'o' ? 8 : 16;
        Conversion plain = c;
        plain.sign = 0;
        put_number(sink, plain, read_number(arguments, size, false), base, false, kind == 'X');
    } else if (kind == 'c') {
        const char one = static_cast<char>(va_arg(*arguments, int));
        put_padded(sink, c, "", &one, 1, 0);
    } else if (kind == 's') {
        const char *text = va_arg(*arguments, const char *);
        if (!text) text = "(null)";
        const size_t most = c.precision < 0 ? ~size_t{0} : static_cast<size_t>(c.precision);
        put_padded(sink, c, "", text, static_cast<int>(strnlen(text, most)), 0);
    } else if (kind == 'p') {
        put_number(sink, c, reinterpret_cast<uintptr_t>(va_arg(*arguments, void *)), 16, false, false);
    } else {
        sink.put(kind);
    }
}

constexpr size_t line_room = 256; // what the kernel's console takes in one piece

void show(const char *text, size_t size)
{
    while (size) {
        const size_t part = size < line_room - 1 ? size : line_room - 1;
        cobnut_printf("%.*s", static_cast<int>(part), text);
        text += part;
        size -= part;
    }
}

} // namespace

FILE *const stdout = nullptr;
FILE *const stderr = nullptr;

extern "C" {

int errno = 0;

int vsnprintf(char *to, size_t room, const char *p, va_list arguments)
{
    Sink sink{to, room};
    va_list rest;
    va_copy(rest, arguments);
    while (*p) {
        if (*p != '%') {
            sink.put(*p++);
            continue;
        }
        Conversion c;
        for (p++;; p++) {
            if (*p == '-') c.left = true;
            else if (*p == '0') c.zeros = true;
            else if (*p == '+' || (*p == ' ' && !c.sign)) c.sign = *p;
            else if (*p != '#') break;
        }
        c.width = read_count(p, &rest);
        if (c.width < 0) {
            c.left = true;
            c.width = -c.width;
        }
        if (*p == '.') {
            p++;
            c.precision = read_count(p, &rest);
        }
        int size = 0;
        for (;; p++) {
            if (*p == 'h') size--;
            else if (*p == 'l') size++;
            else if (*p == 'j') size = 2;
            else if (*p != 'z' && *p != 't') break;
        }
        if (!*p) break;
        convert(sink, c, *p++, size, &rest);
    }
    va_end(rest);
    if (room) to[sink.size < room ? sink.size : room - 1] = 0;
    return static_cast<int>(sink.size);
}

int vprintf(const char *text, va_list arguments)
{
    char line[1024];
    const int size = vsnprintf(line, sizeof line, text, arguments);
    show(line, strlen(line));
    return size;
}
int vfprintf(FILE *, const char *text, va_list arguments) { return vprintf(text, arguments); }

int printf(const char *text, ...)
{
    va_list arguments;
    va_start(arguments, text);
    const int size = vprintf(text, arguments);
    va_end(arguments);
    return size;
}
int fprintf(FILE *, const char *text, ...)
{
    va_list arguments;
    va_start(arguments, text);
    const int size = vprintf(text, arguments);
    va_end(arguments);
    return size;
}
int snprintf(char *to, size_t room, const char *text, ...)
{
    va_list arguments;
    va_start(arguments, text);
    const int size = vsnprintf(to, room, text, arguments);
    va_end(arguments);
    return size;
}
int sprintf(char *to, const char *text, ...)
{
    va_list arguments;
    va_start(arguments, text);
    const int size = vsnprintf(to, 0x7FFFFFFF, text, arguments);
    va_end(arguments);
    return size;
}

int fputs(const char *text, FILE *)
{
    show(text, strlen(text));
    return 0;
}
int puts(const char *text)
{
    fputs(text, stdout);
    return fputs("\n", stdout);
}
int fputc(int c, FILE *)
{
    const char one = static_cast<char>(c);
    show(&one, 1);
    return static_cast<unsigned char>(one);
}
int putchar(int c) { return fputc(c, stdout); }
int fflush(FILE *) { return 0; }

char *strerror(int error)
{
    static char text[32];
    static constexpr struct {
        int error;
        const char *text;
    } known[] = {
        {0, "Success"},
        {EBADF, "Bad file descriptor"},
        {EAGAIN, "Resource temporarily unavailable"},
        {ENOMEM, "Cannot allocate memory"},
        {EINVAL, "Invalid argument"},
        {EPIPE, "Broken pipe"},
        {EADDRINUSE, "Address already in use"},
        {ENETDOWN, "Network is down"},
        {ECONNRESET, "Connection reset by peer"},
        {ENOTCONN, "Transport endpoint is not connected"},
        {ETIMEDOUT, "Connection timed out"},
        {ECONNREFUSED, "Connection refused"},
        {EHOSTUNREACH, "No route to host"},
        {EINPROGRESS, "Operation now in progress"},
    };
    for (const auto &one : known)
        if (one.error == error) return const_cast<char *>(one.text);
    snprintf(text, sizeof text, "Error %d", error);
    return text;
}

void perror(const char *what) { printf("%s: %s\n", what, strerror(errno)); }

} // extern "C"
