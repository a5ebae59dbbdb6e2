// SPDX-License-Identifier: BSD-2-Clause
#include "pool.h"

namespace sigma0 {
namespace {

bool overlap(Word low1, Word high1, Word low2, Word high2) { return low1 <= high2 && low2 <= high1; }

} // namespace

bool Pool::describe(Range range, Memory type)
{
    if (descriptor_count_ == max_descriptors) return false;
    descriptors_[descriptor_count_++] = {range, type};
    return true;
}

Range Pool::segment(Word address, Memory &type) const
{
    Range result{0, ~Word{0}};
    type = Memory::undefined;
    for (size_t i = 0; i < descriptor_count_; i++) {
        const auto [low, high] = descriptors_[i].range;
        if (address < low) {
            if (result.high > low - 1) result.high = low - 1;
        } else if (address > high) {
            if (result.low < high + 1) result.low = high + 1;
        } else {
            type = descriptors_[i].type;
            if (result.low < low) result.low = low;
            if (result.high > high) result.high = high;
        }
    }
    return result;
}

bool Pool::make_range(Word base, Word log2, Range &range)
{
    if (log2 < page_log2 || log2 > 31) return false;
    const Word size = Word{1} << log2;
    if (base & (size - 1)) return false;
    range = {base, base + (size - 1)};
    return true;
}

const Pool::Extent *Pool::find_overlap(Range range) const
{
    for (size_t i = 0; i < extent_count_; i++)
        if (overlap(extents_[i].low, extents_[i].high, range.low, range.high)) return &extents_[i];
    return nullptr;
}

bool Pool::takeable(Owner owner, Range range, bool only_conventional) const
{
    for (Word at = range.low;;) {
        Memory type;
        const Range part = segment(at, type);
        if (type == Memory::reserved) return false;
        if (only_conventional && type != Memory::conventional) return false;
        if (type != Memory::shared) {
            const Word end = part.high < range.high ? part.high : range.high;
            for (size_t i = 0; i < extent_count_; i++)
                if (extents_[i].owner != owner && overlap(extents_[i].low, extents_[i].high, at, end)) return false;
        }
        if (part.high >= range.high) return true;
        at = part.high + 1;
    }
}

bool Pool::own(Owner owner, Range range)
{
    // Swallow the owner's ranges that touch the new one, then insert it in its place.
    size_t kept = 0;
    for (size_t i = 0; i < extent_count_; i++) {
        const Extent e = extents_[i];
        const bool touches =
            e.owner == owner && (e.low == 0 || e.low - 1 <= range.high) && (range.low == 0 || range.low - 1 <= e.high);
        if (touches) {
            if (e.low < range.low) range.low = e.low;
            if (e.high > range.high) range.high = e.high;
        } else {
            extents_[kept++] = e;
        }
    }
    extent_count_ = kept;
    if (kept == max_extents) return false;
    size_t place = kept;
    for (; place > 0 && extents_[place - 1].low > range.low; place--) extents_[place] = extents_[place - 1];
    extents_[place] = {range.low, range.high, owner};
    extent_count_ = kept + 1;
    return true;
}

bool Pool::take(Owner owner, Word base, Word log2)
{
    Range range;
    if (!make_range(base, log2, range) || !takeable(owner, range, false)) return false;
    Memory type;
    // Shared memory has no owner. Whole-range shared segments only: a mixed range is recorded as a whole.
    if (segment(range.low, type).high >= range.high && type == Memory::shared) return true;
    return own(owner, range);
}

bool Pool::take_fault(Owner owner, Word base)
{
    Range range;
    if (!make_range(base, page_log2, range)) return false;
    const Extent *present = find_overlap(range);
    if (present && present->owner == owner && present->low <= range.low && range.high <= present->high) return true;
    return takeable(owner, range, true) && own(owner, range);
}

bool Pool::take_any(Owner owner, Word log2, Word &base)
{
    if (log2 < page_log2 || log2 > 31) return false;
    const Word size = Word{1} << log2;
    for (Word end = any_end_; end >= size;) {
        const Word candidate = (end - size) & ~(size - 1);
        const Range range{candidate, candidate + (size - 1)};
        // Anything in the way moves the search below itself: no block above it was free.
        if (const Extent *taken = find_overlap(range)) {
            end = taken->low;
            continue;
        }
        bool blocked = false;
        for (Word at = range.low;;) {
            Memory type;
            const Range part = segment(at, type);
            if (type != Memory::conventional) {
                end = part.low;
                blocked = true;
                break;
            }
            if (part.high >= range.high) break;
            at = part.high + 1;
        }
        if (blocked) continue;
        base = candidate;
        return own(owner, range);
    }
    return false;
}

uint64_t Pool::free_bytes() const
{
    uint64_t total = 0;
    for (Word at = 0;;) {
        Memory type;
        const Range part = segment(at, type);
        if (type == Memory::conventional) {
            total += uint64_t{part.high} - part.low + 1;
            for (size_t i = 0; i < extent_count_; i++)
                if (overlap(extents_[i].low, extents_[i].high, part.low, part.high)) {
                    const Word low = extents_[i].low > part.low ? extents_[i].low : part.low;
                    const Word high = extents_[i].high < part.high ? extents_[i].high : part.high;
                    total -= uint64_t{high} - low + 1;
                }
        }
        if (part.high == ~Word{0}) return total;
        at = part.high + 1;
    }
}

} // namespace sigma0
