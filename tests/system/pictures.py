# SPDX-License-Identifier: GPL-2.0-or-later
"""What programs that draw should have drawn, as monitor.Machine.picture() has it: three bytes a pixel."""

SQUARE = 8


def pattern(width: int, height: int) -> bytearray:
    """As servers/paint and linux/guests/painter.c draw it."""
    return bytearray(b"".join(bytes((x & 255, y & 255, x >> 8)) for y in range(height) for x in range(width)))


def put(pixels: bytearray, width: int, left: int, top: int, colour: bytes) -> None:
    """As they draw where the mouse is while a button is held down."""
    for y in range(top, top + SQUARE):
        start = 3 * (y * width + left)
        pixels[start : start + 3 * SQUARE] = colour * SQUARE
