// SPDX-License-Identifier: BSD-2-Clause
#include <cobnut/elf.h>

#include <cstring>
#include <gtest/gtest.h>
#include <vector>

namespace {

using cobnut::ElfError;
using cobnut::ElfImage;

struct Header {
    uint32_t type = 1, offset = 0x100, address = 0x400000, unused = 0, file_size = 0x40, memory_size = 0x80, flags = 6,
             align = 4096;
};

/// A small executable; tests damage it.
struct File {
    std::vector<uint8_t> bytes = std::vector<uint8_t>(0x200);

    explicit File(std::vector<Header> headers)
    {
        memcpy(bytes.data(),
               "\x7F"
               "ELF\1\1\1",
               7);
        put16(16, 2);
        put16(18, 3);
        put32(24, 0x400010);
        put32(28, 52);
        put16(42, 32);
        put16(44, static_cast<uint16_t>(headers.size()));
        for (size_t i = 0; i < headers.size(); i++) memcpy(bytes.data() + 52 + 32 * i, &headers[i], 32);
    }
    void put16(size_t at, uint16_t value) { memcpy(bytes.data() + at, &value, 2); }
    void put32(size_t at, uint32_t value) { memcpy(bytes.data() + at, &value, 4); }

    ElfError parse(size_t size = ~size_t{0}) const
    {
        // A copy of the exact size, so that the sanitizer sees every byte read past the end.
        const std::vector<uint8_t> cut(bytes.begin(), bytes.begin() + static_cast<long>(std::min(size, bytes.size())));
        ElfImage image;
        return cobnut::parse_elf(cut.data(), cut.size(), 0x200000, 0x80000000, image);
    }
};

TEST(Elf, Good)
{
    const File file({Header{}, Header{.type = 0x6474e551}, Header{.address = 0x500000, .flags = 5}});
    ElfImage image;
    ASSERT_EQ(cobnut::parse_elf(file.bytes.data(), file.bytes.size(), 0x200000, 0x80000000, image), ElfError::none);
    EXPECT_EQ(image.entry, 0x400010u);
    ASSERT_EQ(image.count, 2u);
    EXPECT_TRUE(image.segments[0].writable);
    EXPECT_FALSE(image.segments[1].writable);
    EXPECT_EQ(image.segments[1].address, 0x500000u);
}

TEST(Elf, EveryTruncationIsFound)
{
    const File file({Header{}});
    for (size_t size = 0; size < 0x140; size++) EXPECT_NE(file.parse(size), ElfError::none) << size;
    EXPECT_EQ(file.parse(0x140), ElfError::none);
    EXPECT_EQ(file.parse(0x13F), ElfError::truncated);
}

TEST(Elf, NotElf)
{
    File text({Header{}});
    text.bytes[1] = 'e';
    EXPECT_EQ(text.parse(), ElfError::not_elf);
    File wide({Header{}});
    wide.bytes[4] = 2;
    EXPECT_EQ(wide.parse(), ElfError::not_elf);
    File arm({Header{}});
    arm.put16(18, 40);
    EXPECT_EQ(arm.parse(), ElfError::not_elf);
    File object({Header{}});
    object.put16(16, 1);
    EXPECT_EQ(object.parse(), ElfError::not_elf);
    EXPECT_EQ(cobnut::describe(ElfError::not_elf), std::string("is not a 32-bit IA-32 ELF executable"));
}

TEST(Elf, BadSegments)
{
    EXPECT_EQ(File({Header{.address = 0x1000}}).parse(), ElfError::bad_segment);
    EXPECT_EQ(File({Header{.address = 0x7FFFFFF0}}).parse(), ElfError::bad_segment);
    EXPECT_EQ(File({Header{.memory_size = 0xFFFFFFFF}}).parse(), ElfError::bad_segment);
    EXPECT_EQ(File({Header{.file_size = 0x90}}).parse(), ElfError::bad_segment);
    EXPECT_EQ(File({Header{.offset = 0xFFFFFFF0}}).parse(), ElfError::truncated);
    EXPECT_EQ(File({Header{}, Header{.address = 0x40007F}}).parse(), ElfError::overlapping);
    EXPECT_EQ(File({Header{}, Header{.address = 0x400080}}).parse(), ElfError::none);
    EXPECT_EQ(File(std::vector<Header>(3, Header{.memory_size = 0, .align = 1})).parse(), ElfError::bad_entry);
}

TEST(Elf, EntryOutside)
{
    File file({Header{}});
    file.put32(24, 0x400080);
    EXPECT_EQ(file.parse(), ElfError::bad_entry);
}

} // namespace
