// SPDX-License-Identifier: BSD-2-Clause
#include "tags/residents.hpp"

namespace tags {
namespace {

Word lowest(Word set) { return set & -set; }

// Moves up to `most` of `from`, the lowest first.
void move(Word& to, Word from, Word& most) {
    for (; from && most; from &= from - 1, --most) to |= lowest(from);
}

}  // namespace

Word Residents::take_free() {
    if (!free_) return 0;
    Word tag = 0;
    while (!(free_ >> tag & 1)) ++tag;
    Word bit = 1u << tag;
    free_ &= ~bit;
    held_ |= bit;
    dirty_ &= ~bit;
    ran_[0] |= bit;                 // it is about to
    return tag;
}

// Those that ran in this interval or the last one go only if all did, and then one alone: they are likely to run again
// before the purge would have paid off.
Word Residents::make_room(Word pinned) {
    constexpr Word recent = 2;
    Word candidates = held_ & ~pinned;
    Word unused[intervals];         // of the candidates: unused in intervals 0 to i
    Word left = candidates;
    for (Word i = 0; i < intervals; ++i) unused[i] = left &= ~ran_[i];
    Word victims = 0, most = batch_;
    for (Word i = intervals; i >= recent; --i) move(victims, unused[i - 1] & ~victims, most);
    if (!victims) {
        most = 1;
        move(victims, unused[0], most);
        move(victims, candidates, most);
    }
    held_ &= ~victims;
    retired_ |= victims;
    for (Word i = intervals - 1; i > 0; --i) ran_[i] = ran_[i - 1] & ~victims;
    ran_[0] = 0;
    return victims;
}

void Residents::retire(Word tag) {
    held_ &= ~(1u << tag);
    retired_ |= 1u << tag;
    for (Word& set : ran_) set &= ~(1u << tag);
}

void Residents::purged_translations() {
    free_ |= retired_;
    retired_ = 0;
}

void Residents::ran(Word tags) {
    ran_[0] |= tags & held_;
    dirty_ |= tags & held_;
}

}  // namespace tags
