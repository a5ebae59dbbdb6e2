// SPDX-License-Identifier: BSD-2-Clause
// The kernel without tags (COBNUT_TAGS=off): each space has a first level of its own, and caches and TLB are flushed
// when another is loaded, as virtual caches and the TLB tell addresses apart, not spaces.
#include "arm/caches.hpp"
#include "arm/cpu.hpp"
#include "arm/host.hpp"
#include "arm/page_tables.hpp"
#include "core/arch.hpp"
#include "core/check.hpp"
#include "core/space.hpp"
#include "core/string.hpp"

namespace host {
namespace {

using namespace page_tables;

constexpr Word part = 8;                // of the kernel's memory, for first levels
constexpr Word own_domain = 1;

struct FreeDirectory {
    FreeDirectory* next;
};
FreeDirectory* free_directories;
Space* in_force;                        // nullptr: the kernel's own
bool clean;  // in_force has not run since the caches were flushed
Word dropped;  // bytes in this stay in the kernel

void put_in_force(Space* space) {
    check(!space || space->arch.directory);
    in_force = space;
    flush_caches();
    cpu::write_table_base(physical(space ? space->arch.directory : &boot_directory));
    cpu::invalidate_tlb();
}

void release(FirstLevel* directory) {
    auto* d = reinterpret_cast<FreeDirectory*>(directory);
    d->next = free_directories;
    free_directories = d;
}

// All first levels hold the UTCBs of all spaces, for the kernel.
void set_utcb_entries(const Space& space, Word own, Word kernels) {
    Word i = utcb_section(space);
    write(boot_directory.entry[i], kernels);
    for (Space* s = spaces::all.front(); s; s = spaces::all.after(*s))
        write(s->arch.directory->entry[i], s == &space ? own : kernels);
}

}  // namespace

const bool keeps_caches = false;

PAddr reserve(PAddr first, PAddr last) {
    PAddr at = (first + sizeof(FirstLevel) - 1) & ~(sizeof(FirstLevel) - 1);
    PAddr end = first + (last - first) / part;
    for (; at + sizeof(FirstLevel) <= end; at += sizeof(FirstLevel)) release(static_cast<FirstLevel*>(window(at)));
    return at;
}

bool attach(Space& space) {
    FreeDirectory* f = free_directories;
    if (!f) return false;
    free_directories = f->next;
    auto* d = reinterpret_cast<FirstLevel*>(f);
    fill_zero(d, USER_LIMIT >> 18);
    for (Word i = USER_LIMIT >> 20; i < sizeof d->entry / sizeof(Word); ++i) d->entry[i] = boot_directory.entry[i];
    caches::clean_and_invalidate_data(reinterpret_cast<VAddr>(d), sizeof *d);
    space.arch.directory = d;
    return true;
}

void detach(Space& space) {
    // Dirty lines must not be written back to the frames when others have them.
    if (in_force == &space) put_in_force(nullptr);
    else flush_caches();
    if (space.arch.own_utcbs) {
        set_utcb_entries(space, 0, 0);
        cpu::invalidate_tlb();
    }
    release(space.arch.directory);
}

void table_wanted(Space&, VAddr) {}

void table_changed(Space& space, VAddr page) {
    write(space.arch.directory->entry[page >> 20], first_level(*table(space, page)) | domain(own_domain));
}

void utcbs_made(Space& space) {
    set_utcb_entries(space, physical(space.arch.own_utcbs) | domain(own_domain) | first_coarse,
        physical(space.arch.kernel_utcbs) | domain(DOMAIN_KERNEL) | first_coarse);
}

bool refill(Space&, VAddr) { return false; }

bool share(Space&, VAddr) { return false; }

void entries_changed(Space&, VAddr, Word) {}

// As with tags: line by line as long as that is no more than the data cache could hold.
void drop_lines(Space& space, VAddr at, Word bytes) {
    constexpr Word by_lines = 2 * page_size;
    if (in_force != &space || clean) return;
    if ((dropped += bytes) > by_lines) return flush_caches();
    caches::clean_and_invalidate_data(at, bytes);
    caches::invalidate_instructions();
}

void drop_translations(Space& space, VAddr page, bool one) {
    if (in_force != &space) return;
    if (!one) return cpu::invalidate_tlb();
    caches::invalidate_translation(page);
}

void flush_caches() {
    caches::clean_and_invalidate_data();
    caches::invalidate_instructions();
    clean = true;
}

// A frame may have been granted to several writers, as everything is flushed between them. The kernel may run in
// between, too: it copies for a thread before the thread itself runs.
void about_to_access(const Space& space) {
    if (in_force != &space && !clean) flush_caches();
}

namespace {

Word wanted_entry(const Space& space, Word i) {
    if (i >= USER_LIMIT >> 20) {
        bool own = space.arch.own_utcbs && i == utcb_section(space);
        return own ? physical(space.arch.own_utcbs) | domain(own_domain) | first_coarse : boot_directory.entry[i];
    }
    const PageTable* t = table(space, i << 20);
    return t ? first_level(*t) | domain(own_domain) : 0;
}

}  // namespace

const char* disagreement(const Space& space) {
    const Thread* t = arch::current_thread();
    const FirstLevel& d = *space.arch.directory;
    if (t && t->space == &space && (in_force != &space || cpu::read_table_base() != physical(&d)))
        return "another first level is in force than the running space's";
    for (Word i = 0; i < sizeof d.entry / sizeof(Word); ++i) {
        const PageTable* below = table(space, i << 20);
        if (d.entry[i] != wanted_entry(space, i) || (below && !agrees(*below)))
            return "the first level is not what its holders' tables say";
    }
    return nullptr;
}

// No tags: there is nothing to change.
Word control(Space&, Word) { return 0; }

}  // namespace host

extern "C" void enter_host(Space& space, Word) {
    using namespace host;
    if (in_force != &space) put_in_force(&space);
    clean = false;
    dropped = 0;
    check(in_force == &space && !space.arch.domain);
}
