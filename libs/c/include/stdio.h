/* SPDX-License-Identifier: BSD-2-Clause */
/* Part of the standard's <stdio.h>: text to the console. There are no other files. */
#ifndef COBNUT_C_STDIO_H
#define COBNUT_C_STDIO_H
#include <stdarg.h>
#include <stddef.h>

#define EOF (-1)

typedef struct cobnut_file FILE;
extern FILE *const stdout, *const stderr;

#ifdef __cplusplus
extern "C" {
#endif
/* Conversions d i u o x X c s p %, with flags - 0 + blank, width and precision (also *), and sizes hh h l ll z t j.
   None for floating point: the programs here do without. */
int printf(const char *text, ...) __attribute__((format(printf, 1, 2)));
int fprintf(FILE *file, const char *text, ...) __attribute__((format(printf, 2, 3)));
int snprintf(char *to, size_t room, const char *text, ...) __attribute__((format(printf, 3, 4)));
int sprintf(char *to, const char *text, ...) __attribute__((format(printf, 2, 3)));
int vprintf(const char *text, va_list arguments);
int vfprintf(FILE *file, const char *text, va_list arguments);
int vsnprintf(char *to, size_t room, const char *text, va_list arguments);
int puts(const char *text);
int putchar(int c);
int fputs(const char *text, FILE *file);
int fputc(int c, FILE *file);
int fflush(FILE *file);
void perror(const char *what);
#ifdef __cplusplus
}
#endif
#endif
