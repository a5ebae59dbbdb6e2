// SPDX-License-Identifier: BSD-2-Clause
// The kernel with tags (W03): one first level for all spaces, the caching page directory (CPD), which is never changed
// for another. A space that runs is resident: it has a domain, with which its sections stand in the CPD, each since it
// was first touched. At a switch, the processor is told which domain is open and where addresses below 32 MB are;
// nothing is flushed. What makes a flush necessary is here, and in relocation.cpp:
//
// - no domain is left: those of a few spaces are taken away, and the TLB is flushed, which knows their numbers;
// - a section that the running space needs is another's in the CPD: likewise, and it has the lines there, too;
// - a section had another space's lines, which may still be cached: all caches are flushed, for all spaces;
// - a space goes away, or its addresses are moved.
//
// Between two system calls it holds that the TLB has no translation in a section without an entry in the CPD, and that
// the caches have lines in a section of no other space than its `user`.
#include "arm/residents.hpp"

#include "arm/caches.hpp"
#include "arm/cpu.hpp"
#include "arm/host.hpp"
#include "arm/page_tables.hpp"
#include "arm/regions.hpp"
#include "arm/relocation.hpp"
#include "core/check.hpp"
#include "domains/residents.hpp"

namespace host {
namespace {

using namespace page_tables;

constexpr Word domains = 15, areas = (UTCB_AREAS_END - UTCB_AREAS) >> 20;

// The state of a megabyte of the CPD. Sections with a domain are linked.
struct Section {
    std::uint16_t next, previous;
    std::uint16_t user;  // the space that may have lines there, by the number of its UTCB area; 0: none
};
constexpr std::uint16_t none = 0xffff;
// The most sections with one domain: that bounds the cost of a revocation. A further section replaces an earlier one,
// but none of the last three: an instruction may need as many.
constexpr Word most_sections = 64, kept_sections = 3;

constinit domains::Residents residents{domains};
Space* holder[domains + 1];
std::uint16_t first_section_of[domains + 1];  // while there is a holder
std::uint16_t sections_of[domains + 1];
Section section[USER_LIMIT >> 20];
Space* space_of[areas + 1];  // by the number of their UTCB areas, as far as they have been resident
Word flushes = checks::on ? checks::counter_start : 1;  // of all caches
Word dropped;  // bytes in this stay in the kernel

Word domain_of(Word entry) { return entry >> 5 & 0xf; }
Word own_domain_access(Word tag) { return 1u << 2 * tag | 1u << 2 * DOMAIN_KERNEL; }

// Domain access words have two bits for each domain, a set of tags has one.
Word tags_of(Word access) {
    Word x = access & DOMAINS_ALL;
    x = (x | x >> 1) & 0x33333333;
    x = (x | x >> 2) & 0x0f0f0f0f;
    x = (x | x >> 4) & 0x00ff00ff;
    return (x | x >> 8) & 0xffff;
}

// Whether an entry has that domain: each call checks one more entry.
[[maybe_unused]] bool stands(Word tag) {
    static Word asked;
    constexpr Word some = 16;
    if (++asked % some) return false;
    for (Word entry : boot_directory.entry)
        if (domain_of(entry) == tag && entry & 3) return true;
    return false;
}

// Passes on what the switches have noted.
void collect() {
    if (!processor.ran) return;
    residents.ran(tags_of(processor.ran));
    processor.ran = 0;
}

bool may_have_lines(const Space& space) {
    check(bool(space.arch.domain) == bool(space.arch.dacr));
    if (!space.arch.domain) return space.arch.lines_since == flushes;
    collect();
    return residents.dirty(space.arch.domain);
}

void purge_translations() {
    cpu::invalidate_tlb();
    residents.purged_translations();
}

// The TLB has to be purged before the entry is reused.
void take_out(Word s, Word tag) {
    check(tag && tag <= domains && domain_of(boot_directory.entry[s]) == tag);
    write(boot_directory.entry[s], 0);
    sections_of[tag] -= 1;
    Section& here = section[s];
    (here.previous == none ? first_section_of[tag] : section[here.previous].next) = here.next;
    if (here.next != none) section[here.next].previous = here.previous;
}

// Whether the caches may have lines of a section for other spaces than this.
bool stained(const Space& space, Word s) {
    const Space* user = space_of[section[s].user];
    return user && user != &space && may_have_lines(*user);
}

// `user`: a space, by the number of its UTCB area.
void enter_section(Word s, Word tag, Word user, Word entry) {
    check(s < USER_LIMIT >> 20 && tag && tag <= domains && user <= areas);
    check(!boot_directory.entry[s] && entry && !domain_of(entry));
    Section& here = section[s];
    here = {first_section_of[tag], none, static_cast<std::uint16_t>(user)};
    if (here.next != none) section[here.next].previous = static_cast<std::uint16_t>(s);
    first_section_of[tag] = static_cast<std::uint16_t>(s);
    sections_of[tag] += 1;
    write(boot_directory.entry[s], entry | domain(tag));
}

void take_out_one(Word tag) {
    Word s = first_section_of[tag];
    for (Word n = kept_sections; n; --n) s = section[s].next;
    take_out(s, tag);
    purge_translations();
}

void put_in(Space& space, Word s, const PageTable& t) {
    withdraw_moved(space, original(space, s << 20));  // before others share these grants, too
    if (boot_directory.entry[s]) {
        if (regions::join(space, s)) return;
        regions::dissolve_section(s);
    }
    if (Word stands = boot_directory.entry[s]) {
        take_out(s, domain_of(stands));
        purge_translations();
    }
    if (stained(space, s)) flush_caches();
    if (sections_of[space.arch.domain] == most_sections) take_out_one(space.arch.domain);
    enter_section(s, space.arch.domain, space.arch.utcb_area, first_level(t));
}

// Whether the CPD holds a space's own entry.
bool holds(const Space& space, VAddr page) {
    return space.arch.domain && domain_of(boot_directory.entry[modified(space, page) >> 20]) == space.arch.domain;
}

void set_utcb_entry(const Space& space) {
    const ArchSpace& a = space.arch;
    check(a.utcb_area && a.own_utcbs && a.kernel_utcbs);
    Word entry = a.domain ? physical(a.own_utcbs) | domain(a.domain) : physical(a.kernel_utcbs) | domain(DOMAIN_KERNEL);
    write(boot_directory.entry[utcb_section(space)], entry | first_coarse);
}

// Takes a domain from a space or a region; the rules have dropped it already. The TLB has to be purged.
void revoke(Word tag) {
    if (!holder[tag]) return regions::dissolve_domain(tag);
    Space& space = *holder[tag];
    ArchSpace& a = space.arch;
    a.lines_since = may_have_lines(space) ? flushes : 0;
    a.loss = residents.loss();
    a.recent_count = 0;
    constexpr Word most = sizeof a.recent / sizeof *a.recent;
    while (first_section_of[tag] != none) {
        Word s = first_section_of[tag];
        if (a.recent_count < most) a.recent[a.recent_count++] = static_cast<std::uint16_t>(s);
        take_out(s, tag);
    }
    check(a.domain == tag && a.utcb_area && space_of[a.utcb_area] == &space);
    holder[tag] = nullptr;
    a.domain = a.dacr = 0;
    if (a.own_utcbs) set_utcb_entry(space);
}

// Takes domains from their holders, so that some are free.
void make_room(Word pinned, Word left) {
    Word victims = residents.make_room(tags_of(pinned), left);
    for (; victims; victims &= victims - 1) revoke(static_cast<Word>(__builtin_ctz(victims)));
    purge_translations();
}

// Finds a free domain, or takes one from its holder, but not a `pinned` one, and none of a region of the space that is
// being left. `loss`: what the new holder noted when it lost its last one.
Word take_domain(Word pinned, Word left, Word loss) {
    collect();
    bool server = residents.comes_back(loss);
    if (Word tag = residents.take_free(server)) return tag;
    if (left && holder[left]) pinned |= holder[left]->arch.regions;
    make_room(pinned, left);
    return residents.take_free(server);
}

// Drops translations of UTCBs that the kernel has used as its own, or that users have tried to execute. On the SA-1110
// the latter stay (docs/security.md).
void forget_kernels_utcbs(const Space& space) {
    VAddr at = utcb_section(space) << 20;
    for (Word n = space.arch.utcb_pages; n; --n, at += page_size) caches::invalidate_data_translation(at);
}

// `left`: the domain of the space that ran before, 0 if it has none.
void make_resident(Space& space, Word left) {
    ArchSpace& a = space.arch;
    a.domain = take_domain(a.regions, left, a.loss);
    check(a.domain && a.domain <= domains && a.domain != DOMAIN_KERNEL && !holder[a.domain] && !stands(a.domain));
    check(a.utcb_area && a.own_utcbs && !(a.regions & own_domain_access(a.domain) & ~own_domain_access(0)));
    a.dacr = own_domain_access(a.domain) | a.regions;
    holder[a.domain] = &space;
    first_section_of[a.domain] = none;
    space_of[a.utcb_area] = &space;
    set_utcb_entry(space);
    forget_kernels_utcbs(space);
    // The space will need the sections again that it had; where others have been since, it may not.
    for (Word i = 0; i < a.recent_count; ++i) {
        Word s = a.recent[i];
        if (boot_directory.entry[s] || stained(space, s)) continue;
        if (const PageTable* t = table(space, original(space, s << 20))) put_in(space, s, *t);
    }
}

}  // namespace

const bool keeps_caches = true;

void leave_sections(Space& space) {
    regions::leave_all(space);
    if (may_have_lines(space)) flush_caches();
    if (Word tag = space.arch.domain) {
        while (first_section_of[tag] != none) take_out(first_section_of[tag], tag);
        purge_translations();
    }
    space.arch.recent_count = 0;
}

PAddr reserve(PAddr first, PAddr) { return first; }

bool attach(Space&) { return true; }

void detach(Space& space) {
    regions::leave_all(space);
    if (Word tag = space.arch.domain) {
        collect();
        revoke(tag);
        residents.retire(tag);
    }
    if (space.arch.own_utcbs) write(boot_directory.entry[utcb_section(space)], 0);
    purge_translations();
    // Includes lines that the kernel has written to its UTCBs.
    flush_caches();
    space_of[space.arch.utcb_area] = nullptr;
    relocation::release(space);
}

void table_wanted(Space& space, VAddr page) { relocation::consider(space, page); }

void table_changed(Space& space, VAddr page) {
    if (!holds(space, page)) return;
    write(boot_directory.entry[modified(space, page) >> 20],
        first_level(*table(space, page)) | domain(space.arch.domain));
}

void utcbs_made(Space& space) { set_utcb_entry(space); }

bool refill(Space& space, VAddr address) {
    const PageTable* t = table(space, address);
    Word s = modified(space, address) >> 20;
    if (!t || domain_of(boot_directory.entry[s]) == space.arch.domain || regions::shares(space, s)) return false;
    check(space.arch.domain && holder[space.arch.domain] == &space);
    put_in(space, s, *t);
    return true;
}

// Line by line, up to as many as the data cache could hold: beyond that all caches are flushed, and the rest is clean.
void drop_lines(Space& space, VAddr at, Word bytes) {
    constexpr Word by_lines = 2 * page_size;
    // Another space has a page at the same address, and may have written to it: the lines are that one's.
    Word s = modified(space, at) >> 20;
    if (!may_have_lines(space) && !stained(space, s) && !regions::may_have_lines(s)) return;
    if ((dropped += bytes) > by_lines) return flush_caches();
    clean_lines(space, at, bytes);
    caches::invalidate_instructions();
}

void drop_translations(Space& space, VAddr page, bool one) {
    VAddr at = modified(space, page);
    if (!holds(space, page) && !regions::shares(space, at >> 20)) return;
    if (!one) return purge_translations();
    if (at < relocated_end) cpu::write_process_id(0);
    caches::invalidate_translation(at);
}

// Not inlined: a call is shorter than the body.
[[gnu::noinline]] void flush_caches() {
    collect();
    caches::clean_and_invalidate_data();
    caches::invalidate_instructions();
    residents.cleaned_caches();
    flushes += 1;
}

// A space that was granted the frame has revoked it from those that could write (aliases.hpp).
void about_to_access(const Space&) {}

bool share(Space& space, VAddr address) { return regions::share(space, address); }

void entries_changed(Space& space, VAddr page, Word count) { regions::entries_changed(space, page, count); }

Space* holder_of(Word s) { return boot_directory.entry[s] ? holder[domain_of(boot_directory.entry[s])] : nullptr; }

bool domain_is_free(const Space& space, const Space& other) {
    collect();
    residents.comes_back(0);  // nobody does
    if (residents.has_free()) return true;
    make_room(space.arch.dacr | other.arch.dacr, 0);
    return false;
}

Word take_section(Word s, const Space& other, const CoarseTable& table) {
    Word tag = residents.take_free();
    check(tag && !holder[tag] && other.arch.domain && tag != other.arch.domain);
    take_out(s, other.arch.domain);
    holder[tag] = nullptr;
    first_section_of[tag] = none;
    enter_section(s, tag, 0, first_level(table));
    residents.ran(1u << tag);  // as far as the caches are concerned, it has
    return tag;
}

// One flush is enough for several regions that end at a time.
void clear_section(Word s, Word tag) {
    take_out(s, tag);
    if (dirty(tag)) flush_caches();
}

void release_domain(Word tag) {
    residents.retire(tag);
    purge_translations();
}

void purge() { purge_translations(); }

bool dirty(Word tag) {
    collect();
    return residents.dirty(tag);
}

namespace {

// The processor has the space's domain access word while its code runs; the kernel opens all domains.
bool domain_is_right(const Space& space) {
    const ArchSpace& a = space.arch;
    return a.domain ? holder[a.domain] == &space && a.dacr == (own_domain_access(a.domain) | a.regions) : !a.dacr;
}

// For the space's domain, and for domains that are no space's: their entries must be regions'.
bool sections_are_right(const Space& space) {
    const Word tag = space.arch.domain;
    Word count = 0;
    for (Word s = 0; s < USER_LIMIT >> 20; ++s) {
        const Word entry = boot_directory.entry[s];
        if (!entry) continue;
        if (!holder[domain_of(entry)] && entry != regions::entry_of(s, domain_of(entry))) return false;
        if (!tag || domain_of(entry) != tag) continue;
        ++count;
        const VAddr page = original(space, s << 20);
        const PageTable* t = table(space, page);
        if (modified(space, page) >> 20 != s || !t || entry != (first_level(*t) | domain(tag)) || !agrees(*t))
            return false;
    }
    if (!tag) return true;
    Word chained = 0;
    for (Word s = first_section_of[tag]; s != none && chained <= count; s = section[s].next, ++chained)
        if (domain_of(boot_directory.entry[s]) != tag) return false;
    return count == sections_of[tag] && count == chained;
}

bool utcbs_are_right(const Space& space) {
    const ArchSpace& a = space.arch;
    if (!a.own_utcbs) return true;
    const Word wanted =
        a.domain ? physical(a.own_utcbs) | domain(a.domain) : physical(a.kernel_utcbs) | domain(DOMAIN_KERNEL);
    return boot_directory.entry[utcb_section(space)] == (wanted | first_coarse);
}

}  // namespace

const char* disagreement(const Space& space) {
    if (!domain_is_right(space)) return "a space has a wrong domain";
    if (!regions::agree(space)) return "a region grants what a member has not";
    if (!sections_are_right(space) || !utcbs_are_right(space))
        return "the first level is not what its holders' tables say";
    return nullptr;
}

Word control(Space& space, Word word) { return relocation::control(space, word); }

}  // namespace host

extern "C" void enter_host(Space& space, Word left) {
    using namespace host;
    if (!space.arch.dacr) make_resident(space, left);
    check(holder[space.arch.domain] == &space);
    check(space.arch.dacr == (own_domain_access(space.arch.domain) | space.arch.regions));
    processor.ran |= space.arch.dacr;
    dropped = 0;
    cpu::write_process_id(space.arch.pid);
    cpu::write_domain_access(space.arch.dacr);
}
