// SPDX-License-Identifier: BSD-2-Clause
// Text on a display: a grid of characters, of which those are drawn that have changed. It understands \r \n \b, and of
// the sequences of ECMA-48 those that erase (ESC [ K, ESC [ J) and home the cursor (ESC [ H).
#pragma once

#include "font.h"

namespace screen {

/// Where pixels go.
struct Canvas {
    unsigned *pixels = nullptr; ///< nullptr: there is no display now
    unsigned width = 0, height = 0, line = 0; ///< pixels; words from line to line
};

class Terminal {
public:
    void begin(const Font &font) { font_ = &font; }
    /// Draws all of it on this canvas from now on.
    void show_on(const Canvas &canvas);
    void write(const char *text, unsigned size);
    /// Draws what has changed.
    void refresh();

private:
    static constexpr unsigned most_columns = 128, most_rows = 64;

    void put(char c);
    void take_escape(char c);
    void new_line();
    void erase(unsigned row, unsigned from);
    void draw(unsigned column, unsigned row, char c, bool inverse);

    const Font *font_ = nullptr;
    Canvas canvas_;
    unsigned columns_ = 80, rows_ = 30, column_ = 0, row_ = 0;
    enum class Escape { none, begun, parameters } escape_ = Escape::none;
    char text_[most_rows][most_columns] = {};  ///< 0: a blank
    char drawn_[most_rows][most_columns] = {}; ///< what is seen; `stale` if it has to be drawn
    unsigned cursor_column_ = 0, cursor_row_ = 0; ///< where the cursor is drawn
    static constexpr char stale = 1;
};

} // namespace screen
