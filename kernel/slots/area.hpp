// SPDX-License-Identifier: BSD-2-Clause
// Small-space slots: how SpaceControl's control word names them (sheet 7), and which parts of the small-space area are
// taken. Rules only, no hardware: also compiled on the host. All sizes in MB.
#pragma once

#include "core/check.hpp"
#include "core/x2.hpp"

namespace slots {

constexpr Word slot_min_mb = 1, slot_max_mb = 256;      // what the kernel chooses by itself
constexpr Word area_max_mb = 2048;
constexpr Word granule_mb = 4;                          // what one page directory entry maps

// A power of two MB at a multiple of its size; size 0: no slot.
struct SlotName {
    Word offset_mb;
    Word size_mb;

    // The control word's names: 4 MB << k, in the first 512 MB of the area. n = 0 names no slot.
    static constexpr SlotName decode(Word n) {
        n &= 0xff;
        if (!n) return {0, 0};
        Word lowest = n & -n;
        return {(n & ~lowest) * 2, lowest * 4};
    }
    // 0 for a slot that has no such name, too.
    constexpr Word encode() const {
        bool named = size_mb >= granule_mb && size_mb <= 512 && offset_mb + size_mb <= 512;
        return named ? offset_mb / 2 | size_mb / 4 : 0;
    }
    // The directory entries that it touches, as a slot.
    constexpr SlotName granules() const {
        return size_mb && size_mb < granule_mb ? SlotName{offset_mb & -granule_mb, granule_mb} : *this;
    }
    constexpr bool overlaps(SlotName o) const {
        return offset_mb < o.offset_mb + o.size_mb && o.offset_mb < offset_mb + size_mb;
    }
    constexpr bool operator==(const SlotName&) const = default;
};

// A set of megabytes of the area. Slots being powers of two at multiples of their size, one lies within a word or is
// some.
class SlotMap {
public:
    constexpr bool any(SlotName s) const {
        for (Word i = 0; i < words(s); ++i)
            if (taken_[s.offset_mb / 32 + i] & mask(s)) return true;
        return false;
    }
    constexpr void take(SlotName s) {
        for (Word i = 0; i < words(s); ++i) taken_[s.offset_mb / 32 + i] |= mask(s);
    }
    constexpr void release(SlotName s) {
        for (Word i = 0; i < words(s); ++i) taken_[s.offset_mb / 32 + i] &= ~mask(s);
    }

    constexpr void clear(Word mb) { taken_[mb / 32] &= ~(1u << mb % 32); }
    constexpr Word word(Word n) const { return taken_[n]; }
    // How many words a slot spans, and its bits in each.
    static constexpr Word words(SlotName s) { return (s.size_mb + 31) / 32; }
    static constexpr Word mask(SlotName s) {
        return s.size_mb < 32 ? ((1u << s.size_mb) - 1) << s.offset_mb % 32 : ~Word{0};
    }

private:
    Word taken_[area_max_mb / 32] = {};
};

// The small-space area. A slot is either exclusive, one space's in all page directories, or bound, one space's in a
// single directory: each directory has a map of those bound to it, and may use what others use. A directory entry never
// serves both.
class Area {
public:
    constexpr void resize(Word mb) { size_mb_ = mb; }
    constexpr Word size_mb() const { return size_mb_; }

    // Whether any of it belongs to an exclusive slot.
    constexpr bool exclusive(SlotName s) const { return exclusive_.any(s); }
    // The last quarter of the area is for exclusive slots alone: a space that turns out to be a hub finds one.
    static constexpr Word unbound_part = 4;
    constexpr bool bindable(SlotName s) const { return s.offset_mb + s.size_mb <= bindable_end(); }
    // `bound`: the map of the directory it would be bound to; nullptr for an exclusive slot.
    constexpr bool available(SlotName s, const SlotMap* bound) const {
        if (!s.size_mb || s.offset_mb + s.size_mb > end(bound)) return false;
        for (Word i = 0; i < SlotMap::words(s); ++i)
            if (unusable(s.offset_mb / 32 + i, bound) & SlotMap::mask(s)) return false;
        return !bound || !(others_begin(s) >> s.offset_mb % 32 & 1);
    }
    // The first one of that size; size 0 if there is none. All places in a word of the maps are tried at once.
    constexpr SlotName find(Word size_mb, const SlotMap* bound) const {
        const Word places = ~Word{0} / SlotMap::mask({0, size_mb});
        for (SlotName s{0, size_mb}; s.offset_mb < end(bound); s.offset_mb += size_mb < 32 ? 32 : size_mb) {
            Word taken = unusable(s.offset_mb / 32, bound);
            for (Word n = 1; n < size_mb && n < 32; n *= 2) taken |= taken >> n;
            Word there = places & ~(taken | (bound ? others_begin(s) : 0));
            if (!there) continue;
            SlotName first{s.offset_mb + static_cast<Word>(__builtin_ctz(there)), size_mb};
            if (available(first, bound)) return first;
        }
        return {0, 0};
    }
    constexpr void take(SlotName s, SlotMap* bound) {
        check(s.size_mb && s.offset_mb % s.size_mb == 0 && available(s, bound));
        if (!bound) return exclusive_.take(s);
        bound->take(s);
        shared_.take(s);
        for (Word i = s.offset_mb; i < s.offset_mb + s.size_mb; ++i) ++users_[i];
        begins_.take({s.offset_mb, 1});
        begins_with_[size_log2(s)].take({s.offset_mb, 1});
        ++beginning_[s.offset_mb];
    }
    constexpr void release(SlotName s, SlotMap* bound) {
        check((bound ? *bound : exclusive_).any(s));
        check(!bound || (beginning_[s.offset_mb] && begins_with_[size_log2(s)].any({s.offset_mb, 1})));
        if (!bound) return exclusive_.release(s);
        bound->release(s);
        for (Word i = s.offset_mb; i < s.offset_mb + s.size_mb; ++i)
            if (!--users_[i]) shared_.clear(i);
        if (--beginning_[s.offset_mb]) return;
        begins_.release({s.offset_mb, 1});
        begins_with_[size_log2(s)].release({s.offset_mb, 1});
    }

private:
    constexpr Word bindable_end() const { return size_mb_ - size_mb_ / unbound_part; }
    constexpr Word end(const SlotMap* bound) const { return bound ? bindable_end() : size_mb_; }
    // The bits of one word of the maps that a new slot cannot have: a directory entry serves one kind of slots.
    constexpr Word unusable(Word word, const SlotMap* bound) const {
        Word others = (bound ? exclusive_ : shared_).word(word);
        others |= others >> 1;
        others = (others | others >> 2) & 0x11111111;
        return (bound ? *bound : exclusive_).word(word) | others * 15;
    }
    static constexpr Word size_log2(SlotName s) { return static_cast<Word>(__builtin_ctz(s.size_mb)); }
    // The megabytes of a slot's first word at which bound slots of other sizes begin. Slots that begin at one place in
    // several directories are equally long: a switch that finds equal bases does not look at the limit
    // (ia32/fastpath.S).
    constexpr Word others_begin(SlotName s) const {
        Word n = s.offset_mb / 32;
        return begins_.word(n) & ~begins_with_[size_log2(s)].word(n);
    }

    static constexpr Word bound_sizes = 9;      // 1 MB to slot_max_mb
    Word size_mb_ = 0;
    // megabytes that belong to one space in all directories; to some space in some directory
    SlotMap exclusive_, shared_;
    // megabytes at which bound slots begin; and, by the logarithm of their size
    SlotMap begins_, begins_with_[bound_sizes];
    // For each megabyte: how many bound slots hold it, how many begin there.
    std::uint16_t users_[area_max_mb] = {}, beginning_[area_max_mb] = {};
};

static_assert(SlotName::decode(0x1f) == SlotName{60, 4});
static_assert(SlotName::decode(0x0c) == SlotName{16, 16});
static_assert(SlotName::decode(0x80) == SlotName{0, 512});
static_assert(SlotName{16, 16}.encode() == 0x0c && SlotName{0, 256}.encode() == 0x40);
static_assert(!SlotName{0, 0}.granules().overlaps({0, 4}) && SlotName{5, 1}.granules() == SlotName{4, 4});
static_assert(SlotName{600, 4}.encode() == 0 && SlotName{0, 1}.encode() == 0);

}  // namespace slots
