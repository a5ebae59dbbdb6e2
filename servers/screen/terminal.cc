// SPDX-License-Identifier: BSD-2-Clause
#include "terminal.h"

extern "C" {
void *memmove(void *, const void *, size_t);
void *memset(void *, int, size_t);
}

namespace screen {
namespace {

constexpr unsigned ink = 0xD0D0D0, paper = 0x101820;
constexpr char escape = 27;

unsigned least(unsigned a, unsigned b) { return a < b ? a : b; }

} // namespace

void Terminal::show_on(const Canvas &canvas)
{
    canvas_ = canvas;
    if (!canvas.pixels) return;
    columns_ = least(canvas.width / Font::width, most_columns);
    rows_ = least(canvas.height / font_->height(), most_rows);
    column_ = least(column_, columns_ - 1);
    row_ = least(row_, rows_ - 1);
    for (unsigned y = 0; y < canvas.height; y++)
        for (unsigned x = 0; x < canvas.width; x++) canvas.pixels[y * canvas.line + x] = paper;
    memset(drawn_, stale, sizeof drawn_);
    refresh();
}

void Terminal::erase(unsigned row, unsigned from) { memset(text_[row] + from, 0, most_columns - from); }

void Terminal::new_line()
{
    column_ = 0;
    if (++row_ < rows_) return;
    row_ = rows_ - 1;
    memmove(text_[0], text_[1], sizeof text_[0] * row_);
    erase(row_, 0);
}

void Terminal::take_escape(char c)
{
    if (escape_ == Escape::begun) {
        escape_ = c == '[' ? Escape::parameters : Escape::none;
        return;
    }
    if ((c >= '0' && c <= '9') || c == ';') return;
    escape_ = Escape::none;
    if (c == 'K') erase(row_, column_);
    if (c == 'H') row_ = column_ = 0;
    if (c == 'J')
        for (unsigned row = 0; row < rows_; row++) erase(row, 0);
}

void Terminal::put(char c)
{
    if (escape_ != Escape::none) return take_escape(c);
    switch (c) {
    case '\r': column_ = 0; return;
    case '\n': return new_line();
    case '\b': column_ -= column_ != 0; return;
    case escape: escape_ = Escape::begun; return;
    default: break;
    }
    if (static_cast<unsigned char>(c) < ' ') return;
    if (column_ == columns_) new_line();
    text_[row_][column_++] = c;
}

void Terminal::write(const char *text, unsigned size)
{
    for (unsigned i = 0; i < size; i++) put(text[i]);
    refresh();
}

void Terminal::draw(unsigned column, unsigned row, char c, bool inverse)
{
    const unsigned char *glyph = font_->glyph(static_cast<unsigned char>(c ? c : ' '));
    unsigned *to = canvas_.pixels + row * font_->height() * canvas_.line + column * Font::width;
    for (unsigned y = 0; y < font_->height(); y++, to += canvas_.line)
        for (unsigned x = 0; x < Font::width; x++) to[x] = bool(glyph[y] & 0x80 >> x) != inverse ? ink : paper;
}

void Terminal::refresh()
{
    if (!canvas_.pixels) return;
    drawn_[cursor_row_][cursor_column_] = stale;
    for (unsigned row = 0; row < rows_; row++)
        for (unsigned column = 0; column < columns_; column++) {
            if (drawn_[row][column] == text_[row][column]) continue;
            drawn_[row][column] = text_[row][column];
            draw(column, row, text_[row][column], false);
        }
    cursor_row_ = row_;
    cursor_column_ = least(column_, columns_ - 1);
    draw(cursor_column_, cursor_row_, text_[cursor_row_][cursor_column_], true);
}

} // namespace screen
