// SPDX-License-Identifier: BSD-2-Clause
#include "arm/page_tables.hpp"

#include "arm/aliases.hpp"
#include "arm/caches.hpp"
#include "arm/cpu.hpp"
#include "arm/host.hpp"
#include "core/arch.hpp"
#include "core/kip.hpp"
#include "core/memory.hpp"

namespace page_tables {
namespace {

PAddr frame_of(Word entry) { return entry & ~page_mask; }
Word index(VAddr page) { return page >> 12 & 0xff; }

// What the processor may know of a page: nothing before it is accessed, no writing before it is written to.
Word hardware_entry(Word page) {
    if (!(page & present) || !(page & granted_read)) return 0;
    bool write = page & writable && page & granted_write;
    Word memory = page & (attribute_uncached | aliased) ? 0 : page & attribute_buffered ? buffered : buffered | cached;
    return frame_of(page) | page_access(write ? access_user_write : access_user_read) | memory | small_page;
}

Word status_of(Word page) {
    return (page & page_tables::accessed ? paging::accessed : 0) | (page & page_tables::dirty ? paging::dirty : 0);
}

}  // namespace

// An operation on one line takes the address that it is given, or relocates it, too: where that would make a difference,
// nothing is relocated until the kernel is left.
void clean_lines(const Space& space, VAddr at, Word bytes) {
    VAddr modified_at = modified(space, at);
    if (modified_at < relocated_end) cpu::write_process_id(0);
    caches::clean_and_invalidate_data(modified_at, bytes);
}

void change(Space& space, VAddr page, Word to) {
    PageTable& t = *table(space, page);
    Word& entry = t.hardware.entry[index(page)];
    Word before = entry, after = hardware_entry(to);
    if (before && before != after) {
        // Lines are lost by a page that goes, or that is not to be written by the space, or to be cached otherwise.
        bool gains_writing = after == (before | page_access(access_user_write));
        if (!gains_writing) host::drop_lines(space, page, page_size);
    }
    t.page[index(page)] = to;
    if (before == after) return;
    write(entry, after);
    host::entry_changed(space, page);
    if (before) host::drop_translation(space, page);
}

PageTable* table(const Space& space, VAddr page) {
    if (page >= USER_LIMIT) return nullptr;
    const TableDirectory* d = space.arch.tables[page >> 30];
    return d ? d->table[page >> 20 & 0x3ff] : nullptr;
}

Touch touch(Space& space, VAddr address, bool write) {
    PageTable* t = table(space, address);
    Word page = t ? t->page[index(address)] : 0;
    if (!(page & present) || (write && !(page & writable))) return Touch::denied;
    Word noted = page | accessed | granted_read | (write ? dirty | granted_write : 0);
    if (noted == page) return Touch::nothing_new;
    if ((noted ^ page) & granted && aliases::settle(space, address & ~page_mask, write)) noted |= aliased;
    change(space, address & ~page_mask, noted);
    return Touch::granted;
}

}  // namespace page_tables

namespace paging {

using namespace page_tables;

VAddr user_limit() { return USER_LIMIT; }

Page get(const Space& space, VAddr page) {
    PageTable* t = table(space, page);
    if (!t) return {};
    Word p = t->page[index(page)];
    return {bool(p & present), bool(p & writable), frame_of(p), p & attribute_bits};
}

VAddr extent(const Space& space) {
    VAddr end = 0;
    for (VAddr page = 0; next_mapped(space, page, user_limit() - 1); page += page_size) end = page + page_size;
    return end;
}

bool next_mapped(const Space& space, VAddr& from, VAddr last) {
    if (last >= USER_LIMIT) last = USER_LIMIT - 1;
    for (Word page = from >> 12, end = last >> 12; page <= end;) {
        Word behind = (page | 0xff) + 1;
        const TableDirectory* d = space.arch.tables[page >> 18];
        if (!d) behind = (page | 0x3ffff) + 1;
        const PageTable* t = d ? d->table[page >> 8 & 0x3ff] : nullptr;
        if (!t) {
            page = behind;
            continue;
        }
        for (; page < behind && page <= end; ++page) {
            if (!t->mapping[page & 0xff]) continue;
            from = page << 12;
            return true;
        }
    }
    return false;
}

bool ensure_table(Space& space, VAddr page) {
    TableDirectory*& d = space.arch.tables[page >> 30];
    if (!d && !(d = static_cast<TableDirectory*>(memory::allocate_page()))) return false;
    PageTable*& t = d->table[page >> 20 & 0x3ff];
    if (t) return true;
    host::table_wanted(space, page);
    t = static_cast<PageTable*>(memory::allocate_page());
    if (!t) return false;
    caches::clean_and_invalidate_data(reinterpret_cast<VAddr>(&t->hardware), sizeof t->hardware);
    host::table_made(space, page);
    return true;
}

void set(Space& space, VAddr page, PAddr frame, bool may_write, Word attribute) {
    // What is no memory is no cache's business; others get it from sigma0 with its attribute.
    if (space.idempotent && kip::memory_type(frame) == kip::shared) attribute = attribute_uncached;
    // Nothing is granted before the first access.
    table(space, page)->page[index(page)] = frame | present | attribute | (may_write ? writable : 0);
}

template <bool write> PAddr access(Space& space, VAddr address) {
    if (touch(space, address, write) == Touch::denied) return no_frame;
    return frame_of(table(space, address)->page[index(address)]);
}
template PAddr access<false>(Space& space, VAddr address);
template PAddr access<true>(Space& space, VAddr address);

// Pistachio's values (sheet 4.10): write-back, and uncached with and without the write buffer. What is written through is
// not cached at all, which nobody can tell apart; not all cores know it.
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
    // Granted anew, beside whatever has been granted of the frame elsewhere.
    change(space, page, (table(space, page)->page[index(page)] & ~(attribute_bits | granted | aliased)) | attribute);
}

// change() has done so for each page.
void flush_caches() {}

void allow_write(Space& space, VAddr page) { table(space, page)->page[index(page)] |= writable; }

Word clear(Space& space, VAddr page) {
    Word last = table(space, page)->page[index(page)];
    change(space, page, 0);
    return status_of(last);
}

Word take_status(Space& space, VAddr page, bool no_write) {
    Word p = table(space, page)->page[index(page)];
    Word taken = p & (page_tables::accessed | page_tables::dirty | (no_write ? writable : 0));
    if (taken) change(space, page, p & ~taken & ~(granted | aliased));
    return status_of(taken);
}

Mapping*& mapping(Space& space, VAddr page) { return table(space, page)->mapping[index(page)]; }

bool kernel_frame(PAddr frame) {
    return frame - RAM_BASE < IMAGE_BYTES || kip::memory_type(frame) == kip::reserved;
}

}  // namespace paging
