// SPDX-License-Identifier: BSD-2-Clause
#include "core/string_item.hpp"

#include "core/check.hpp"

namespace {

// A length word: bytes in 31..10, another length word follows the pointers in 9, pointers - 1 in 8..4.
constexpr Word compound = 1u << 9;
constexpr Word length(Word descriptor) { return descriptor >> 10; }
constexpr Word pointers(Word descriptor) { return (descriptor >> 4 & 0x1f) + 1; }

}  // namespace

Word ItemWords::read(Word index) const {
    check(index < count);
    Word w = word0[static_cast<int>(index) * step];
    if (copy) copy[index] = w;
    return w;
}

void StringCursor::take(Word descriptor) {
    descriptor_ = descriptor;
    pointers_ = static_cast<std::uint8_t>(pointers(descriptor));
}

void StringCursor::begin(Word first, Word index) {
    left_ = 0;
    index_ = static_cast<std::uint8_t>(index);
    more_ = first & more_items;
    take(first);
}

StringCursor::Next StringCursor::next(const ItemWords& words, VAddr limit) {
    while (!left_) {
        if (!pointers_ && !(descriptor_ & compound)) return Next::end;
        if (index_ >= words.count) return Next::bad;
        Word w = words.read(index_++);
        if (!pointers_) {
            take(w);
            continue;
        }
        pointers_ -= 1;
        Word bytes = length(descriptor_);
        if (bytes && (bytes > limit || w > limit - bytes)) return Next::bad;
        at_ = w;
        left_ = bytes;
    }
    check(left_ <= limit && at_ <= limit - left_);
    return Next::bytes;
}

bool StringCursor::finish(const ItemWords& words) {
    for (;;) {
        if (Word{index_} + pointers_ > words.count) return false;
        index_ = static_cast<std::uint8_t>(index_ + pointers_);
        pointers_ = 0;
        if (!(descriptor_ & compound)) return true;
        if (index_ == words.count) return false;
        take(words.read(index_++));
    }
}
