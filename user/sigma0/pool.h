// SPDX-License-Identifier: BSD-2-Clause
// Which space owns which physical memory: sigma0's book-keeping, free of system calls so that the host can test it.
//
// Memory is given out once and never comes back; its owner is the thread that asked. The book is a sorted list of
// owned ranges: few threads ask for much at a time, and neighbours with one owner merge.
#ifndef COBNUT_SIGMA0_POOL_H
#define COBNUT_SIGMA0_POOL_H
#include <stddef.h>
#include <stdint.h>

namespace sigma0 {

using Word = unsigned int;
using Owner = Word; ///< a global thread id

/// Types of the kernel's memory descriptors; the last two keep their subtype in the descriptor only.
enum class Memory : uint8_t {
    undefined = 0,    ///< no descriptor: devices
    conventional = 1,
    reserved = 2,     ///< the kernel's
    dedicated = 3,
    shared = 4,       ///< may be given to all
    boot_loader = 14,
    architecture = 15,
};

/// Inclusive range of bytes.
struct Range {
    Word low, high;
};

class Pool {
public:
    static constexpr size_t max_descriptors = 96;
    static constexpr size_t max_extents = 4096;
    static constexpr Word page_log2 = 12;

    /// Declares the type of a range; overrides what was said before. False if there are too many.
    bool describe(Range range, Memory type);

    /// Nothing at or above this address is given to requests for any memory.
    void limit_any(Word end) { any_end_ = end; }

    /// Gives a range to an owner without asking what it is; for the images that the boot loader placed.
    bool assign(Owner owner, Range range) { return own(owner, range); }

    /// A request for exactly the 2^log2 bytes at base: refused if any of it is the kernel's or another's.
    bool take(Owner owner, Word base, Word log2);

    /// A page fault: as take(), for one page of conventional memory or of what the owner has been assigned.
    bool take_fault(Owner owner, Word base);

    /// A request for any free conventional memory of 2^log2 bytes, aligned to its size. Searched from the top, since
    /// programs that are paged one to one grow from the bottom.
    bool take_any(Owner owner, Word log2, Word &base);

    struct Extent {
        Word low, high;
        Owner owner;
    };
    size_t extents() const { return extent_count_; }
    const Extent &extent(size_t i) const { return extents_[i]; }

    /// Bytes of conventional memory without an owner.
    uint64_t free_bytes() const;

    /// The largest range around `address` that is of one type.
    Range segment(Word address, Memory &type) const;

private:
    struct Descriptor {
        Range range;
        Memory type;
    };

    static bool make_range(Word base, Word log2, Range &range);
    bool takeable(Owner owner, Range range, bool only_conventional) const;
    const Extent *find_overlap(Range range) const;
    bool own(Owner owner, Range range);

    Descriptor descriptors_[max_descriptors] = {};
    size_t descriptor_count_ = 0;
    Extent extents_[max_extents] = {};
    size_t extent_count_ = 0;
    Word any_end_ = 0;
};

} // namespace sigma0
#endif
