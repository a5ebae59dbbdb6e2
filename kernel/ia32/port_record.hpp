// SPDX-License-Identifier: BSD-2-Clause
// What ports.hpp keeps in each space: its records.
#pragma once

#include "core/list.hpp"
#include "core/x2.hpp"

struct Space;

namespace ports {

struct Record {
    Link<Record> own;               // among its holder's
    Link<Record> sibling;           // among those that are derived from the same one
    List<Record, &Record::sibling> derived;
    Space* holder;
    Record* source;                 // nullptr: the holder has them from the beginning
    std::uint16_t first, last;
    // nonzero: being cut. The two records behind it among its siblings, which end and begin here, replace it
    std::uint16_t cut;
    std::uint16_t depth;

    static constexpr Word max_depth = 255;
};

struct Held {
    List<Record, &Record::own> records;
    Word count;

    static constexpr Word most = 256;
};

}  // namespace ports
