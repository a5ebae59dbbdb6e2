// SPDX-License-Identifier: BSD-2-Clause
// Address spaces: the areas that SpaceControl sets, their threads, and what the port keeps of them (page tables, tags).
#pragma once

#include "arch/paging.hpp"
#include "core/account.hpp"
#include "core/list.hpp"
#include "core/paging.hpp"
#include "core/thread.hpp"
#include "core/x2.hpp"

struct Space {
    ArchSpace arch;  // first: the fast path reads it (ia32/fastpath.S)
    Fpage kip_area;
    Fpage utcb_area;
    ThreadId redirector;  // the thread that gets what its threads send elsewhere (manual 4.3); anythread: none
    bool privileged;  // holds an initial server
    bool idempotent;  // sigma0: owns all physical memory, address = physical address
    bool controlled;  // by its redirector (docs/controlled-spaces.md)
    bool areas_fixed;  // has had an active thread: SpaceControl changes no area any more
    memory::Account account;  // what it holds of kernel memory beside itself
    List<Thread, &Thread::space_link> members;
    Link<Space> all_link;
    Link<Space> dying_link;

    bool redirected() const { return !redirector.is_any(); }
    // Whether a thread has the rights over the space and its threads that in other spaces they have themselves.
    bool controlled_by(const Thread& t) const { return controlled && redirector == t.id; }
    bool initialised() const { return !utcb_area.is_nil(); }
};

namespace spaces {

// An empty space; nullptr when kernel memory is exhausted.
Space* create();
// No thread is left in it: bury() frees everything.
void destroy(Space& space);
// Part of the work of freeing destroyed spaces, about `budget` mappings' worth. True when nothing is left.
bool bury(Word budget);
// Keeps a space's redirector from being bypassed by the fast path; called for all its threads when it changes.
void veto_fast_path(Thread& thread);
// Puts a thread among those of a space, and takes it out.
void join(Space& space, Thread& thread);
void leave(Thread& thread);

// Makes the UTCB at `utcb_address` usable and returns the kernel's view of it; nullptr when memory is exhausted.
Utcb* make_utcb(Space& space, VAddr utcb_address);
// True when `utcb_address - 256` is the place of a UTCB inside the space's UTCB area.
bool valid_utcb(const Space& space, VAddr utcb_address);
// True when one of these addresses is in the interface page or the UTCB area: never mapped over, granted or unmapped.
bool kernel_area(const Space& space, VAddr first, VAddr last);

// The space that is being freed and is no longer in `all`; nullptr: none.
Space* leaving();

extern List<Space, &Space::all_link> all;

}  // namespace spaces
