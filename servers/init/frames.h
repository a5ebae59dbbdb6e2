// SPDX-License-Identifier: BSD-2-Clause
// The machine's memory, page by page: init has taken all of it from sigma0, at the addresses that it has.
#pragma once

#include <l4/types.h>
#include <stddef.h>

namespace init {

class Frames {
public:
    using Word = L4_Word_t;

    static constexpr Word most = 65536; ///< 256 MB, in one piece: a page's place is its number modulo that

    /// Takes the memory that sigma0 gives, up to so many pages.
    void take_all(Word pages);

    /// Sets pages aside for a dataspace, so that take() will not fail for it; false if there are not so many.
    bool reserve(Word pages)
    {
        if (pages > unreserved_) return false;
        unreserved_ -= pages;
        return true;
    }
    void give_back(Word pages) { unreserved_ += pages; }
    Word unreserved() const { return unreserved_; }

    /// A reserved page, all zeros; its address.
    Word take();
    /// One more dataspace has the page.
    void share(Word frame) { ++users_[index(frame)]; }
    bool shared(Word frame) const { return users_[index(frame)] > 1; }
    /// A dataspace has it no longer: unmapped from everybody, and free with the last one.
    void drop(Word frame);

private:
    static Word index(Word frame) { return (frame >> 12) % most; }
    void add(Word frame);

    Word free_ = 0; ///< the first free page, which has the address of the next one in its first word; 0: none
    Word unreserved_ = 0;
    unsigned short users_[most] = {};
};

} // namespace init
