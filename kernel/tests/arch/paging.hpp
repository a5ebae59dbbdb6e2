// SPDX-License-Identifier: BSD-2-Clause
// Page tables of the unit tests: a map of pages in each space.
#pragma once

#include <map>

#include "core/x2.hpp"

struct Space;
struct Mapping;

struct ArchSpace {
    struct Entry {
        bool present = false, writable = false;
        PAddr frame = 0;
        Word status = 0;
        Mapping* mapping = nullptr;
    };
    std::map<VAddr, Entry> pages;
};

namespace paging {

struct Page {
    bool present;
    bool writable;
    PAddr frame;
};
constexpr Word accessed = 1, dirty = 2;

Page get(const Space& space, VAddr page);
bool next_table(const Space& space, VAddr& from, VAddr last);
bool ensure_table(Space& space, VAddr page);
void set(Space& space, VAddr page, PAddr frame, bool writable);
void allow_write(Space& space, VAddr page);
Word clear(Space& space, VAddr page);
Word take_status(Space& space, VAddr page, bool no_write);
Mapping*& mapping(Space& space, VAddr page);
VAddr user_limit();
bool kernel_frame(PAddr frame);

}  // namespace paging
