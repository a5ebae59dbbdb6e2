// SPDX-License-Identifier: BSD-2-Clause
// PCI by configuration mechanism 1 (PCI Local Bus Specification 2.2, 3.2.2.3.2 and 6.1): all buses are looked through
// whenever a device is wanted, which is when a driver starts. The firmware has given addresses and lines.
#include "../device.h"

#include <system/ports.h>

#include <l4/kip.h>

namespace init {
namespace {

constexpr unsigned short address_port = 0xCF8, data_port = 0xCFC;
constexpr Word identity_register = 0x00, command_register = 0x04, header_register = 0x0C, bars_register = 0x10,
               line_register = 0x3C;
constexpr Word io = 1, memory = 2, master = 4, no_interrupt = 0x400, several_functions = 0x80;
constexpr Word most_functions = 256 * 32 * 8; // of all buses
constexpr Word no_line = ~0u, most_lines = 16;
constexpr Word users_end = 0xC0000000, moved_low = 0x80000000;

/// `place` is bus << 8 | device << 3 | function.
Word read(Word place, Word offset)
{
    ports::out32(address_port, 0x80000000 | place << 8 | offset);
    return ports::in32(data_port);
}
void write(Word place, Word offset, Word value)
{
    ports::out32(address_port, 0x80000000 | place << 8 | offset);
    ports::out32(data_port, value);
}

Word header(Word place) { return read(place, header_register) >> 16 & 0xFF; }

/// Whether the machine has memory from `first` on: the descriptors of the kernel interface page say so.
bool memory_from(Word first)
{
    void *const page = L4_GetKernelInterface();
    for (Word i = 0; i < L4_NumMemoryDescriptors(page); i++) {
        L4_MemoryDesc_t *const d = L4_MemoryDesc(page, i);
        const bool conventional = (L4_MemoryDescType(d) & 0xF) == L4_ConventionalMemoryType;
        if (!L4_IsMemoryDescVirtual(d) && conventional && L4_MemoryDescHigh(d) >= first) return true;
    }
    return false;
}

/// Moves a device's memory to below 3 GB. Firmware puts it above, where sigma0, whose addresses are the machine's own,
/// has none. What is behind a bridge stays, and so does all on a machine with memory from 2 GB on.
void move(Word place, Word offset, DeviceRange &range)
{
    static constinit Word next = moved_low;
    if (range.is_ports || !range.size || range.first < users_end || place >> 8 || memory_from(moved_low)) return;
    const Word at = (next + range.size - 1) & -range.size;
    if (at < next || range.size > users_end - at) return;
    write(place, offset, at);
    range.first = at;
    next = at + (range.size < page_size ? page_size : range.size);
}

/// What decodes how many addresses from where: the size is what stays 0 of ones that are written (6.2.5.1).
DeviceRange range_of(Word place, Word offset)
{
    const Word was = read(place, offset);
    write(place, offset, ~0u);
    const Word mask = read(place, offset);
    write(place, offset, was);
    DeviceRange range = {};
    range.is_ports = was & 1;
    const Word low_bits = range.is_ports ? 3 : 15, decoded = mask & ~low_bits;
    if (!decoded) return {};
    range.first = was & ~low_bits;
    range.size = decoded & -decoded;
    return range;
}

FoundDevice describe(Word place)
{
    FoundDevice found;
    found.place = place;
    found.has.identity = read(place, identity_register);
    const Word line = read(place, line_register) & 0xFF;
    found.has.line = line < most_lines ? line : no_line;
    const Word command = read(place, command_register) & 0xFFFF;
    write(place, command_register, command & ~(io | memory)); // it must not decode what its size is asked with
    for (Word i = 0; i < Device::most_ranges; i++) {
        const bool wide = (read(place, bars_register + 4 * i) & 7) == 4;
        found.has.ranges[i] = range_of(place, bars_register + 4 * i);
        move(place, bars_register + 4 * i, found.has.ranges[i]);
        if (wide) i++; // the upper half of its address, which is 0 on a machine of 32 bits
    }
    write(place, command_register, command);
    return found;
}

} // namespace

FoundDevice find_device(Word identity, Word number)
{
    for (Word place = 0; place < most_functions; place++) {
        if (place & 7 && !(header(place & ~7u) & several_functions)) continue;
        if (read(place, identity_register) != identity || (header(place) & 0x7F)) continue;
        if (!number--) return describe(place);
    }
    return {};
}

void switch_device(const FoundDevice &device, DeviceUse use)
{
    const Word all = io | memory | master | no_interrupt;
    const Word decodes = use == DeviceUse::none ? no_interrupt : io | memory;
    const Word wanted = decodes | (use == DeviceUse::masters ? master : 0);
    const Word command = read(device.place, command_register) & 0xFFFF & ~all;
    write(device.place, command_register, command | wanted);
}

} // namespace init
