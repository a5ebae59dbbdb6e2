// SPDX-License-Identifier: BSD-2-Clause
// The Bochs display interface: a mode is some registers behind two ports (VBE_DISPI_* of Bochs' vga.h, which QEMU's
// docs/specs/standard-vga.rst names, too).
#include "../adapter.h"

#include <system/ports.h>

namespace adapter {
namespace {

constexpr unsigned short index_port = 0x1CE, data_port = 0x1CF;
enum Register : unsigned short { id, x_resolution, y_resolution, bits, enable, virtual_width = 6 };
constexpr unsigned short first_id = 0xB0C0, id_mask = 0xFFF0;
constexpr unsigned short disabled = 0, enabled = 1, capabilities = 2, linear_memory = 0x40;
constexpr unsigned bits_a_pixel = 32;

void write(Register which, unsigned value)
{
    ports::out16(index_port, which);
    ports::out16(data_port, static_cast<unsigned short>(value));
}

unsigned read(Register which)
{
    ports::out16(index_port, which);
    return ports::in16(data_port);
}

/// With `capabilities` a register reads as the most that can be set.
unsigned most(Register which)
{
    write(enable, capabilities);
    const unsigned value = read(which);
    write(enable, disabled);
    return value;
}

} // namespace

const unsigned memory_range = 0;

bool begin() { return (read(id) & id_mask) == first_id; }

bool set_mode(unsigned width, unsigned height, size_t memory)
{
    if (!width || width % 8 || !height || width > most(x_resolution) || height > most(y_resolution)) return false;
    if (size_t{width} * height * (bits_a_pixel / 8) > memory) return false;
    write(enable, disabled);
    write(x_resolution, width);
    write(y_resolution, height);
    write(bits, bits_a_pixel);
    write(enable, enabled | linear_memory);
    write(virtual_width, width);
    return read(x_resolution) == width && read(y_resolution) == height;
}

void off() { write(enable, disabled); }

} // namespace adapter
