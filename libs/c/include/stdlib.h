/* SPDX-License-Identifier: BSD-2-Clause */
/* Part of the standard's <stdlib.h>. */
#ifndef COBNUT_C_STDLIB_H
#define COBNUT_C_STDLIB_H
#include <stddef.h>

#define EXIT_SUCCESS 0
#define EXIT_FAILURE 1

#ifdef __cplusplus
extern "C" {
#endif
int atoi(const char *text);
long strtol(const char *text, char **end, int base);
int abs(int value);
/// From a heap of a size fixed when the program is linked, 256 KB: NULL if there is no room left.
void *malloc(size_t size);
void *calloc(size_t count, size_t size);
void *realloc(void *old, size_t size);
void free(void *block);
void exit(int status) __attribute__((noreturn));
void abort(void) __attribute__((noreturn));
#ifdef __cplusplus
}
#endif
#endif
