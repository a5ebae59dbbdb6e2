// SPDX-License-Identifier: BSD-2-Clause
// malloc: first fit in one array, of blocks that know their size and whether they are free; neighbours that are free
// become one when somebody looks for room. For one thread of a program.
#include <stdlib.h>
#include <string.h>

namespace {

constexpr size_t heap_size = 256 * 1024, alignment = 8;

struct Block {
    size_t size; ///< of what follows it
    size_t free;
};

alignas(alignment) constinit char heap[heap_size];
constinit bool ready = false;

Block *block_at(size_t at) { return reinterpret_cast<Block *>(heap + at); }
Block *of(void *p) { return static_cast<Block *>(p) - 1; }

void begin()
{
    if (ready) return;
    *block_at(0) = {heap_size - sizeof(Block), 1};
    ready = true;
}

/// Cuts what a block has beyond `size` off, as a free one.
void cut(Block &b, size_t size)
{
    if (b.size < size + sizeof(Block) + alignment) return;
    auto *const rest = reinterpret_cast<Block *>(reinterpret_cast<char *>(&b + 1) + size);
    *rest = {b.size - size - sizeof(Block), 1};
    b.size = size;
}

} // namespace

extern "C" {

void *malloc(size_t size)
{
    begin();
    if (size > heap_size) return nullptr;
    size = (size + alignment - 1) & ~(alignment - 1);
    for (size_t at = 0; at < heap_size; at += sizeof(Block) + block_at(at)->size) {
        Block &b = *block_at(at);
        if (!b.free) continue;
        for (size_t next = at + sizeof b + b.size; next < heap_size && block_at(next)->free;
             next = at + sizeof b + b.size)
            b.size += sizeof b + block_at(next)->size;
        if (b.size < size) continue;
        cut(b, size);
        b.free = 0;
        return &b + 1;
    }
    return nullptr;
}

void free(void *block)
{
    if (block) of(block)->free = 1;
}

void *calloc(size_t count, size_t size)
{
    if (size && count > heap_size / size) return nullptr;
    void *const made = malloc(count * size);
    if (made) memset(made, 0, count * size);
    return made;
}

void *realloc(void *old, size_t size)
{
    if (!old) return malloc(size);
    if (size <= of(old)->size) return old;
    void *const made = malloc(size);
    if (!made) return nullptr;
    memcpy(made, old, of(old)->size);
    free(old);
    return made;
}

} // extern "C"
