// SPDX-License-Identifier: BSD-2-Clause
// ARM's domains: which spaces have one, and which have to give it up when there is none left (docs/tags-arm.md). To
// these rules a tag is a domain's number, 1 to `capacity`; which space holds it is arm/residents.cpp's business. Sets
// of tags are words with bit n for tag n.
#pragma once

#include "core/check.hpp"
#include "core/x2.hpp"

namespace domains {

class Residents {
public:
    // At most 31.
    constexpr explicit Residents(Word capacity)
        : free_((2u << capacity) - 2), batch_(capacity / 4 ? capacity / 4 : 1) {}

    // A space asks for a tag. `loss`: what loss() said when the space lost its last one; 0 if it never had one. Returns
    // whether the space turns out to be a server: one that runs again soon after a switch to others.
    bool comes_back(Word loss);
    // A tag that no stale translation carries, held from now on; 0 if there is none.
    Word take_free(bool by_server = false);
    bool has_free() const { return free_; }
    // Takes tags from holders so that there will be free ones: one at least, and none that is `pinned`, of which there
    // are fewer than tags. `left`: the tag of the holder that ran last, 0 if there is none. Returns the tags taken,
    // which are free after the next purge.
    Word make_room(Word pinned, Word left);
    // What the spaces that have just lost their tags hand to comes_back().
    Word loss() const { return now_ << 2 | left_went_ << 1 | 1; }
    // The holder gives its tag up: free after the next purge.
    void retire(Word tag);
    // No translation in the processor carries a retired tag any more.
    void purged_translations();

    // The holders of these tags have run since the last call.
    void ran(Word tags);
    // Nothing is in the caches any more.
    void cleaned_caches() { dirty_ = 0; }
    // Whether the holder of a tag has run since cleaned_caches(); still valid when it has just lost the tag.
    bool dirty(Word tag) const { return dirty_ >> tag & 1; }

private:
    // An interval ends with each make_room(). Which tags ran is known for this many intervals.
    static constexpr Word intervals = 8;
    // The length of an epoch in intervals.
    static constexpr Word epoch = 32;

    Word longest_unused(Word candidates) const;
    void drop(Word tags);

    Word free_;
    Word held_ = 0;
    Word retired_ = 0;
    Word dirty_ = 0;
    Word batch_;  // how many tags make_room() takes at once from holders that have not run for long
    bool left_went_ = false;  // make_room() last took the tag of the holder that ran last
    bool going_round_ = false;  // more holders than tags take turns: the longest unused is the next to run
    Word absent_ = 0;  // holders that did not run in the last whole turn of the newcomer
    Word servers_ = 0;  // holders that run again soon after a switch to others, as seen in this epoch
    // How many intervals have ended; loss() has it modulo 2^30.
    Word now_ = checks::counter_start & ~(epoch - 1);
    Word ran_[intervals] = {};  // the present interval first
    Word ran_lately_ = 0, ran_before_ = 0;  // in the present epoch, and in the one before
};

}  // namespace domains
