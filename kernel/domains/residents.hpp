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

    // Somebody wants a tag again who has lost one, if `loss` is not 0: what loss() said then. Returns whether he turns
    // out to be a server.
    bool comes_back(Word loss);
    // A tag that nothing stale carries any more, held from now on; 0 if there is none.
    Word take_free(bool by_server = false);
    // Takes tags away so that there will be free ones: one at least, and none that is `pinned`, of which there are
    // fewer than tags. `left`: the tag of the holder that ran last, 0 if there is none. Returns whose they were; they
    // are free after the next purge.
    Word make_room(Word pinned, Word left);
    // What the holders that it took them from have to remember.
    Word loss() const { return now_ << 2 | left_went_ << 1 | 1; }
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
    // So many intervals are an epoch.
    static constexpr Word epoch = 32;

    Word longest_unused(Word candidates) const;
    void drop(Word tags);

    Word free_;
    Word held_ = 0;
    Word retired_ = 0;
    Word dirty_ = 0;
    Word batch_;                    // how many go at once, if they have not run for long
    bool left_went_ = false;        // at the end of the last interval, the holder that ran last has lost its tag
    bool going_round_ = false;      // more holders than tags take turns: the longest unused is the next to run
    Word absent_ = 0;               // those that have not run while who comes now was away for a whole turn
    Word servers_ = 0;              // those that run again soon after others were switched to, as seen in this epoch
    // How many intervals have ended; a loss has it modulo 2^30.
    Word now_ = checks::counter_start & ~(epoch - 1);
    Word ran_[intervals] = {};      // the present interval first
    Word ran_lately_ = 0, ran_before_ = 0;      // in the present epoch, and in the one before
};

}  // namespace domains
