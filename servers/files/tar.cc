// SPDX-License-Identifier: BSD-2-Clause
#include "tar.h"

namespace files {
namespace {

using cobnut::Text;

constexpr size_t block = 512;

/// POSIX.1-1988, 10.1.1. Numbers are octal digits, texts end with a NUL or with their field.
struct Header {
    char name[100], mode[8], uid[8], gid[8], size[12], mtime[12], checksum[8], type, link[100];
    char magic[6], version[2], user[32], group[32], major[8], minor[8], prefix[155], unused[12];
};
static_assert(sizeof(Header) == block);

constexpr char regular = '0', old_regular = '\0', folder_type = '5', attributes_of_all = 'g';

template <size_t n> Text text_of(const char (&field)[n])
{
    size_t size = 0;
    while (size < n && field[size]) size++;
    return {field, size};
}

/// False if there is anything but digits with blanks around them, or more than 32 bits.
template <size_t n> bool octal(const char (&field)[n], size_t &value)
{
    Text text = text_of(field);
    while (text.size && *text.data == ' ') text = {text.data + 1, text.size - 1};
    while (text.size && text.data[text.size - 1] == ' ') text.size--;
    value = 0;
    for (size_t i = 0; i < text.size; i++) {
        const unsigned digit = static_cast<unsigned char>(text.data[i]) - unsigned{'0'};
        if (digit > 7 || value >> 29) return false;
        value = value << 3 | digit;
    }
    return text.size;
}

/// The sum of all bytes, with blanks in the checksum's own place.
size_t checksum(const Header &header)
{
    size_t sum = 0;
    const auto *const bytes = reinterpret_cast<const unsigned char *>(&header);
    for (size_t i = 0; i < block; i++) sum += bytes[i];
    for (const char c : header.checksum) sum += ' ' - size_t{static_cast<unsigned char>(c)};
    return sum;
}

bool is_zero(const Header &header)
{
    for (size_t i = 0; i < block; i++)
        if (reinterpret_cast<const char *>(&header)[i]) return false;
    return true;
}

bool read_path(const Header &header, Path &path)
{
    Text name = text_of(header.name);
    const bool ustar = Text{header.magic, 5} == "ustar" && !header.magic[5];
    const Text prefix = ustar ? text_of(header.prefix) : Text{};
    if (name.size >= 2 && name.data[0] == '.' && name.data[1] == '/') name = {name.data + 2, name.size - 2};
    char whole[sizeof header.prefix + 1 + sizeof header.name];
    size_t size = 0;
    for (size_t i = 0; i < prefix.size; i++) whole[size++] = prefix.data[i];
    if (size) whole[size++] = '/';
    for (size_t i = 0; i < name.size; i++) whole[size++] = name.data[i];
    return path.read({whole, size});
}

} // namespace

bool TarReader::fail(const char *fault)
{
    fault_ = fault;
    return false;
}

bool TarReader::next(Member &member)
{
    while (!fault_) {
        at_ = next_;
        if (bytes_ - at_ < block) return fail("the archive is truncated, its end mark is missing");
        const Header &header = *reinterpret_cast<const Header *>(archive_ + at_);
        if (is_zero(header)) return false;
        size_t sum = 0;
        if (!octal(header.checksum, sum) || sum != checksum(header)) return fail("the checksum is wrong");
        if (!octal(header.size, member.bytes)) return fail("the size is no number");
        if (header.type == folder_type) member.bytes = 0;
        const size_t there = bytes_ - at_ - block;
        if (member.bytes > there) return fail("the archive is truncated, the contents end behind it");
        const size_t padded = (member.bytes + block - 1) / block * block;
        next_ = at_ + block + (padded < there ? padded : there);
        if (header.type == attributes_of_all) continue;
        member.folder = header.type == folder_type;
        member.data = archive_ + at_ + block;
        if (!member.folder && header.type != regular && header.type != old_regular)
            return fail("it is neither of a file nor of a folder");
        if (!read_path(header, member.path)) return fail("the name is no path, or too long");
        if (member.path.size) return true; // not the archive's own root
    }
    return false;
}

} // namespace files
