// SPDX-License-Identifier: BSD-2-Clause
// Names everything of the manual in C with its signature: that this file compiles is the test.
#include "everything.h"

#define FUNCTION(section, result, name, parameters)                                                                    \
    __attribute__((unused)) static result(*const function_##name) parameters = L4_##name;
#include "functions.def"

#define TYPE(section, name, bytes) typedef char type_##name[sizeof(L4_##name##_t) == (bytes) ? 1 : -1];
#define WORD(section, name, value) typedef char word_##name[L4_##name == (value) ? 1 : -1];
#define OBJECT(section, type, name, value)                                                                             \
    __attribute__((unused)) static L4_##type##_t object_##name(void) { return L4_##name; }
#include "types.def"
#undef TYPE

#define TYPE(section, name, bytes)                                                                                     \
    __attribute__((unused)) static const void *member_##name(const L4_##name##_t *p) { return &p->raw; }
#undef WORD
#undef OBJECT
#define WORD(section, name, value)
#define OBJECT(section, type, name, value)
#include "types.def"
