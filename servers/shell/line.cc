// SPDX-License-Identifier: BSD-2-Clause
#include "line.h"

namespace shell {
namespace {

constexpr char control(char letter) { return static_cast<char>(letter & 0x1F); }
constexpr char escape = 27, backspace = 8, erase_key = 127;

size_t length(const char *text)
{
    size_t n = 0;
    while (text[n]) n++;
    return n;
}

bool same(const char *a, const char *b)
{
    while (*a && *a == *b) a++, b++;
    return *a == *b;
}

void copy(char *to, const char *from)
{
    while ((*to++ = *from++)) {}
}

} // namespace

void LineEditor::begin(const char *prompt)
{
    prompt_ = prompt;
    size_ = cursor_ = recalled_ = 0;
    text_[0] = 0;
    escape_ = 0;
    redraw();
}

/// The whole line again, and the cursor in its place: at most 120 characters, so that nothing cleverer is worth it.
void LineEditor::redraw()
{
    terminal_.write("\r\033[K", 4);
    terminal_.write(prompt_, length(prompt_));
    terminal_.write(text_, size_);
    for (size_t i = cursor_; i < size_; i++) terminal_.write("\b", 1);
}

void LineEditor::insert(char c)
{
    if (size_ == most) return;
    for (size_t i = size_++; i > cursor_; i--) text_[i] = text_[i - 1];
    text_[cursor_++] = c;
    text_[size_] = 0;
}

void LineEditor::erase(size_t at)
{
    if (at >= size_) return;
    for (size_t i = at; i < size_; i++) text_[i] = text_[i + 1];
    size_--;
}

void LineEditor::set(const char *text)
{
    copy(text_, text);
    size_ = cursor_ = length(text);
}

void LineEditor::recall(bool older)
{
    const size_t kept = remembered_ < most_history ? remembered_ : most_history;
    if (older ? recalled_ == kept : recalled_ == 0) return;
    recalled_ += older ? 1 : ~size_t{0};
    set(recalled_ ? history_[(remembered_ - recalled_) % most_history] : "");
}

void LineEditor::remember()
{
    if (!size_ || (remembered_ && same(history_[(remembered_ - 1) % most_history], text_))) return;
    copy(history_[remembered_++ % most_history], text_);
}

void LineEditor::move(char key)
{
    switch (key) {
    case 'A': recall(true); break;
    case 'B': recall(false); break;
    case 'C': cursor_ += cursor_ < size_; break;
    case 'D': cursor_ -= cursor_ > 0; break;
    case 'H': cursor_ = 0; break;
    case 'F': cursor_ = size_; break;
    default: break;
    }
}

/// ESC [ KEY, or ESC [ N ~ (ECMA-48). True while the sequence goes on.
bool LineEditor::take_escape(char c)
{
    if (escape_ == 1 && (c == '[' || c == 'O')) {
        escape_ = 2;
        return true;
    }
    if (escape_ == 2 && c >= '0' && c <= '9') {
        parameter_ = c;
        return true;
    }
    if (escape_ == 2 && c != '~') move(c);
    if (escape_ == 2 && c == '~') {
        if (parameter_ == '3') erase(cursor_);
        else if (parameter_ == '1' || parameter_ == '7') cursor_ = 0;
        else if (parameter_ == '4' || parameter_ == '8') cursor_ = size_;
    }
    escape_ = 0;
    return false;
}

bool LineEditor::take(char c)
{
    if (escape_) {
        if (!take_escape(c)) redraw();
        return false;
    }
    if (c == '\r' || c == '\n') {
        remember();
        terminal_.write("\n", 1);
        return true;
    }
    if (c == escape) {
        escape_ = 1;
        parameter_ = 0;
        return false;
    }
    if (c == control('C')) {
        set("");
        terminal_.write("^C\n", 3);
        return true;
    }
    if (c == backspace || c == erase_key) {
        if (cursor_) erase(--cursor_);
    } else if (c == control('A')) {
        cursor_ = 0;
    } else if (c == control('E')) {
        cursor_ = size_;
    } else if (c == control('U')) {
        set("");
    } else if (c == control('K')) {
        text_[size_ = cursor_] = 0;
    } else if (c >= ' ' && c < erase_key) {
        insert(c);
    } else {
        return false;
    }
    redraw();
    return false;
}

} // namespace shell
