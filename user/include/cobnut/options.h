// SPDX-License-Identifier: BSD-2-Clause
// Command lines of the form `program word key=value key=value`. Compiles on the host for its tests.
#ifndef COBNUT_OPTIONS_H
#define COBNUT_OPTIONS_H
#include <stddef.h>

namespace cobnut {

/// A piece of a longer string.
struct Text {
    const char *data = nullptr;
    size_t size = 0;

    bool operator==(const char *other) const;
    explicit operator bool() const { return data != nullptr; }
};

/// Takes what is before `mark` off the front of `text`, and the mark.
inline Text split(Text &text, char mark)
{
    Text head{text.data, 0};
    while (head.size < text.size && head.data[head.size] != mark) head.size++;
    const size_t used = head.size < text.size ? head.size + 1 : head.size;
    text.data += used;
    text.size -= used;
    return head;
}

/// Reads a decimal number, or a hexadecimal one after 0x. False, and `value` untouched, if there is anything else
/// in the text, nothing at all, or more than 32 bits.
bool parse_number(Text text, unsigned &value);

/// Looks things up in a command line, which must outlive this object.
class Options {
public:
    explicit Options(const char *command_line) : line_(command_line ? command_line : "") {}

    /// Last path component of the first word, the program's name.
    Text program() const;

    /// The text after `key=`, a null Text if the key is not there. The last one counts.
    Text find(const char *key) const;

    /// The number after `key=`; `fallback` if the key is not there, and `*bad` set if what is there is no number.
    unsigned number(const char *key, unsigned fallback, bool *bad = nullptr) const;

private:
    const char *line_;
};

/// START:STOP:STEP with STOP inclusive, START:STOP with step 1, or one number. False if it is none of these, if the
/// step is 0, or if STOP is less than START.
bool parse_range(Text text, unsigned &start, unsigned &stop, unsigned &step);

} // namespace cobnut
#endif
