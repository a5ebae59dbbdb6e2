// SPDX-License-Identifier: BSD-2-Clause
// Instead of libs/system/files.h, for a program that has the files in its own space: the archive `site` of the boot
// image, read as the file server reads it.
#pragma once

#include <files/tree.h>
#include <interfaces/files.h>
#include <system/memory.h>

namespace cobnut {

struct FileView {
    const char *data = nullptr;
    L4_Word_t bytes = 0;
};

class FileSystem {
    using Word = L4_Word_t;

public:
    rpc::Result<FileView> map(const Files::Path &wanted)
    {
        if (!is_open_ && !open()) return rpc::Error::no_memory;
        files::Path path;
        if (!path.read({wanted.data, wanted.size})) return rpc::Error::bad_value;
        const files::Member *const member = tree_.find(path);
        if (!member) return rpc::Error::not_found;
        if (member->folder) return rpc::Error::bad_value;
        return FileView{member->data, static_cast<Word>(member->bytes)};
    }

private:
    bool open()
    {
        const auto file = ask_init<init::OpenFile>(init::Name("site"));
        if (!file) return false;
        const auto at = ask_init<init::Attach>(file.value.handle, Word{0}, Word{0});
        if (!at) return false;
        const auto *const archive = reinterpret_cast<const char *>(at.value);
        const size_t count = files::Tree::count(archive, file.value.bytes);
        const auto made = make_memory(static_cast<Word>(count * sizeof(files::Member) / init::page_size + 1));
        size_t where = 0;
        is_open_ = made &&
                   !tree_.read(archive, file.value.bytes, reinterpret_cast<files::Member *>(made.value.address), where);
        return is_open_;
    }

    files::Tree tree_;
    bool is_open_ = false;
};

} // namespace cobnut
