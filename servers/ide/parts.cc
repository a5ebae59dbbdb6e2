// SPDX-License-Identifier: BSD-2-Clause
#include "parts.h"

namespace ide {

using cobnut::Text;

bool Parts::add(Text name, Text range, rpc::Word blocks)
{
    if (count_ == most) return false;
    Part part = {{name.data, name.size}, 0, 0};
    const Text first = cobnut::split(range, '+');
    if (!cobnut::parse_number(first, part.first) || part.first >= blocks) return false;
    part.blocks = blocks - part.first;
    if (range.size) {
        rpc::Word wanted = 0;
        if (!cobnut::parse_number(range, wanted) || !wanted || wanted > part.blocks) return false;
        part.blocks = wanted;
    }
    parts_[count_++] = part;
    return true;
}

bool Parts::read(const char *arguments, rpc::Word blocks)
{
    Text rest{arguments, 0};
    while (arguments[rest.size]) rest.size++;
    while (rest.size) {
        Text word = cobnut::split(rest, ' ');
        const Text name = cobnut::split(word, '=');
        if (!name.size || name == "drive") continue;
        if (!add(name, word, blocks)) return false;
    }
    return true;
}

rpc::Word Parts::find(const rpc::Name &name) const
{
    for (rpc::Word i = 0; i < count_; i++)
        if (parts_[i].name == name) return i;
    return none;
}

} // namespace ide
