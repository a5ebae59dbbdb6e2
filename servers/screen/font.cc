// SPDX-License-Identifier: BSD-2-Clause
#include "font.h"

namespace screen {
namespace {

struct Header {
    unsigned magic, version, size, flags, count, bytes_a_glyph, height, width;
};
constexpr unsigned magic = 0x864AB572, least_glyphs = 128, most_glyphs = 512, most_height = 32;

} // namespace

bool Font::read(const void *file, size_t bytes)
{
    Header header;
    if (bytes < sizeof header) return false;
    __builtin_memcpy(&header, file, sizeof header);
    if (header.magic != magic || header.width != width || header.bytes_a_glyph != header.height) return false;
    if (!header.height || header.height > most_height) return false;
    if (header.count < least_glyphs || header.count > most_glyphs) return false;
    if (header.size > bytes || header.count * header.bytes_a_glyph > bytes - header.size) return false;
    glyphs_ = static_cast<const unsigned char *>(file) + header.size;
    count_ = header.count;
    height_ = header.height;
    return true;
}

} // namespace screen
