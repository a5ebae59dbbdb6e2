// SPDX-License-Identifier: BSD-2-Clause
#include "core/check.hpp"
#include "core/memory.hpp"
#include "core/string.hpp"

namespace memory {

Word pool_bytes;

Pool::Page& Pool::page_of(void* object) {
    auto page = reinterpret_cast<std::uintptr_t>(object) & ~std::uintptr_t{page_mask};
    return *reinterpret_cast<Page*>(page + page_size - sizeof(Page));
}

Pool::Page* Pool::new_page() {
    auto* memory = static_cast<char*>(allocate_pool_page());
    if (!memory) return nullptr;
    Page& page = page_of(memory);
    page = {};
    Free* free = nullptr;
    for (Word block = 0; block < page_size; block += block_) {
        Word end = block + block_ < page_size ? block + block_ : page_size - sizeof(Page);
        for (Word at = block + first_; at + size_ <= end; at += size_) {
            auto* object = reinterpret_cast<Free*>(memory + at);
            object->next = free;
            free = object;
        }
    }
    page.free = free;
    pages_.push_back(page);
    return &page;
}

void* Pool::take() {
    Page* page = pages_.front();
    if (!page && !(page = new_page())) return nullptr;
    Free* object = page->free;
    check(object && &page_of(object) == page);
    page->free = object->next;
    if (!page->used++) kept_ = nullptr;
    if (!page->free) pages_.remove(*page);
    in_use_ += 1;
    pool_bytes += size_;
    return object;
}

void* Pool::allocate() {
    void* object = take();
    if (object) fill_zero(object, size_);
    return object;
}

void Pool::free(void* object) {
    Page& page = page_of(object);
    auto* o = static_cast<Free*>(object);
    check(in_use_ && page.used && o != page.free);
    check(((reinterpret_cast<std::uintptr_t>(object) & page_mask) % block_ - first_) % size_ == 0);
    if (!page.free) pages_.push_front(page);
    o->next = page.free;
    page.free = o;
    in_use_ -= 1;
    pool_bytes -= size_;
    if (--page.used) return;
    if (!kept_) {
        kept_ = &page;
        return;
    }
    pages_.remove(page);
    free_pool_page(reinterpret_cast<char*>(&page + 1) - page_size);
}

void* Pool::allocate(Account& payer) {
    if (!payer.charge(size_)) return nullptr;
    void* object = allocate();
    if (!object) payer.credit(size_);
    return object;
}

void Pool::free(void* object, Account& payer) {
    payer.credit(size_);
    free(object);
}

}  // namespace memory
