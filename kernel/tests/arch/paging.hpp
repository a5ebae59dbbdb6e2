// SPDX-License-Identifier: BSD-2-Clause
// Page tables of the unit tests: a map of pages in each space.
#pragma once

#include <map>

#include "core/x2.hpp"

struct Mapping;

struct ArchSpace {
    struct Entry {
        bool present = false, writable = false;
        PAddr frame = 0;
        Word status = 0;
        Mapping* mapping = nullptr;
        Word attribute = 0;
    };
    std::map<VAddr, Entry> pages;
};
