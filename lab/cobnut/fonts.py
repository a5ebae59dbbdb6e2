# SPDX-License-Identifier: GPL-2.0-or-later
"""A font for the console on a display (servers/screen/font.h), drawn from the outlines of DejaVu Sans Mono, which
matplotlib brings along.
"""

import struct
from pathlib import Path

MAGIC, VERSION = 0x864AB572, 0
WIDTH, GLYPHS = 8, 256
SHOWN = range(0x20, 0x7F)  # what the console shows
SIZES = range(12, 33)


def write(height: int, file: Path) -> Path:
    """Writes the font of glyphs with `height` lines of 8 pixels to `file`, in the format PSF 2."""
    import matplotlib
    from PIL import ImageFont

    outlines = Path(matplotlib.get_data_path()) / "fonts" / "ttf" / "DejaVuSansMono.ttf"
    # the largest that fits the cell
    sizes = [ImageFont.truetype(outlines, size) for size in range(6, height)]
    font = [one for one in sizes if sum(one.getmetrics()) <= height and round(one.getlength("M")) <= WIDTH][-1]
    glyphs = b"".join(_glyph(font, code, height) for code in range(GLYPHS))
    file.parent.mkdir(parents=True, exist_ok=True)
    file.write_bytes(struct.pack("<8I", MAGIC, VERSION, 32, 0, GLYPHS, height, height, WIDTH) + glyphs)
    return file


def _glyph(font, code: int, height: int) -> bytes:  # type: ignore[no-untyped-def]
    from PIL import Image, ImageDraw

    image = Image.new("1", (WIDTH, height))
    if code in SHOWN:
        ImageDraw.Draw(image).text((0, 0), chr(code), fill=1, font=font)
    return image.tobytes()  # a byte a line, the leftmost pixel in its highest bit
