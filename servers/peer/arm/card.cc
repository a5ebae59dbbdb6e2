// SPDX-License-Identifier: BSD-2-Clause
// The Versatile's bridge to PCI (Versatile/PB926EJ-S user guide, DUI 0225, 4.13): the description's first registers are
// the configuration of what is on the bus, the second ones the first of the bus' I/O ports.
#include "../card.h"

#include <ne2000/card.h>
#include <system/memory.h>

namespace card {
namespace {

using rpc::Word;

constexpr Word identity = 0x802910EC; // device and vendor
constexpr Word places = 32, place_bytes = 0x800; // on the bus; of configuration
constexpr Word command = 4, first_range = 0x10; // PCI Local Bus Specification 6.1
constexpr Word answers_ports = 1;
constexpr Word port = 0x300; // any: it is alone

constinit Ne2000 ne2000;

volatile Word &configuration(Word place, Word offset, Word base)
{
    return *reinterpret_cast<volatile Word *>(base + place * place_bytes + offset);
}

/// Gives the card its ports; false if there is none.
bool switch_on(Word base)
{
    for (Word place = 0; place < places; place++) {
        if (configuration(place, 0, base) != identity) continue;
        configuration(place, first_range, base) = port;
        configuration(place, command, base) = answers_ports;
        return true;
    }
    return false;
}

} // namespace

bool begin(NicMemory &memory, Word handle)
{
    const auto bus = cobnut::map_range(0), ports = cobnut::map_range(1);
    if (!bus || !ports || !switch_on(bus.value.address)) return false;
    init::Device device = {};
    device.ranges[0] = {ports.value.address + port, 0x20, 1};
    return ne2000.begin(device, memory, handle);
}

void address(unsigned char *bytes) { ne2000.address(bytes); }
void collect(FrameSink &received) { ne2000.collect(received); }

bool load(FrameSource &sent)
{
    ne2000.acknowledge(); // that it has sent the last one
    return ne2000.load(sent);
}

void transmit() { ne2000.transmit(); }

} // namespace card
