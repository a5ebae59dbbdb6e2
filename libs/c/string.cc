// SPDX-License-Identifier: BSD-2-Clause
// The user library has those functions that a compiler calls by itself; these are the others.
#include <string.h>

extern "C" {

void *memchr(const void *in, int byte, size_t n)
{
    const auto *p = static_cast<const unsigned char *>(in);
    for (; n; n--, p++)
        if (*p == static_cast<unsigned char>(byte)) return const_cast<unsigned char *>(p);
    return nullptr;
}

size_t strnlen(const char *s, size_t most)
{
    size_t n = 0;
    while (n < most && s[n]) n++;
    return n;
}

int strncmp(const char *a, const char *b, size_t n)
{
    for (; n; n--, a++, b++) {
        if (*a != *b) return static_cast<unsigned char>(*a) - static_cast<unsigned char>(*b);
        if (!*a) break;
    }
    return 0;
}
int strcmp(const char *a, const char *b) { return strncmp(a, b, ~size_t{0}); }

char *strncpy(char *to, const char *from, size_t n)
{
    size_t i = 0;
    for (; i < n && from[i]; i++) to[i] = from[i];
    for (; i < n; i++) to[i] = 0;
    return to;
}
char *strcpy(char *to, const char *from)
{
    memcpy(to, from, strlen(from) + 1);
    return to;
}
char *strcat(char *to, const char *from)
{
    strcpy(to + strlen(to), from);
    return to;
}

char *strchr(const char *s, int c)
{
    for (;; s++) {
        if (*s == static_cast<char>(c)) return const_cast<char *>(s);
        if (!*s) return nullptr;
    }
}
char *strrchr(const char *s, int c)
{
    const char *found = nullptr;
    for (; (s = strchr(s, c)); s++) {
        found = s;
        if (!*s) break;
    }
    return const_cast<char *>(found);
}
size_t strspn(const char *s, const char *of)
{
    size_t n = 0;
    while (s[n] && strchr(of, s[n])) n++;
    return n;
}
size_t strcspn(const char *s, const char *of)
{
    size_t n = 0;
    while (s[n] && !strchr(of, s[n])) n++;
    return n;
}
char *strstr(const char *in, const char *what)
{
    const size_t size = strlen(what);
    for (; strncmp(in, what, size); in++)
        if (!*in) return nullptr;
    return const_cast<char *>(in);
}

} // extern "C"
