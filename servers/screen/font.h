// SPDX-License-Identifier: BSD-2-Clause
// A font in the format PSF 2, as consoles use it, with glyphs of 8 pixels a line (lab/cobnut/fonts.py makes one).
#pragma once

#include <stddef.h>

namespace screen {

class Font {
public:
    static constexpr unsigned width = 8;

    /// False if the file is something else.
    bool read(const void *file, size_t bytes);
    unsigned height() const { return height_; }
    /// A byte a line, from the top; the highest bit is the leftmost pixel.
    const unsigned char *glyph(unsigned char c) const { return glyphs_ + (c < count_ ? c : unsigned{'?'}) * height_; }

private:
    const unsigned char *glyphs_ = nullptr;
    unsigned count_ = 0, height_ = 0;
};

} // namespace screen
