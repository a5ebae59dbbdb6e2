// SPDX-License-Identifier: BSD-2-Clause
// Virtual memory: pages, memory objects that may shadow others, and the regions of a task.
#pragma once

#include "pool.h"

#include <interfaces/mach.h>
#include <l4/message.h>

namespace mach {

struct Port;

struct Object;

/// Who counts the references of ports, and sends messages to pagers.
class PortUser {
public:
    virtual void release(Port *port) = 0;
    /// An object of a pager's has its last user lost: returns what was modified. False if there was no room for all.
    virtual bool return_object(Object &object) = 0;
};

/// The server's memory, page by page, each in one object. An address of the server's; 0: none.
class Pages {
public:
    static constexpr Word most = 768;

    /// Takes `count` pages from init. False if init has not so many.
    bool begin(Word count);
    Word free() const { return free_count_; }

    Word take(); ///< all zeros
    Word copy_of(Word page);
    /// Unmapped from everybody, and free.
    void drop(Word page);
    static void write_protect(Word page);

private:
    Word free_count_ = 0;
    Word free_[most] = {};
};

/// Pages by their place in it. What it does not have itself is in the object that it shadows; at the end of the chain
/// the pager is asked, or a page is zeros.
struct Object {
    static constexpr Word most_pages = 64;

    Word references = 0; ///< regions, messages, objects that shadow it; 0: not used, or it waits to be returned
    Word count = 0;
    Word pages[most_pages] = {};
    bool modified[most_pages] = {};
    bool asked[most_pages] = {}; ///< the pager has been
    Object *shadow = nullptr;
    Word shadow_offset = 0;
    Port *pager = nullptr;
};

struct Region {
    Word address = 0, count = 0; ///< pages; 0: not used
    Object *object = nullptr;
    Word offset = 0; ///< the page of the object that is its first
    Inheritance inheritance = Inheritance::copy;
    /// It is copied when it is next written to: its object is another's, too.
    bool needs_copy = false;
    bool touched = false; ///< the task has pages of it mapped

    bool has(Word at) const { return count && at >= address && at - address < count * page_size; }
};

/// What a fault leads to.
enum class Found { page, pager, nothing, no_memory };
struct Resolved {
    Found found = Found::nothing;
    Word page = 0;
    bool writable = false;
    Object *object = nullptr; ///< whose pager is to be asked, for its page `place`
    Word place = 0;
};

/// All objects and their pages.
class Store {
public:
    constexpr explicit Store(PortUser &ports) : ports_(ports) {}
    bool begin(Word count) { return pages_.begin(count); }
    Word free_pages() const { return pages_.free(); }
    Word object_count() const { return objects_.used(); }

    Object *make(Word count);
    /// The object of a pager, the same for all who map it; `made`: it is new, and has got the caller's reference of the
    /// port.
    Object *of_pager(Port *pager, bool &made);
    Object *by_number(Word number);
    Word number_of(const Object &object) const { return objects_.number_of(object); }
    void reference(Object &object) { object.references++; }
    void release(Object *object);
    /// Goes on with objects that have lost their last user when there was no room to return their pages.
    void release_again();
    /// An object with copies of `count` pages of the server's memory. nullptr: there is no room.
    Object *copied_from(Word from, Word count);
    /// The pages of a region, for a program: copies them there. False if a pager has some of them, or without memory.
    bool copy_to(Word to, Region &region);

    /// A copy of some pages of a region, for another task or a message: a page is copied when either side writes to it.
    /// Of a pager's object, those that are here are copied at once, and the others asked for when they are needed. No
    /// object without memory.
    Region copy_of(Region &region, Word first, Word count);
    /// Takes the pages that a region has out of all tasks: those that still have them find them again.
    void unmap(const Region &region);
    /// The same memory, for another task.
    Region shared_with(Region &region);
    /// The page of a region for an access there. `object` and `place` are set where the pager has to be asked.
    Resolved resolve(Region &region, Word address, bool write);
    /// A pager's page has come: a copy of `from`, or zeros for 0. False without memory.
    bool provide(Object &object, Word place, Word from);
    /// Takes modified pages out of an object, up to most_returned that are side by side: those from the first one at or
    /// behind `place`, which is set to it. An object with them; nullptr: there is none, or no room (`place` tells).
    Object *take_modified(Object &object, Word &place);
    /// Drops the pages that were not modified.
    void drop_clean(Object &object);

private:
    Object *copied_at_once(const Region &region, Word first, Word count);
    void collapse(Object &object);
    Word take_out(Object &object, Word place);
    void shadow(Region &region);

    PortUser &ports_;
    Pages pages_;
    Pool<Object, 48> objects_;
};

} // namespace mach
