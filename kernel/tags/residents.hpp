// SPDX-License-Identifier: BSD-2-Clause
// A small number of equal tags, and who has to give one up when there is none left (docs/tags-arm.md). Holders are the
// port's; here they are numbers 1 to `capacity`. Sets of tags are words with bit n for tag n.
#pragma once

#include "core/x2.hpp"

namespace tags {

class Residents {
public:
    // At most 31.
    constexpr explicit Residents(Word capacity) : batch_(capacity / 4 ? capacity / 4 : 1), free_((2u << capacity) - 2) {}

    // A tag that nothing stale carries any more, held from now on; 0 if there is none.
    Word take_free();
    // Takes tags away so that there will be free ones, the longest unused first: one at least, and none that is `pinned`,
    // of which there are fewer than tags. Returns whose they were; they are free after the next purge.
    Word make_room(Word pinned);
    // The holder gives its tag up: free after the next purge.
    void retire(Word tag);
    // No translation in the processor carries a tag of those that were given up.
    void purged_translations();

    // The holders of these have run since this was last said.
    void ran(Word tags);
    // Nothing is in the caches any more.
    void cleaned_caches() { dirty_ = 0; }
    // Whether the holder of a tag has run since then; still true when it has just lost it.
    bool dirty(Word tag) const { return dirty_ >> tag & 1; }

private:
    // An interval ends when somebody has to go. For how many of them it is known who ran.
    static constexpr Word intervals = 8;

    Word batch_;                    // how many go at once, if they have not run for long
    Word free_;
    Word held_ = 0;
    Word retired_ = 0;
    Word dirty_ = 0;
    Word ran_[intervals] = {};      // the present interval first
};

}  // namespace tags
