// SPDX-License-Identifier: BSD-2-Clause
// Moving one message (manual 5.1, 5.2): untyped words, then typed items, to its reader. A string, or a map item of
// many pages, is left to core/string_transfer.hpp.
#pragma once

#include "core/mapping.hpp"
#include "core/thread.hpp"

// Typed items by the low nibble of their first word, without its continuation bit (manual 5.1).
namespace items {
constexpr Word item_type_mask = 0xe, item_map = 0x8, item_grant = 0xa;
constexpr bool maps(Word first) { return (first & item_type_mask) == item_map; }
}  // namespace items

// What a user-level receiver learns beside the message itself.
struct Arrival {
    ThreadId from;
    ThreadId actual_sender;         // when the tag says "propagated"
    ThreadId intended;              // when it says "redirected"
    Word tag;

    // Sets the receiver's result registers. An error code other than 0 goes with what was received so far.
    void report(Thread& r, Word error_code = 0) const;
};

// The typed words of a message.
struct TypedItems {
    const volatile Word* words;
    Word count;
    Word at;                        // items before this word are done
    Word first, second;             // the words of the item at `at`
    volatile Word* out;             // where the receiver sees them; nullptr if it does not
    Fpage window;                   // what the receiver opens to map items
    mappings::Progress progress;    // of the map item at `at`

    enum class Next { done, overflow, string, more };
    // Transfers items up to the end or to the next string, or as much as the budget allows (mappings::between_points).
    Next transfer(Thread& s, Thread& r, Word& budget);
    // Shows the receiver the first word: its C bit says whether another item follows `words` words further on.
    void show_first(Word words) const;
};

// `part`: the two threads are in a transfer now, and continue when it is complete.
enum class Moved { whole, overflow, part };

// Copies the message of `s` to `r`, as coming from `apparent`, and sets the result registers of a user-level receiver.
// When an item does not fit (message overflow), the ones before it have been transferred. Items use up some of the
// budget, or all.
Moved transfer(Thread& s, Thread& r, Thread& apparent, Word& budget);
