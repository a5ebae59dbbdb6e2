// SPDX-License-Identifier: BSD-2-Clause
// A client's end of a file server (servers/interfaces/files.h): files as memory.
#pragma once

#include <interfaces/files.h>
#include <system/system.h>

namespace cobnut {

/// A file's contents, to be read. They stay where they are as long as the program runs.
struct FileView {
    const char *data = nullptr;
    L4_Word_t bytes = 0;
};

class FileSystem {
    using Word = L4_Word_t;

public:
    explicit constexpr FileSystem(const char *service = "files") : session_(service) {}

    /// Maps a file. Errors: of Files::Map and of init::Attach.
    rpc::Result<FileView> map(const Files::Path &path)
    {
        const auto file = session_.call<Files::Map>(path, handle_);
        if (!file) return file.error;
        if (file.value.handle != handle_) {
            const auto at = ask_init<init::Attach>(file.value.handle, Word{0}, Word{0});
            if (!at) return at.error;
            handle_ = file.value.handle;
            address_ = at.value;
        }
        return FileView{reinterpret_cast<const char *>(address_ + file.value.offset), file.value.bytes};
    }

    /// Any operation of Files.
    template <typename Op, typename... A> rpc::Result<typename Op::Value> call(const A &...arguments)
    {
        return session_.call<Op>(arguments...);
    }

private:
    Session session_;
    Word handle_ = 0, address_ = 0; ///< the dataspace that is attached: a server's files lie in one
};

} // namespace cobnut
