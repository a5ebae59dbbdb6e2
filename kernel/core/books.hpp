// SPDX-License-Identifier: BSD-2-Clause
// The kernel's books: a walk over everything that it keeps account of, which says what does not agree. For tests; users
// reach it by a debug call (ia32/faults.cpp).
#pragma once

#include "core/x2.hpp"

namespace books {

struct Audit {
    Word faults;  // what does not agree; each has been printed
    Word pages;  // kernel pages in use, those of the pools left out
    Word objects;  // threads and mappings
    Word unused;  // kernel pages that neither pages nor pools have taken
};

// Takes as long as there is to look at; changes nothing. A function of its own, where a debugger can stop before it
// looks: what it names is what a test has broken there.
[[gnu::noinline]] Audit audit();

}  // namespace books
