// SPDX-License-Identifier: BSD-2-Clause
#include "dataspaces.h"

#include <l4/misc.h>
#include <l4/sigma0.h>
#include <l4/space.h>

extern "C" void *memcpy(void *, const void *, size_t);

namespace init {
namespace {

using rpc::Error;

constexpr Word page_mask = page_size - 1, page_log2 = 12;
constexpr Word pages_at_a_time = 128; // while others wait
constexpr Word users_end = 0xC0000000; // of the addresses that programs have, init among them

Word bit(Word program) { return 1u << program; }

} // namespace

Dataspaces::Dataspace *Dataspaces::find(Word handle)
{
    Dataspace &d = spaces_[handle % most];
    return handle && d.handle == handle ? &d : nullptr;
}

Dataspaces::Dataspace *Dataspaces::unused()
{
    for (Word i = 0; i < most; i++) {
        Dataspace &d = spaces_[(made_ + 1 + i) % most];
        if (d.handle) continue;
        made_ += i + 1;
        d = Dataspace{};
        d.handle = made_;
        return &d;
    }
    return nullptr;
}

rpc::Result<Word> Dataspaces::create(Word maker, Quota &quota, Word pages)
{
    if (!pages || pages > most_pages) return Error::bad_value;
    if (quota.spaces == Quota::most_spaces) return Error::full;
    const Word tables = (pages + words_a_page - 1) / words_a_page, all = pages + tables;
    if (!quota.charge(all)) return Error::no_memory;
    if (!frames_.reserve(all)) {
        quota.used -= all;
        return Error::no_memory;
    }
    Dataspace *const d = unused();
    if (!d) {
        quota.used -= all;
        frames_.give_back(all);
        return Error::full;
    }
    quota.spaces++;
    d->pages = pages;
    d->charged = all;
    d->maker = maker;
    d->readers = d->writers = bit(maker);
    for (Word i = 0; i < tables; i++) d->tables[i] = reinterpret_cast<Word *>(frames_.take());
    return d->handle;
}

rpc::Result<Copying> Dataspaces::copy(Word maker, Quota &quota, Word handle)
{
    Dataspace *const from = find(handle);
    if (!from || !readable(handle, maker)) return Error::not_found;
    if (from->device || from->pinned) return Error::denied;
    const rpc::Result<Word> made = create(maker, quota, from->pages);
    if (!made) return made.error;
    return Copying{handle, made.value, 0};
}

void Dataspaces::copy_page(Dataspace &from, Dataspace &to, Word number)
{
    Word &target = entry(to, number);
    if (target) return; // its holder was there before
    if (from.file) {
        target = frames_.take();
        memcpy(reinterpret_cast<void *>(target), reinterpret_cast<void *>(from.file + number * page_size), page_size);
        return;
    }
    Word &source = entry(from, number);
    if (!source) return;
    const Word frame = source & ~page_mask;
    frames_.share(frame);
    target = source = frame | copied;
    L4_UnmapFpage(L4_FpageLog2(frame, page_log2) + L4_Writable);
}

bool Dataspaces::copy_on(Copying &c)
{
    Dataspace &from = *find(c.from), &to = *find(c.to);
    for (Word n = 0; n < pages_at_a_time && c.next < to.pages; n++) copy_page(from, to, c.next++);
    return c.next == to.pages;
}

rpc::Result<Word> Dataspaces::of_file(Word start, Word pages)
{
    Dataspace *const d = unused();
    if (!d) return Error::full;
    d->pages = pages;
    d->maker = ~0u;
    d->file = start;
    return d->handle;
}

/// Takes a device's memory from sigma0, to be used without a cache.
bool Dataspaces::take_device(Word start, Word bytes)
{
    constexpr Word piece_log2 = 22;
    const Word all_log2 = static_cast<Word>(__builtin_ctz(bytes)); // a device decodes a power of two
    const Word log2 = all_log2 < piece_log2 ? all_log2 : piece_log2;
    for (Word done = 0; done < bytes; done += 1u << log2) {
        const L4_Fpage_t piece = L4_FpageLog2(start + done, static_cast<int>(log2));
        if (L4_IsNilFpage(L4_Sigma0_GetPage(L4_nilthread, piece))) return false;
        if (!L4_Set_PageAttribute(piece, L4_UncacheableMemory)) return false;
    }
    return true;
}

rpc::Result<Word> Dataspaces::of_device(Word maker, Quota &quota, Word start, Word bytes)
{
    if (quota.spaces == Quota::most_spaces) return Error::full;
    const Word whole = bytes < page_size ? page_size : bytes;
    if (whole > most_pages * page_size || start & page_mask) return Error::bad_value;
    if (start >= users_end || !take_device(start, whole)) return Error::bad_value;
    Dataspace *const d = unused();
    if (!d) return Error::full;
    quota.spaces++;
    d->pages = whole / page_size;
    d->maker = maker;
    d->readers = d->writers = bit(maker);
    d->file = start;
    d->device = true;
    return d->handle;
}

rpc::Error Dataspaces::pass(Word handle, Word from, Word to, bool writable)
{
    Dataspace *const d = find(handle);
    if (!d || !readable(handle, from)) return Error::not_found;
    if (writable && !this->writable(handle, from)) return Error::denied;
    // whoever it has more from is its giver
    if (!(d->readers & bit(to)) || (writable && !(d->writers & bit(to))))
        d->giver[to] = static_cast<unsigned char>(from);
    d->readers |= bit(to);
    if (writable) d->writers |= bit(to);
    return Error::none;
}

void Dataspaces::empty(Dataspace &d)
{
    if (d.device) {
        for (Word i = 0; i < d.pages; i++)
            L4_UnmapFpage(L4_FpageLog2(d.file + i * page_size, page_log2) + L4_FullyAccessible);
        d = Dataspace{};
        return;
    }
    for (Word i = 0; i < d.pages; i++)
        if (const Word frame = entry(d, i) & ~page_mask) frames_.drop(frame);
    for (Word *table : d.tables)
        if (table) frames_.drop(reinterpret_cast<Word>(table));
    frames_.give_back(d.charged);
    d = Dataspace{};
}

rpc::Error Dataspaces::close(Word handle, Word maker, Quota &quota)
{
    Dataspace *const d = find(handle);
    if (!d || !readable(handle, maker)) return Error::not_found;
    if (d->maker != maker) return Error::denied;
    quota.used -= d->charged;
    quota.spaces--;
    empty(*d);
    return Error::none;
}

void Dataspaces::let_hold(Word handle, Word program)
{
    Dataspace &d = spaces_[handle % most];
    d.readers |= bit(program);
    d.giver[program] = static_cast<unsigned char>(program);
}

/// Takes a dataspace from a holder, and from those that have it from that one; whether there are any of these.
bool Dataspaces::take_from(Dataspace &d, Word program)
{
    Word lost = bit(program);
    for (Word before = 0; before != lost;) {
        before = lost;
        for (Word i = 0; i < most_programs; i++)
            if (d.readers & bit(i) && i != d.maker && lost & bit(d.giver[i])) lost |= bit(i);
    }
    d.readers &= ~lost;
    d.writers &= ~lost;
    return lost != bit(program);
}

void Dataspaces::leave(Word program, Quota &quota)
{
    for (Dataspace &d : spaces_) {
        if (!d.handle || !(d.readers & bit(program))) continue;
        if (d.maker != program) {
            if (take_from(d, program)) unmap(d.handle);
            continue;
        }
        quota.used -= d.charged;
        quota.spaces--;
        empty(d);
    }
}

bool Dataspaces::readable(Word handle, Word program) const
{
    const Dataspace *const d = find(handle);
    return d && d->readers & bit(program);
}

bool Dataspaces::writable(Word handle, Word program) const
{
    const Dataspace *const d = find(handle);
    return d && d->writers & bit(program);
}

Word Dataspaces::page(Word handle, Word number, bool write, bool &read_only)
{
    Dataspace &d = *find(handle);
    read_only = d.file && !d.device;
    if (d.file) return d.file + number * page_size;
    Word &e = entry(d, number);
    if (!e) e = frames_.take();
    if (e & copied) {
        const Word old = e & ~page_mask;
        if (!frames_.shared(old)) {
            e = old;
        } else if (write) {
            const Word frame = frames_.take();
            memcpy(reinterpret_cast<void *>(frame), reinterpret_cast<void *>(old), page_size);
            frames_.drop(old);
            e = frame;
        }
    }
    read_only = e & copied;
    return e & ~page_mask;
}

void Dataspaces::unmap(Word handle)
{
    Dataspace &d = *find(handle);
    for (Word i = 0; i < d.pages; i++)
        if (const Word frame = d.file ? d.file + i * page_size : entry(d, i) & ~page_mask)
            L4_UnmapFpage(L4_FpageLog2(frame, page_log2) + L4_FullyAccessible);
}

} // namespace init
