// SPDX-License-Identifier: BSD-2-Clause
#include "tree.h"

namespace files {

size_t Tree::count(const char *archive, size_t bytes)
{
    TarReader reader(archive, bytes);
    size_t count = 0;
    for (Member member; reader.next(member);) count++;
    return count;
}

const char *Tree::read(const char *archive, size_t bytes, Member *members, size_t &at)
{
    members_ = members;
    TarReader reader(archive, bytes);
    const char *wrong = nullptr;
    for (Member member; !wrong && reader.next(member);) wrong = add(member);
    at = reader.at();
    return wrong ? wrong : reader.fault();
}

const char *Tree::add(const Member &member)
{
    if (find(member.path)) return "the same path is there before";
    const Member *const folder = find(member.path.parent());
    if (!folder || !folder->folder) return "the folder that it is in does not come before it";
    members_[count_++] = member;
    return nullptr;
}

const Member *Tree::find(const Path &path) const
{
    if (!path.size) return &root_;
    for (size_t i = 0; i < count_; i++)
        if (members_[i].path == path) return &members_[i];
    return nullptr;
}

const Member *Tree::child(const Path &folder, size_t &from) const
{
    for (; from < count_; from++)
        if (members_[from].path.parent() == folder) return &members_[from];
    return nullptr;
}

} // namespace files
