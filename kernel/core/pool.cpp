// SPDX-License-Identifier: BSD-2-Clause
#include "core/memory.hpp"
#include "core/string.hpp"

namespace memory {

void* Pool::allocate() {
    if (!free_) {
        auto* page = static_cast<char*>(allocate_pool_page());
        if (!page) return nullptr;
        for (Word at = first_; at + size_ <= page_size; at += size_) {
            auto* object = reinterpret_cast<Free*>(page + at);
            object->next = free_;
            free_ = object;
        }
    }
    Free* object = free_;
    free_ = object->next;
    in_use_ += 1;
    fill_zero(object, size_);
    return object;
}

void Pool::free(void* object) {
    auto* o = static_cast<Free*>(object);
    o->next = free_;
    free_ = o;
    in_use_ -= 1;
}

}  // namespace memory
