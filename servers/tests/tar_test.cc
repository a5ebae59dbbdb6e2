// SPDX-License-Identifier: BSD-2-Clause
#include <files/tree.h>

#include <gtest/gtest.h>
#include <random>
#include <string>
#include <vector>

namespace {

using files::Member, files::Path, files::Tree;

constexpr size_t block = 512;

void put(std::string &archive, size_t at, const std::string &text) { archive.replace(at, text.size(), text); }

void seal(std::string &archive, size_t at)
{
    put(archive, at + 148, "        ");
    unsigned sum = 0;
    for (size_t i = 0; i < block; i++) sum += static_cast<unsigned char>(archive[at + i]);
    char digits[8];
    snprintf(digits, sizeof digits, "%06o", sum);
    put(archive, at + 148, digits);
    archive[at + 154] = 0;
}

/// A header and contents, as POSIX.1-1988 has them.
std::string member(const std::string &name, char type, const std::string &contents, const std::string &prefix = "")
{
    std::string all(block, 0);
    char size[12];
    snprintf(size, sizeof size, "%011zo", contents.size());
    put(all, 0, name);
    put(all, 124, size);
    all[156] = type;
    put(all, 257,
        std::string("ustar\0"
                    "00",
                    8));
    put(all, 345, prefix);
    seal(all, 0);
    all += contents;
    all.resize((all.size() + block - 1) / block * block);
    return all;
}

std::string file(const std::string &name, const std::string &contents) { return member(name, '0', contents); }
std::string folder(const std::string &name) { return member(name, '5', ""); }
const std::string end(2 * block, 0);

struct Opened {
    explicit Opened(std::string text) : archive(std::move(text)), members(Tree::count(archive.data(), archive.size()))
    {
        const char *const fault = tree.read(archive.data(), archive.size(), members.data(), at);
        wrong = fault ? fault : "";
    }
    const Member *find(const std::string &name) const
    {
        Path path;
        return path.read({name.data(), name.size()}) ? tree.find(path) : nullptr;
    }
    std::string contents(const std::string &name) const
    {
        const Member *const m = find(name);
        return m ? std::string(m->data, m->bytes) : "none";
    }
    std::string list(const std::string &name) const
    {
        std::string names;
        size_t from = 0;
        for (const Member *m; (m = tree.child(find(name)->path, from)); from++)
            names += std::string(m->path.name().data, m->path.name().size) + " ";
        return names;
    }

    std::string archive;
    std::vector<Member> members;
    Tree tree;
    size_t at = 0;
    std::string wrong;
};

TEST(Tar, FilesAndFolders)
{
    const Opened one(file("a", "first") + folder("sub/") + file("sub/b", std::string(513, 'x')) + file("./c", "") +
                     folder("sub/deep") + file("sub/deep/d", "last") + end);
    EXPECT_EQ(one.wrong, "");
    EXPECT_EQ(one.contents("a"), "first");
    EXPECT_EQ(one.contents("/sub/b"), std::string(513, 'x'));
    EXPECT_EQ(one.contents("c"), "");
    EXPECT_EQ(one.contents("sub/deep/d"), "last");
    EXPECT_EQ(one.find("su"), nullptr);
    EXPECT_TRUE(one.find("sub/")->folder && one.find("")->folder);
    EXPECT_EQ(one.list(""), "a sub c ");
    EXPECT_EQ(one.list("sub"), "b deep ");
    EXPECT_EQ(one.list("sub/deep"), "d ");
}

TEST(Tar, OtherSpellings)
{
    const Opened one(folder("./") + folder("far") + member("name", '0', "by prefix", "far") +
                     member("", 'g', "attributes that count for all") + member("old", '\0', "seventh edition") + end);
    EXPECT_EQ(one.wrong, "");
    EXPECT_EQ(one.contents("far/name"), "by prefix");
    EXPECT_EQ(one.contents("old"), "seventh edition");
}

TEST(Tar, WhatIsWrongIsSaidWithItsPlace)
{
    const std::string good = file("a", "one");
    std::string sum = good, size = good, huge = good;
    sum[0] = 'b';
    put(size, 124, "0000000000x");
    seal(size, 0);
    put(huge, 124, "40000000000"); // 2^32
    seal(huge, 0);
    const std::pair<std::string, const char *> cases[] = {
        {good, "the archive is truncated, its end mark is missing"},
        {good + end.substr(0, 511), "the archive is truncated, its end mark is missing"},
        {good + file("b", "two").substr(0, block + 2), "the archive is truncated, the contents end behind it"},
        {good + sum + end, "the checksum is wrong"},
        {good + std::string(block, 'x') + end, "the checksum is wrong"},
        {good + size + end, "the size is no number"},
        {good + huge + end, "the size is no number"},
        {good + member("l", '2', "") + end, "it is neither of a file nor of a folder"},
        {good + member("x", 'x', "path=y") + end, "it is neither of a file nor of a folder"},
        {good + file("b/../c", "") + end, "the name is no path, or too long"},
        {good + file("b//c", "") + end, "the name is no path, or too long"},
        {good + member(std::string(99, 'n'), '0', "", std::string(40, 'p')) + end, "the name is no path, or too long"},
        {good + file("a", "again") + end, "the same path is there before"},
        {good + file("b/c", "") + end, "the folder that it is in does not come before it"},
        {good + file("a/c", "") + end, "the folder that it is in does not come before it"},
    };
    for (const auto &[archive, wrong] : cases) {
        const Opened one(archive);
        EXPECT_EQ(one.wrong, wrong);
        EXPECT_EQ(one.at, 2 * block);
        EXPECT_EQ(one.contents("a"), "one");
    }
    EXPECT_EQ(Opened("").at, 0u);
    EXPECT_NE(Opened("").wrong, "");
}

TEST(Tar, NoPaths)
{
    const Opened one(file("a", "one") + end);
    for (const char *name : {"a", "/a", "a/", "/a/"}) EXPECT_EQ(one.contents(name), "one") << name;
    for (const char *name : {"//a", "a//", "./a", "../a", ".", "..", "a/.."})
        EXPECT_EQ(one.find(name), nullptr) << name;
    EXPECT_EQ(one.find(std::string("a\0", 2)), nullptr);
    EXPECT_EQ(one.find(std::string(129, 'a')), nullptr);
}

/// Whatever is in an archive, nothing outside of it is read: the address sanitizer looks on.
TEST(Tar, Garbage)
{
    const std::string good = folder("sub") + file("sub/a", std::string(700, 'y')) + file("b", "") + end;
    std::mt19937 random(1988);
    for (int round = 0; round < 20000; round++) {
        std::string text = good.substr(0, random() % (good.size() + 1));
        for (unsigned i = random() % 4; i && !text.empty(); i--)
            text[random() % text.size()] = static_cast<char>(random());
        if (random() % 2)
            for (size_t at = 0; at + block <= text.size(); at += block) seal(text, at);
        const std::vector<char> exact(text.begin(), text.end());
        std::vector<Member> members(Tree::count(exact.data(), exact.size()));
        Tree tree;
        size_t at = 0;
        tree.read(exact.data(), exact.size(), members.data(), at);
        for (const Member &m : members) {
            ASSERT_LE(m.bytes, exact.size());
            if (!m.folder && m.data) {
                ASSERT_LE(m.data + m.bytes, exact.data() + exact.size());
            }
        }
    }
}

} // namespace
