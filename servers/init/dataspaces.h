// SPDX-License-Identifier: BSD-2-Clause
// Dataspaces: memory that programs name by handles, attach, pass on and copy (interfaces/init.h). A program is a number
// here; what it may attach where is its Regions.
#pragma once

#include "frames.h"

#include <interfaces/init.h>

namespace init {

/// How much of the machine's memory a program has, and may have, in pages; and how many dataspaces it has made, of
/// which init has places for 128 in all.
struct Quota {
    static constexpr Word most_spaces = 32;
    Word used = 0, limit = 0, spaces = 0;

    bool charge(Word pages)
    {
        if (pages > limit - used) return false;
        used += pages;
        return true;
    }
};

/// A copy that is being made.
struct Copying {
    Word from = 0, to = 0; ///< dataspaces
    Word next = 0; ///< page
};

class Dataspaces {
public:
    static constexpr Word most_pages = 16384;

    void begin(Word pages) { frames_.take_all(pages); }
    Word unreserved() const { return frames_.unreserved(); }

    /// `maker` is charged, by `quota`.
    rpc::Result<Word> create(Word maker, Quota &quota, Word pages);
    /// Begins a copy, which is new, as by create(), and gets its pages by copy_on().
    rpc::Result<Copying> copy(Word maker, Quota &quota, Word handle);
    /// Copies as many pages as init can take the time for; true if it was the last of them.
    bool copy_on(Copying &copying);
    /// Of memory that is there already, page by page from `start`, to be read: a file of the boot image. Nobody is
    /// charged, and it stays for ever.
    rpc::Result<Word> of_file(Word start, Word pages);
    /// Of a device's memory, of the physical addresses from `start`. Nobody is charged; it goes with its maker.
    rpc::Result<Word> of_device(Word maker, Quota &quota, Word start, Word bytes);
    rpc::Error pass(Word handle, Word from, Word to, bool writable);
    /// For what only init does: no holder is asked.
    void let_hold(Word handle, Word program);

    /// Gives back what a dataspace has, to the quota of its maker.
    rpc::Error close(Word handle, Word maker, Quota &quota);
    /// A program has ended: closes what it has made, and what it held neither it holds any longer nor those to which
    /// it has passed it on.
    void leave(Word program, Quota &quota);

    bool readable(Word handle, Word program) const;
    bool writable(Word handle, Word program) const;
    /// A device writes to its pages by their addresses: they stay its own, and nobody copies it from now on.
    void pin(Word handle) { spaces_[handle % most].pinned = true; }
    Word pages(Word handle) const { return spaces_[handle % most].pages; }
    bool exists(Word handle) const { return find(handle); }

    /// The address of a page, made if it is not there yet. `write`: about to be written. `read_only` is set where the
    /// page must not be mapped writable, since it is shared with a copy.
    Word page(Word handle, Word number, bool write, bool &read_only);
    /// Takes the pages of a dataspace out of all programs. Those that still have it attached find them again.
    void unmap(Word handle);

private:
    static constexpr Word most = 128, words_a_page = page_size / sizeof(Word);
    static constexpr Word most_tables = most_pages / words_a_page;
    static constexpr Word copied = 1; ///< of an entry, beside the address: shared with a copy, until it is written to

    struct Dataspace {
        Word handle = 0; ///< 0: none. Its number modulo `most` is its place
        Word pages = 0, charged = 0;
        Word maker = 0;
        Word readers = 0, writers = 0; ///< a bit a program
        unsigned char giver[most_programs] = {}; ///< of each holder: from whom that has it; itself: from init
        Word file = 0; ///< where the file of the boot image or the device's memory is; no tables then
        bool device = false;
        bool pinned = false; ///< a device knows the pages' addresses
        Word *tables[most_tables] = {};
    };

    Dataspace *find(Word handle);
    const Dataspace *find(Word handle) const { return const_cast<Dataspaces *>(this)->find(handle); }
    Word &entry(Dataspace &d, Word number) { return d.tables[number / words_a_page][number % words_a_page]; }
    Dataspace *unused();
    static bool take_from(Dataspace &d, Word program);
    void copy_page(Dataspace &from, Dataspace &to, Word number);
    static bool take_device(Word start, Word bytes);
    void empty(Dataspace &d);

    Frames frames_;
    Dataspace spaces_[most] = {};
    Word made_ = 0; ///< how many there have been, for new handles
};

} // namespace init
