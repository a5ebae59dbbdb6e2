// SPDX-License-Identifier: BSD-2-Clause
// ARM has no I/O ports: a bridge to PCI has them in memory, where the program has mapped them.
#include "../card.h"

namespace {

template <typename T> volatile T &at(rpc::Word address) { return *reinterpret_cast<volatile T *>(address); }

} // namespace

void Ne2000::out(Word port, Word value) const { at<unsigned char>(base_ + port) = static_cast<unsigned char>(value); }

rpc::Word Ne2000::in(Word port) const { return at<unsigned char>(base_ + port); }

void Ne2000::take(Word port, unsigned short *to, Word count) const
{
    for (Word i = 0; i < count; i++) to[i] = at<unsigned short>(base_ + port);
}

void Ne2000::give(Word port, const unsigned short *from, Word count) const
{
    for (Word i = 0; i < count; i++) at<unsigned short>(base_ + port) = from[i];
}
