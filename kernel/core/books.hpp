// SPDX-License-Identifier: BSD-2-Clause
// Audit of the kernel's books: a walk over everything that it keeps account of, which reports disagreements. For tests;
// users reach it by a debug call (ia32/faults.cpp).
#pragma once

#include "core/x2.hpp"

namespace books {

struct Audit {
    Word faults;  // disagreements, each of which has been printed
    Word pages;  // kernel pages in use, those of the pools left out
    Word objects;  // threads and mappings
    Word unused;  // free kernel pages
};

// Takes time in proportion to all objects, and changes nothing. Not inlined, so that a debugger can stop here: tests
// break something at this point and expect the audit to name it.
[[gnu::noinline]] Audit audit();

}  // namespace books
