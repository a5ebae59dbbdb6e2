// SPDX-License-Identifier: BSD-2-Clause
#include "memory.h"

#include <l4/space.h>
#include <system/system.h>

extern "C" void *memcpy(void *, const void *, size_t);
extern "C" void *memset(void *, int, size_t);

namespace mach {
namespace {

constexpr Word page_log2 = 12;

void *at(Word page) { return reinterpret_cast<void *>(page); }

} // namespace

// ------------------------------------------------------------------------------------------------------------- pages

bool Pages::begin(Word count)
{
    const auto made = cobnut::ask_init<init::Create>(count);
    if (!made || count > most) return false;
    const auto where = cobnut::ask_init<init::Attach>(made.value, Word{0}, Word{1});
    if (!where) return false;
    // each is here before a task needs it; from the last one on, so that they are taken in order
    for (Word i = count; i--;) {
        const Word page = free_[free_count_++] = where.value + i * page_size;
        *static_cast<volatile char *>(at(page)) = 0;
    }
    return true;
}

Word Pages::take()
{
    if (!free_count_) return 0;
    const Word page = free_[--free_count_];
    memset(at(page), 0, page_size);
    return page;
}

Word Pages::copy_of(Word page)
{
    if (!free_count_) return 0;
    const Word made = free_[--free_count_];
    memcpy(at(made), at(page), page_size);
    return made;
}

void Pages::drop(Word page)
{
    L4_UnmapFpage(L4_FpageLog2(page, page_log2) + L4_FullyAccessible);
    free_[free_count_++] = page;
}

void Pages::write_protect(Word page) { L4_UnmapFpage(L4_FpageLog2(page, page_log2) + L4_Writable); }

// ----------------------------------------------------------------------------------------------------------- objects

Object *Store::make(Word count)
{
    if (!count || count > Object::most_pages) return nullptr;
    Object *const object = objects_.take();
    if (!object) return nullptr;
    object->references = 1;
    object->count = count;
    return object;
}

Object *Store::of_pager(Port *pager, bool &made)
{
    Object *found = nullptr;
    objects_.each([&](Object &one) {
        if (one.pager == pager) found = &one;
    });
    made = !found;
    if (found) reference(*found);
    else if ((found = make(Object::most_pages))) found->pager = pager;
    return found;
}

Object *Store::by_number(Word number) { return objects_.by_number(number); }

void Store::release(Object *object)
{
    while (object && !--object->references) {
        if (object->pager && !ports_.return_object(*object)) return; // it stays until it can be
        for (Word i = 0; i < object->count; i++)
            if (object->pages[i]) pages_.drop(object->pages[i]);
        Object *const below = object->shadow;
        if (object->pager) ports_.release(object->pager);
        objects_.give_back(*object);
        object = below;
    }
    if (object) collapse(*object);
}

void Store::release_again()
{
    objects_.each([&](Object &object) {
        if (object.references) return;
        object.references = 1;
        release(&object);
    });
}

Object *Store::copied_from(Word from, Word count)
{
    Object *const made = make(count);
    for (Word i = 0; made && i < count; i++) {
        if (provide(*made, i, from + i * page_size)) continue;
        release(made);
        return nullptr;
    }
    return made;
}

bool Store::copy_to(Word to, Region &region)
{
    for (Word i = 0; i < region.count; i++) {
        const Resolved found = resolve(region, region.address + i * page_size, false);
        if (found.found != Found::page) return false;
        memcpy(at(to + i * page_size), at(found.page), page_size);
    }
    return true;
}

/// An object that only one other shadows gives that its pages, and is gone: chains of copies do not grow.
void Store::collapse(Object &object)
{
    objects_.each([&](Object &above) {
        if (above.shadow != &object || object.references != 1 || object.pager) return;
        for (Word i = 0; i < object.count; i++) {
            const Word place = i - above.shadow_offset;
            const bool wanted = i >= above.shadow_offset && place < above.count && !above.pages[place];
            if (!object.pages[i]) continue;
            if (wanted) above.pages[place] = object.pages[i];
            else pages_.drop(object.pages[i]);
        }
        above.shadow = object.shadow;
        above.shadow_offset += object.shadow_offset;
        objects_.give_back(object);
    });
}

Object *Store::copied_at_once(const Region &region, Word first, Word count)
{
    Object *const made = make(count);
    if (!made) return nullptr;
    Object &from = *region.object;
    made->shadow = &from;
    made->shadow_offset = region.offset + first;
    reference(from);
    for (Word i = 0; i < count; i++) {
        const Word page = from.pages[made->shadow_offset + i];
        if (page && !(made->pages[i] = pages_.copy_of(page))) {
            release(made);
            return nullptr;
        }
    }
    return made;
}

Region Store::copy_of(Region &region, Word first, Word count)
{
    Region copy = region;
    copy.count = count;
    copy.inheritance = Inheritance::copy;
    copy.touched = false;
    const bool of_others = region.object->pager || region.inheritance == Inheritance::share;
    if (of_others && !region.needs_copy) {
        copy.object = copied_at_once(region, first, count);
        copy.offset = 0;
        return copy;
    }
    // what lies in objects below is mapped writable by nobody, nor is any page of a region that needs a copy
    for (Word i = 0; i < region.count && !region.needs_copy; i++)
        if (const Word page = region.object->pages[region.offset + i]) Pages::write_protect(page);
    region.needs_copy = copy.needs_copy = true;
    copy.offset += first;
    reference(*region.object);
    return copy;
}

void Store::unmap(const Region &region)
{
    if (!region.touched) return;
    for (Word i = 0; i < region.count; i++) {
        Word place = region.offset + i;
        const Object *object = region.object;
        for (; object && !object->pages[place]; object = object->shadow) place += object->shadow_offset;
        if (object) L4_UnmapFpage(L4_FpageLog2(object->pages[place], page_log2) + L4_FullyAccessible);
    }
}

Region Store::shared_with(Region &region)
{
    if (region.needs_copy) shadow(region);
    if (region.needs_copy) return {};
    reference(*region.object);
    Region shared = region;
    shared.touched = false;
    return shared;
}

/// The region has an object of its own from now on, before what it had.
void Store::shadow(Region &region)
{
    if (region.object->references == 1 && !region.object->pager) { // the other copies are gone
        region.needs_copy = false;
        return;
    }
    Object *const own = make(region.count);
    if (!own) return;
    own->shadow = region.object;
    own->shadow_offset = region.offset;
    region.object = own;
    region.offset = 0;
    region.needs_copy = false;
}

Resolved Store::resolve(Region &region, Word address, bool write)
{
    if (write && region.needs_copy) shadow(region);
    if (write && region.needs_copy) return {Found::no_memory};
    const Word first = region.offset + (address - region.address) / page_size;
    Object *object = region.object;
    Word place = first;
    while (!object->pages[place] && object->shadow) {
        place += object->shadow_offset;
        object = object->shadow;
    }
    Word page = object->pages[place];
    if (!page && object->pager) return {Found::pager, 0, false, object, place};
    Object &top = *region.object;
    if (!page) page = top.pages[first] = pages_.take();
    else if (write && object != &top) page = top.pages[first] = pages_.copy_of(page);
    if (!page) return {Found::no_memory};
    region.touched = true;
    const bool own = top.pages[first] == page && !region.needs_copy;
    if (write) top.modified[first] = true;
    return {Found::page, page, own && (write || !top.pager), nullptr, 0};
}

bool Store::provide(Object &object, Word place, Word from)
{
    if (object.pages[place]) return true;
    object.pages[place] = from ? pages_.copy_of(from) : pages_.take();
    object.asked[place] = false;
    return object.pages[place];
}

/// It is the caller's then.
Word Store::take_out(Object &object, Word place)
{
    const Word page = object.pages[place];
    if (page) L4_UnmapFpage(L4_FpageLog2(page, page_log2) + L4_FullyAccessible);
    object.pages[place] = 0;
    object.modified[place] = false;
    return page;
}

Object *Store::take_modified(Object &object, Word &place)
{
    while (place < object.count && !object.modified[place]) place++;
    Word count = 0;
    while (count < most_returned && place + count < object.count && object.modified[place + count]) count++;
    Object *const taken = make(count);
    for (Word i = 0; taken && i < count; i++) taken->pages[i] = take_out(object, place + i);
    return taken;
}

void Store::drop_clean(Object &object)
{
    for (Word place = 0; place < object.count; place++)
        if (object.pages[place] && !object.modified[place]) pages_.drop(take_out(object, place));
}

} // namespace mach
