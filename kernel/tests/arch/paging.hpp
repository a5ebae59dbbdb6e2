// SPDX-License-Identifier: BSD-2-Clause
// Page tables of the unit tests: a map of pages in each space.
#pragma once

#include <map>

#include "core/x2.hpp"
#include "ia32/port_record.hpp"
#include "slots/state.hpp"

struct Mapping;

namespace paging {
// A second build of the tests has pages of several sizes, small enough that few make a large one.
#ifdef SEVERAL_PAGE_SIZES
constexpr unsigned sizes[] = {15, 13, page_log2};
#else
constexpr unsigned sizes[] = {page_log2};
#endif
constexpr unsigned table_log2 = 22;
}

struct ArchSpace {
    struct Entry {
        bool present = false, writable = false;
        PAddr frame = 0;
        Word status = 0;
        Mapping* mapping = nullptr;
        Word attribute = 0;
        unsigned log2 = page_log2;      // of the page that this is a part of
    };
    std::map<VAddr, Entry> pages;
    ports::Held ports;
    slots::State slots;
};

namespace paging {
constexpr Word row_bytes = 1u << 14;
struct Row {
    std::map<VAddr, ArchSpace::Entry>* pages;
    VAddr page;
    bool may_write;

    ArchSpace::Entry& entry() const { return (*pages)[page]; }
    Mapping* node() const { return entry().present ? entry().mapping : nullptr; }
    bool vacant() const { return !entry().present; }
    void derive(const Row& from, Mapping* m) {
        ArchSpace::Entry its = from.entry();
        entry() = {true, its.writable && may_write, its.frame, 0, m, its.attribute, page_log2};
    }
    void next() { page += page_size; }
};
}
