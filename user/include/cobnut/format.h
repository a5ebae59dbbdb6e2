// SPDX-License-Identifier: BSD-2-Clause
// Text formatting without a C library. No floating point, no allocation; compiles on the host for its tests.
#ifndef COBNUT_FORMAT_H
#define COBNUT_FORMAT_H
#include <stdarg.h>
#include <stddef.h>

namespace cobnut {

/// Writes at most size - 1 characters and a NUL to `out`; returns how many characters the whole text has.
/// Conversions: %d %u %x %X %c %s %p %%, with flags 0 and -, a width, a precision for %s (a number
/// or *), and ll for 64-bit numbers.
size_t format(char *out, size_t size, const char *text, va_list arguments);

/// The same with the arguments in place.
size_t format(char *out, size_t size, const char *text, ...) __attribute__((format(printf, 3, 4)));

} // namespace cobnut
#endif
