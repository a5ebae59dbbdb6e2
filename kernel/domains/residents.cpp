// SPDX-License-Identifier: BSD-2-Clause
#include "domains/residents.hpp"

#include "core/check.hpp"

namespace domains {
namespace {

Word lowest(Word set) { return set & -set; }

Word count(Word set) {
    set -= set >> 1 & 0x55555555;
    set = (set & 0x33333333) + (set >> 2 & 0x33333333);
    return ((set + (set >> 4)) & 0x0f0f0f0f) * 0x01010101 >> 24;
}

// Moves up to `most` of `from`, the lowest first.
void move(Word& to, Word from, Word& most) {
    for (; from && most; from &= from - 1, --most) to |= lowest(from);
}

}  // namespace

// Learns from a refault. If the victim was the longest unused holder and is back soon, evicting the least recently used
// is the wrong rule: the holders run in turns (going_round_). If the victim was the holder that ran last, it was the
// wrong choice when few others have run since, those that have lost their tags included: then it is a server. Otherwise
// its turn has come round again, and a holder that has not run meanwhile takes no part in the turns (absent_).
bool Residents::comes_back(Word loss) {
    absent_ = 0;
    Word ago = (now_ - (loss >> 2)) & ~Word{0} >> 2;  // a loss keeps it modulo 2^30
    if (!loss || ago >= intervals) return false;
    if (!(loss & 2)) {
        going_round_ = true;
        return false;
    }
    Word ran = 0;
    for (Word i = 0; i <= ago; ++i) ran |= ran_[i];
    if (2 * (count(ran & held_) + ago) >= count(held_)) {
        if (going_round_) absent_ = held_ & ~ran;
        return false;
    }
    going_round_ = false;
    return true;
}

Word Residents::take_free(bool by_server) {
    if (!free_) return 0;
    Word tag = static_cast<Word>(__builtin_ctz(free_)), bit = 1u << tag;
    check(!((held_ | retired_) & bit));
    free_ &= ~bit;
    held_ |= bit;
    dirty_ &= ~bit;
    ran_[0] |= bit;  // its holder is about to run
    if (by_server) servers_ |= bit;
    return tag;
}

// Holders that ran in this interval or the last one are victims only if all did, and then just one of them: they are
// likely to run again before the purge would have paid off.
Word Residents::longest_unused(Word candidates) const {
    constexpr Word recent = 2;
    Word unused[intervals];  // of the candidates: unused in intervals 0 to i
    Word left = candidates, known = 0;
    for (; known < intervals && left; ++known) unused[known] = left &= ~ran_[known];
    Word victims = 0, most = batch_;
    for (Word i = known; i >= recent; --i) move(victims, unused[i - 1] & ~victims, most);
    if (!victims) {
        most = 1;
        move(victims, candidates & ~ran_[0], most);
        move(victims, candidates, most);
    }
    return victims;
}

void Residents::drop(Word tags) {
    check(!(tags & free_));
    held_ &= ~tags;
    retired_ |= tags;
    servers_ &= ~tags;
}

// The holder that ran last mostly waits for the space that is switched to, and keeps its tag. Where holders run in
// turns, its next turn is the furthest away: then it is the victim, unless another holder takes no part in the turns.
Word Residents::make_room(Word pinned, Word left) {
    Word last = left ? 1u << left & held_ & ~pinned : 0, others = held_ & ~pinned & ~last;
    ran_lately_ |= ran_[0];
    Word idle = others & (~(ran_lately_ | ran_before_) | absent_);
    left_went_ = last && (!others || (going_round_ && !idle && !(last & servers_)));
    Word victims = left_went_ ? last : longest_unused(idle ? idle : others);
    for (Word i = intervals - 1; i > 0; --i) ran_[i] = ran_[i - 1];
    ran_[0] = 0;
    if (++now_ % epoch == 0) {
        ran_before_ = ran_lately_;
        ran_lately_ = servers_ = 0;
    }
    check(victims && !(victims & ~held_) && !(victims & pinned));
    drop(victims);
    return victims;
}

void Residents::retire(Word tag) { drop(1u << tag); }

void Residents::purged_translations() {
    check(!(retired_ & held_));
    free_ |= retired_;
    retired_ = 0;
}

void Residents::ran(Word tags) {
    ran_[0] |= tags & held_;
    dirty_ |= tags & held_;
}

}  // namespace domains
