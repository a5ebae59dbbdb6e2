// SPDX-License-Identifier: BSD-2-Clause
// Lines typed on a terminal: editing with cursor keys, and a history. Knows no device; compiles on the host for tests.
#pragma once

#include <stddef.h>

namespace shell {

/// Where the editor's echo goes.
class Terminal {
public:
    virtual void write(const char *text, size_t size) = 0;
};

/// One line at a time. Keys: arrows, Home, End, Delete, Backspace, Ctrl-A, -E, -K, -U, and Ctrl-C, which gives the line
/// up; arrows up and down walk through the history.
class LineEditor {
public:
    static constexpr size_t most = 120, most_history = 16;

    explicit constexpr LineEditor(Terminal &terminal) : terminal_(terminal) {}

    void begin(const char *prompt);
    /// Takes a character; true if it ends the line, which line() has then.
    bool take(char c);
    const char *line() const { return text_; }

private:
    void insert(char c);
    void erase(size_t at);
    void set(const char *text);
    void recall(bool older);
    void remember();
    void redraw();
    void move(char key);
    bool take_escape(char c);

    Terminal &terminal_;
    const char *prompt_ = "";
    char text_[most + 1] = {};
    size_t size_ = 0, cursor_ = 0;
    char history_[most_history][most + 1] = {};
    size_t remembered_ = 0, recalled_ = 0; ///< recalled_: how far back, 0: not at all
    int escape_ = 0;                       ///< how much of an escape sequence has come
    char parameter_ = 0;
};

} // namespace shell
