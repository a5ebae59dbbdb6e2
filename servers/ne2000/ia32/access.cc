// SPDX-License-Identifier: BSD-2-Clause
#include "../card.h"

#include <system/ports.h>

namespace {

unsigned short port_of(rpc::Word base, rpc::Word port) { return static_cast<unsigned short>(base + port); }

} // namespace

void Ne2000::out(Word port, Word value) const { ports::out8(port_of(base_, port), static_cast<unsigned char>(value)); }

rpc::Word Ne2000::in(Word port) const { return ports::in8(port_of(base_, port)); }

void Ne2000::take(Word port, unsigned short *to, Word count) const { ports::in16s(port_of(base_, port), to, count); }

void Ne2000::give(Word port, const unsigned short *from, Word count) const
{
    ports::out16s(port_of(base_, port), from, count);
}
