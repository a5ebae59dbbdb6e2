// SPDX-License-Identifier: BSD-2-Clause
#include "path.h"

namespace files {

using cobnut::Text;

bool Path::read(Text text)
{
    if (text.size && *text.data == '/') text = {text.data + 1, text.size - 1};
    if (text.size && text.data[text.size - 1] == '/') text.size--;
    size = 0;
    if (text.size > most) return false;
    for (size_t i = 0; i < text.size; i++) {
        if (!text.data[i]) return false;
        data[size++] = text.data[i];
    }
    while (text.size) {
        const bool more = text.data[text.size - 1] == '/';
        const Text name = cobnut::split(text, '/');
        if (!name.size || name == "." || name == ".." || (more && !text.size)) return false;
    }
    return true;
}

bool Path::operator==(const Path &other) const
{
    return size == other.size && !__builtin_memcmp(data, other.data, size);
}

Path Path::parent() const
{
    Path folder = *this;
    folder.size -= name().size;
    if (folder.size) folder.size--;
    return folder;
}

Text Path::name() const
{
    size_t start = size;
    while (start && data[start - 1] != '/') start--;
    return {data + start, size - start};
}

} // namespace files
