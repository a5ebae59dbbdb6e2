// SPDX-License-Identifier: BSD-2-Clause
// The walk over a string item's substrings (manual 5.4, sheet 5.4). An item stands in registers that users can write to
// at any time: each of its words is read exactly once, and what was read is checked and kept. No hardware, no threads.
#pragma once

#include "core/check.hpp"
#include "core/x2.hpp"

// The registers that hold an item: message registers go upwards in memory, buffer registers downwards.
struct ItemWords {
    const volatile Word* word0;
    int step;  // 1 or -1
    Word count;  // words there are
    volatile Word* copy;  // nullptr, or where each word read is written to as well, at its index

    Word read(Word index) const;
};

class StringCursor {
public:
    // What follows: bytes of a substring, the end, or an item that is cut off or reaches beyond user memory.
    enum class Next { bytes, end, bad };

    static constexpr bool is_string(Word first) { return !(first & 0x8); }
    // The type word of an item that another one follows.
    static constexpr Word more_items = 1;

    // An item whose first word, just before `index`, has been read already.
    void begin(Word first, Word index);
    // Advances to the next byte, if any. A substring has to lie below `limit`.
    Next next(const ItemWords& words, VAddr limit);
    // After next() == bytes: where the bytes are, and how many of this substring are left.
    VAddr at() const { return at_; }
    Word left() const { return left_; }
    // These bytes have been moved.
    void advance(Word bytes) {
        check(bytes <= left_);
        at_ += bytes, left_ -= bytes;
    }
    // The index after the item's last word, and whether another item follows; false if it is cut off.
    bool finish(const ItemWords& words);
    Word index() const { return index_; }
    bool more() const { return more_; }

private:
    void take(Word descriptor);

    VAddr at_;
    Word left_;
    Word descriptor_;  // the length word in force
    std::uint8_t index_;  // of the next word
    std::uint8_t pointers_;  // of this length that are still to come
    bool more_;
};
