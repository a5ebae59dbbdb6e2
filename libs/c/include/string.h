/* SPDX-License-Identifier: BSD-2-Clause */
/* Part of the standard's <string.h>: what programs here have needed. */
#ifndef COBNUT_C_STRING_H
#define COBNUT_C_STRING_H
#include <stddef.h>

#ifdef __cplusplus
extern "C" {
#endif
void *memcpy(void *to, const void *from, size_t n);
void *memmove(void *to, const void *from, size_t n);
void *memset(void *to, int value, size_t n);
void *memchr(const void *in, int byte, size_t n);
int memcmp(const void *a, const void *b, size_t n);
size_t strlen(const char *s);
size_t strnlen(const char *s, size_t most);
int strcmp(const char *a, const char *b);
int strncmp(const char *a, const char *b, size_t n);
char *strcpy(char *to, const char *from);
char *strncpy(char *to, const char *from, size_t n);
char *strcat(char *to, const char *from);
char *strchr(const char *s, int c);
char *strrchr(const char *s, int c);
size_t strspn(const char *s, const char *of);
size_t strcspn(const char *s, const char *of);
char *strstr(const char *in, const char *what);
char *strerror(int error);
#ifdef __cplusplus
}
#endif
#endif
