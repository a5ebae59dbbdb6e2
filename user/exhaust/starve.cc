// SPDX-License-Identifier: BSD-2-Clause
// Taking the kernel's memory, to the page, and giving it back.
#include "exhaust.h"

namespace exhaust {
namespace {

// Numbers: the eaters' space with its threads, then spaces without areas (two pages each), then more threads.
constexpr Word eaters = numbers_for_others, most_eaters = 8, spaces = eaters + most_eaters, most_spaces = 400;
constexpr Word fillers = spaces + most_spaces, most_fillers = 100;
constexpr Word targets = 0x40000000, most_pages = 1000, most_ports = 1000;

Word eater_count, active_eaters, space_count, filler_count;

/// A thread with a page of UTCBs for itself.
Word eater_utcb(Word i) { return utcb_address + i * page_size; }

void make_eaters()
{
    eater_count = active_eaters = 0;
    while (eater_count < most_eaters) {
        if (create(eaters + eater_count, eaters, false, eater_utcb(eater_count))) fail("an eater", eater_count);
        if (!eater_count && set_areas(eaters)) fail("the eaters' areas");
        eater_count++;
    }
}

void eat_page()
{
    if (active_eaters == eater_count || activate(eaters + active_eaters, eaters)) fail("eating a page", active_eaters);
    active_eaters++;
}

/// A thread takes no page now, only what is left in the kernel's pool.
void fill_threads(Word most)
{
    for (Word i = 0; i < most; i++, filler_count++) {
        if (filler_count == most_fillers) fail("the pool of threads has no end");
        if (const Word error = create(fillers + filler_count, eaters)) {
            if (error != no_memory) fail("a thread", error);
            return;
        }
    }
}

/// Until the kernel has neither pages nor free objects.
void take_all()
{
    for (space_count = 0;; space_count++) {
        if (space_count == most_spaces) fail("the kernel's memory has no end");
        const Word error = create(spaces + space_count, spaces + space_count);
        if (error == no_memory) break;
        if (error) fail("a space", error);
    }
    while (cobnut::audit().unused) eat_page();
    filler_count = 0;
    fill_threads(most_fillers);
    Word error = 0;
    for (Word i = 0; i < most_pages && !error; i++) error = map_page(targets + i * page_size);
    if (error != overflow_sent) fail("the pool of mappings has no end", error);
    error = 0;
    for (Word i = 0; i < most_ports && !error; i++) error = map_port(2 * i);
    if (error != overflow_sent) fail("the pool of ports has no end", error);
    if (error_of_partner() != overflow_received) fail("the partner did not hear of it");
}

} // namespace

void starve(Word pages)
{
    make_eaters();
    take_all();
    // A space that goes gives two pages back, and its thread to the pool.
    for (Word i = 0; i < (pages + 1) / 2; i++) {
        remove(spaces + --space_count);
        fill_threads(1);
    }
    if (pages % 2) eat_page();
    const Word unused = cobnut::audit().unused;
    if (unused != pages) fail("not the pages that were to be left", pages, unused);
}

void feed()
{
    unmap_page();
    unmap_ports();
    while (filler_count) remove(fillers + --filler_count);
    while (space_count) remove(spaces + --space_count);
    while (eater_count) remove(eaters + --eater_count);
}

} // namespace exhaust
