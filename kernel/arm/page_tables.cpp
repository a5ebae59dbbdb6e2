// SPDX-License-Identifier: BSD-2-Clause
#include "arm/page_tables.hpp"

#include "arm/aliases.hpp"
#include "arm/caches.hpp"
#include "arm/cpu.hpp"
#include "arm/host.hpp"
#include "arm/sharers.hpp"
#include "core/arch.hpp"
#include "core/check.hpp"
#include "core/kip.hpp"
#include "core/memory.hpp"
#include "core/string.hpp"

namespace page_tables {
namespace {

constexpr Word of_large = 16;           // pages of 4 KB

// The note of a page, mapped or not; and of the whole page that it is a part of.
Word word_of(const Space& space, VAddr page) {
    const PageTable* t = table(space, page);
    return t ? t->page[index(page)] : 0;
}

Word parts_at(const Space& space, VAddr page) { return parts(word_of(space, page)); }

// The note of any part of a page that has one.
Word known_of(const Space& space, VAddr page) {
    const Word* at = &table(space, page)->page[index(page)];
    Word known = 0;
    for (Word left = parts(*at); left; --left) known |= *at++;
    return known;
}

// What an entry of more than 4 KB says in the place of these, if they agree; else 0. All of them are parts of one page.
Word common_entry(const Word* page, Word count) {
    constexpr Word of_no_account = page_tables::accessed | page_tables::dirty;
    if (parts(*page) < count || !(*page & granted)) return 0;
    Word first = small_entry(*page), wanted = *page;
    for (Word i = 1; i < count; ++i)
        if ((page[i] ^ (wanted += page_size)) & ~of_no_account) return 0;
    return first;
}

Word section_entry(Word small_entry) {
    Word access = small_entry >> 4 & 3;
    return frame_of(small_entry) | section_access(static_cast<Access>(access)) | (small_entry & (buffered | cached)) |
           first_section;
}

// Writes the entries for what is known of some pages. True if the processor may know pages there in another size.
bool write_entries(PageTable& t, Word first, Word end) {
    bool resized = false;
    Word* entry = t.hardware.entry;
    const Word* page = t.page;
    for (Word group = first & ~(of_large - 1); group < end; group += of_large) {
        Word large = common_entry(&page[group], of_large), from = group, to = group + of_large;
        bool was_large = (entry[group] & page_type) == large_page;
        if (!large && !was_large) {
            if (from < first) from = first;
            if (to > end) to = end;
        }
        if (!large) {
            resized |= was_large;
            for (Word i = from; i < to; ++i) entry[i] = page[i] & granted_read ? small_entry(page[i]) : 0;
        } else if (!was_large) {
            for (Word i = from; i < to; ++i) {
                resized |= bool(entry[i]);
                entry[i] = (large & ~page_type) | large_page;
            }
        } else {
            for (Word i = from; i < to; ++i) entry[i] = (large & ~page_type) | large_page;
        }
        caches::clean_and_invalidate_data(reinterpret_cast<VAddr>(&entry[from]), (to - from) * sizeof(Word));
    }
    return resized;
}

// Whether the entries are those of sixteen large pages that are one piece of memory, and equal otherwise.
bool all_alike(const CoarseTable& t) {
    Word wanted = t.entry[0];
    if ((wanted & page_type) != large_page) return false;
    for (Word i = of_large; i < pages_of_table; i += of_large)
        if (t.entry[i] != (wanted += of_large * page_size)) return false;
    return true;
}

// Likewise a section. True if there is another than before.
bool write_section(Space& space, VAddr page) {
    PageTable& t = *table(space, page);
    Word was = t.section;
    t.section = parts(t.page[0]) == pages_of_table && all_alike(t.hardware) ? section_entry(small_entry(t.page[0])) : 0;
    if (t.section == was) return false;
    host::table_changed(space, page);
    return true;
}

Word status_of(Word page) {
    return (page & page_tables::accessed ? paging::accessed : 0) | (page & page_tables::dirty ? paging::dirty : 0);
}

}  // namespace

// An operation on one line takes the address as it is, or relocates it, too: where that would make a difference, the
// process id is 0 until the kernel is left.
void clean_lines(const Space& space, VAddr at, Word bytes) {
    VAddr modified_at = modified(space, at);
    if (modified_at < relocated_end) cpu::write_process_id(0);
    caches::clean_and_invalidate_data(modified_at, bytes);
}

// Grants no access before the first access has been noted, and no writing before the first write.
Word small_entry(Word page) {
    if (!(page & present) || !(page & granted_read)) return 0;
    bool write = page & writable && page & granted_write;
    Word memory = page & (attribute_uncached | aliased) ? 0 : page & attribute_buffered ? buffered : buffered | cached;
    return frame_of(page) | page_access(write ? access_user_write : access_user_read) | memory | small_page;
}

void change(Space& space, VAddr page, Word count, Word away, Word in) {
    PageTable& t = *table(space, page);
    check(count && index(page) + count <= pages_of_table && !(page & page_mask));
    Word first = index(page), end = first + count;
    bool changed = false, known = false, loses_lines = false;
    Word lost = 0;
    const bool revokes = away & ~in & granted_read;
    // Lines are lost by a page that goes, or that is not to be written by the space, or to be cached otherwise.
    if (revokes) {
        // The usual case: all grants are revoked. Parts of a large page need not have equal ones.
        for (Word i = first; i < end; ++i) {
            const Word before = t.page[i];
            t.page[i] = (before & ~away) | in;
            lost |= before & granted;
            if (before & granted_read) loses_lines |= !(before & (attribute_bits | aliased));
        }
        changed = known = lost;
    } else {
        // Where the one before is like it but for the frame, nothing else comes of this one.
        for (Word i = first, like = 0; i < end; ++i) {
            if (i > first && !((t.page[i] ^ like) & page_mask)) continue;
            like = t.page[i];
            Word before = small_entry(like), after = small_entry((like & ~away) | in);
            if (before == after) continue;
            changed = true;
            if (!before) continue;
            known = true;
            loses_lines |= before & cached && after != (before | page_access(access_user_write));
        }
    }
    if (loses_lines) host::drop_lines(space, page, count * page_size);
    for (Word i = revokes ? end : first; i < end; ++i) {
        Word before = t.page[i], after = (before & ~away) | in;
        t.page[i] = after;
        if (!(after & granted)) lost |= before & granted;
        else if (!(before & granted)) sharers::gained({&t, i});
    }
    if (lost) sharers::lost(t, first, end);
    if (!changed) return;
    bool resized = write_entries(t, first, end);
    resized |= write_section(space, page);
    host::entries_changed(space, page, count);
    // The TLB must not hold translations of two sizes for one page.
    if (known || resized) host::drop_translations(space, page, count == 1 && !resized);
}

bool agrees(const PageTable& t) {
    for (Word i = 0; i < pages_of_table; ++i) {
        const Word entry = t.hardware.entry[i], wanted = small_entry(t.page[i]);
        const Word offset = i % of_large * page_size;
        bool large = entry && (entry & page_type) == large_page;
        if (large ? (entry & ~page_type) + offset != (wanted & ~page_type) : entry != wanted) return false;
        // Sixteen entries, all the same.
        if (large && entry != t.hardware.entry[i & ~(of_large - 1)]) return false;
    }
    return !t.section || (all_alike(t.hardware) && t.section == section_entry(small_entry(t.page[0])));
}

void withdraw_moved(const Space& space, VAddr page) {
    PageTable& t = *table(space, page);
    if (page >= relocated_end || t.granted_at == space.arch.pid) return;
    t.granted_at = space.arch.pid;
    t.section = 0;
    for (Word& page : t.page) page &= ~(granted | aliased);
    fill_zero(&t.hardware, sizeof t.hardware);
    caches::clean_and_invalidate_data(reinterpret_cast<VAddr>(&t.hardware), sizeof t.hardware);
}

PageTable* table(const Space& space, VAddr page) {
    if (page >= USER_LIMIT) return nullptr;
    const TableDirectory* d = space.arch.tables[page >> 30];
    return d ? d->table[page >> 20 & 0x3ff] : nullptr;
}

Touch touch(Space& space, VAddr address, bool write) {
    PageTable* t = table(space, address);
    if (!t) return Touch::denied;
    withdraw_moved(space, address);     // the kernel accesses what may not be in the CPD
    Word page = t->page[index(address)];
    check(!(page & granted_write) || (page & granted_read && page & dirty));
    if (!(page & present) || (write && !(page & writable))) return Touch::denied;
    Word noted = accessed | granted_read | (write ? dirty | granted_write : 0);
    if (!(noted & ~page)) return Touch::nothing_new;
    // 64 KB at once, if the page is that large or larger, and no other grants have to be revoked.
    if (VAddr first = first_part(address, of_large);
        parts(page) >= of_large && aliases::alone(space, first, of_large, write)) {
        change(space, first, of_large, 0, noted);
        return Touch::granted;
    }
    if (noted & ~page & granted && aliases::resolve(space, address & ~page_mask, write)) noted |= aliased;
    change(space, address & ~page_mask, page | noted);
    return Touch::granted;
}

}  // namespace page_tables

namespace paging {

using namespace page_tables;

VAddr user_limit() { return USER_LIMIT; }

Page get(const Space& space, VAddr page) {
    Word p = word_of(space, page);
    return {bool(p & present), bool(p & writable), frame_of(p), p & attribute_bits};
}

VAddr extent(const Space& space) {
    VAddr end = 0;
    for (VAddr page = 0; next_mapped(space, page, user_limit() - 1); page += page_size) end = page + page_size;
    return end;
}

// Skips up to so many megabytes without tables at a time.
VAddr skip_unmapped(const Space& space, VAddr from, VAddr last) {
    constexpr Word at_a_time = 128;
    for (Word mb = from >> 20, end = last >> 20, left = at_a_time; mb <= end;) {
        Word behind = (mb | 0x3ff) + 1;
        if (behind > end) behind = end + 1;
        if (const TableDirectory* d = space.arch.tables[mb >> 10])
            for (PageTable* const* t = &d->table[mb & 0x3ff]; mb < behind; ++mb)
                if (*t++ || !left--) return mb == from >> 20 ? from : mb << 20;
        mb = behind;
    }
    return last + 1;
}

bool next_mapped(const Space& space, VAddr& from, VAddr last) {
    if (last >= USER_LIMIT) last = USER_LIMIT - 1;
    for (Word page = from >> 12, end = last >> 12; page <= end;) {
        Word behind = (page | 0xff) + 1;
        const TableDirectory* d = space.arch.tables[page >> 18];
        if (!d) behind = (page | 0x3ffff) + 1;
        PageTable* t = d ? d->table[page >> 8 & 0x3ff] : nullptr;
        if (!t) {
            // Most directories have few tables: skip the missing ones.
            for (page = behind; d && page <= end && page & 0x3ffff && !d->table[page >> 8 & 0x3ff];) page += 0x100;
            continue;
        }
        if (behind > end) behind = end + 1;
        for (const Word* known = &t->page[page & 0xff]; page < behind; ++page) {
            if (!*known++ || !mapping_of(*t, page & 0xff)) continue;
            from = page << 12;
            return true;
        }
    }
    return false;
}

bool ensure_table(Space& space, VAddr page) {
    TableDirectory*& d = space.arch.tables[page >> 30];
    if (!d && !(d = static_cast<TableDirectory*>(memory::allocate_page(space.account)))) return false;
    PageTable*& t = d->table[page >> 20 & 0x3ff];
    if (t) return true;
    host::table_wanted(space, page);
    t = static_cast<PageTable*>(memory::allocate_page(space.account));
    if (!t) return false;
    caches::clean_and_invalidate_data(reinterpret_cast<VAddr>(&t->hardware), sizeof t->hardware);
    t->granted_at = space.arch.pid;
    space.arch.slots_with_tables[page >> 30] |= 1u << (page >> 25 & 31);
    if (space.idempotent) sharers::begin(page, d);
    host::table_changed(space, page);
    return true;
}

void set(Space& space, VAddr page, PAddr frame, bool may_write, Word attribute, unsigned log2) {
    // Addresses without memory are not cached; others get them from sigma0 with that attribute.
    if (space.idempotent && kip::memory_type(frame) == kip::shared) attribute = attribute_uncached;
    // Nothing is granted before the first access.
    Word word = frame | present | attribute | (may_write ? writable : 0) | (log2 - page_log2) / 4 << size_shift;
    Word* at = &table(space, page)->page[index(page)];
    check(!*at && !((frame | page) & ((1u << log2) - 1)) && !(attribute & ~attribute_bits));
    for (Word left = parts(word); left; --left, word += page_size) *at++ = word;
}

template <bool write> PAddr access(Space& space, VAddr address) {
    // The kernel's own access needs no grant where it would have to revoke another.
    constexpr Word status = page_tables::accessed | (write ? page_tables::dirty : 0),
                   wanted = present | status | (write ? writable : 0);
    Word known = word_of(space, address);
    host::about_to_access(space);
    if (!(wanted & ~known) && aliases::none_cached(frame_of(known))) return frame_of(known);
    if (touch(space, address, write) == Touch::denied) return no_frame;
    return frame_of(word_of(space, address));
}
template PAddr access<false>(Space& space, VAddr address);
template PAddr access<true>(Space& space, VAddr address);

// Pistachio's values (sheet 4.10): write-back, and uncached with and without the write buffer. Write-through is mapped
// to uncached, which programs cannot tell apart; not all cores have it.
Word attribute(Word value) {
    switch (value) {
    case 0:
    case 1: return 0;
    case 2:
    case 5: return attribute_buffered;
    case 3:
    case 4: return attribute_uncached;
    default: return no_attribute;
    }
}

void set_attribute(Space& space, VAddr page, Word attribute) {
    // Grants it anew, whatever has been granted of the frame elsewhere.
    Word count = parts_at(space, page);
    change(space, first_part(page, count), count, attribute_bits | granted | aliased, attribute);
}

// change() has done so for each page.
void flush_caches() {}

void allow_write(Space& space, VAddr page) {
    Word count = parts_at(space, page);
    check(word_of(space, page) & present);
    change(space, first_part(page, count), count, 0, writable);
}

Word clear(Space& space, VAddr page) {
    Word known = known_of(space, page);
    check(known & present && !(page & (parts(known) * page_size - 1)));
    change(space, page, parts(known), ~Word{0}, 0);
    return status_of(known);
}

Word take_status(Space& space, VAddr page, bool no_write) {
    Word known = known_of(space, page);
    check(known & present);
    Word taken = known & (page_tables::accessed | page_tables::dirty | (no_write ? writable : 0));
    if (taken) change(space, page, parts(known), taken | granted | aliased, 0);
    return status_of(taken);
}

// Nothing is granted before the first access.
bool row(Space& space, VAddr page, bool may_write, Row& row) {
    PageTable* t = table(space, page);
    if (!t) return false;
    row = {&t->page[index(page)], &t->mapping[index(page)],
        ~page_mask | present | attribute_bits | (may_write ? writable : 0)};
    return true;
}

Mapping* node(Space& space, VAddr page) { return get(space, page).present ? mapping(space, page) : nullptr; }

Mapping*& mapping(Space& space, VAddr page) {
    check(table(space, page));
    return mapping_of(*table(space, page), index(page));
}

unsigned log2_of(const Space& space, VAddr page) {
    return page_log2 + ((word_of(space, page) & size_bits) >> size_shift) * 4;
}

void split(Space& space, VAddr page, unsigned log2) {
    Word* at = &table(space, page)->page[index(page)];
    check(*at & present && parts(*at) > 1u << (log2 - page_log2));
    // all parts of one page have the same
    const Word change = (*at & size_bits) ^ (log2 - page_log2) / 4 << size_shift;
    Word left = parts(*at);
#pragma GCC unroll 16
    for (; left; --left) *at++ ^= change;
}

bool of_one_kind(PAddr frame, unsigned log2) {
    PAddr last = frame + ((1u << log2) - 1);
    for (Word i = 0; i < kip::descriptor_count(); ++i) {
        kip::MemoryDescriptor d = kip::descriptors()[i];
        bool begins = d.first() > frame && d.first() <= last, ends = d.last() >= frame && d.last() < last;
        if (!d.is_virtual() && (begins || ends)) return false;
    }
    return true;
}

bool kernel_frame(PAddr frame) { return frame - RAM_BASE < IMAGE_BYTES || kip::memory_type(frame) == kip::reserved; }

}  // namespace paging
