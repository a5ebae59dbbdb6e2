// SPDX-License-Identifier: BSD-2-Clause
// A file server with a writable file system, littlefs, on a part of a disk. Arguments: the service of the part, and
// `format` if a file system is to be made where there is none.
#include "medium.h"

#include "../files/path.h"

#include <interfaces/store.h>
#include <system/server.h>

#include <cobnut/options.h>
#include <cobnut/payload.h>

namespace {

using rpc::Client, rpc::Error, rpc::Nothing, rpc::Result, rpc::Word;

Error error_of(int code)
{
    switch (code) {
    case LFS_ERR_OK: return Error::none;
    case LFS_ERR_NOENT: return Error::not_found;
    case LFS_ERR_EXIST:
    case LFS_ERR_NOTEMPTY: return Error::full;
    case LFS_ERR_NOSPC:
    case LFS_ERR_FBIG: return Error::no_memory;
    case LFS_ERR_IO:
    case LFS_ERR_CORRUPT: return Error::failed;
    default: return Error::bad_value;
    }
}

/// A path as littlefs takes it.
class Name {
public:
    explicit Name(const Files::Path &path)
    {
        files::Path checked;
        good_ = checked.read({path.data, path.size});
        for (size_t i = 0; good_ && i < checked.size; i++) text_[i] = checked.data[i];
    }
    explicit operator bool() const { return good_; }
    operator const char *() const { return text_; }

private:
    bool good_;
    char text_[files::Path::most + 1] = {};
};

struct Server {
    Result<Files::Info> handle(Files::Stat, Client &, const Files::Path &path)
    {
        const Name name(path);
        if (!name) return Error::bad_value;
        lfs_info found;
        const int code = lfs_stat(&lfs, name, &found);
        return code ? Result<Files::Info>(error_of(code)) : info(found);
    }

    Result<Files::Entry> handle(Files::List, Client &, const Files::Path &path, Word from)
    {
        const Name name(path);
        if (!name) return Error::bad_value;
        if (const int code = lfs_dir_open(&lfs, &folder, name)) return error_of(code);
        constexpr Word dots = 2; // `.` and `..`, which begin each folder
        lfs_info found;
        int more = from < ~dots ? 1 : 0;
        for (Word i = 0; more > 0 && i <= from + dots; i++) more = lfs_dir_read(&lfs, &folder, &found);
        lfs_dir_close(&lfs, &folder);
        if (more <= 0) return more ? error_of(more) : Error::not_found;
        return Files::Entry{from + 1, info(found), Files::Path(found.name)};
    }

    Result<Files::Piece> handle(Files::Read, Client &, const Files::Path &path, Word offset)
    {
        Files::Piece piece;
        const int code = with_file(path, LFS_O_RDONLY, [&] {
            const Word size = static_cast<Word>(lfs_file_size(&lfs, &file));
            if (offset >= size) return 0;
            lfs_file_seek(&lfs, &file, static_cast<lfs_soff_t>(offset), LFS_SEEK_SET);
            const lfs_ssize_t got = lfs_file_read(&lfs, &file, piece.data, Files::Piece::room);
            piece.size = got < 0 ? 0 : static_cast<Word>(got);
            return got < 0 ? got : 0;
        });
        return code ? Result<Files::Piece>(error_of(code)) : piece;
    }

    Result<Word> handle(Store::Write, Client &, const Files::Path &path, Word offset, const rpc::Bytes<100> &data)
    {
        Word size = 0;
        const int code = with_file(path, LFS_O_RDWR | LFS_O_CREAT, [&] {
            if (offset > static_cast<Word>(lfs_file_size(&lfs, &file))) return static_cast<int>(LFS_ERR_INVAL);
            lfs_file_seek(&lfs, &file, static_cast<lfs_soff_t>(offset), LFS_SEEK_SET);
            const lfs_ssize_t put = lfs_file_write(&lfs, &file, data.data, data.size);
            size = static_cast<Word>(lfs_file_size(&lfs, &file));
            return put < 0 ? put : 0;
        });
        return code ? Result<Word>(error_of(code)) : size;
    }

    Result<Nothing> handle(Store::Replace, Client &client, const Files::Path &path, Word handle, Word bytes)
    {
        const auto pages = cobnut::ask_init<init::Shared>(handle, client.thread.raw, Word{0});
        if (!pages) return pages.error;
        if (bytes > pages.value * init::page_size) return Error::bad_value;
        const auto at = cobnut::ask_init<init::Attach>(handle, Word{0}, Word{0});
        if (!at) return at.error;
        const int code = with_file(path, LFS_O_WRONLY | LFS_O_CREAT | LFS_O_TRUNC, [&] {
            const lfs_ssize_t put = lfs_file_write(&lfs, &file, reinterpret_cast<const void *>(at.value), bytes);
            return put < 0 ? put : 0;
        });
        cobnut::ask_init<init::Detach>(at.value);
        return error_of(code);
    }

    Result<Nothing> handle(Store::MakeFolder, Client &, const Files::Path &path)
    {
        const Name name(path);
        return name ? error_of(lfs_mkdir(&lfs, name)) : Error::bad_value;
    }

    Result<Nothing> handle(Store::Remove, Client &, const Files::Path &path)
    {
        const Name name(path);
        return name ? error_of(lfs_remove(&lfs, name)) : Error::bad_value;
    }

    /// Finds the file system, or makes one if there is none and that is asked for; false after a line.
    bool begin(bool format)
    {
        const Error error = medium.open();
        if (error != Error::none) return complain("the disk", rpc::describe(error));
        if (!lfs_mount(&lfs, &medium.configuration())) return true;
        if (!format) return complain("the disk", "no file system on it");
        if (lfs_format(&lfs, &medium.configuration()) || lfs_mount(&lfs, &medium.configuration()))
            return complain("the disk", "no file system can be made on it");
        return true;
    }

    explicit constexpr Server(const char *service) : medium(service) {}

private:
    static bool complain(const char *what, const char *how)
    {
        cobnut_printf("store: %s: %s\n", what, how);
        return false;
    }

    static Files::Info info(const lfs_info &found)
    {
        const bool folder = found.type == LFS_TYPE_DIR;
        return {folder ? Files::Kind::folder : Files::Kind::file, folder ? 0 : found.size};
    }

    /// Opens a file, does something with it, and closes it, which brings what was written to the medium; littlefs's
    /// code. After an error of `body` nothing of it gets there.
    template <typename Body> int with_file(const Files::Path &path, int flags, Body body)
    {
        const Name name(path);
        if (!name) return LFS_ERR_INVAL;
        if (const int code = lfs_file_opencfg(&lfs, &file, name, flags, &file_configuration)) return code;
        const int code = body();
        if (code) file.flags |= LFS_F_ERRED;
        const int closed = lfs_file_close(&lfs, &file);
        return code ? code : closed;
    }

    store::Medium medium;
    lfs_t lfs = {};
    lfs_dir_t folder = {};
    lfs_file_t file = {};
    char file_buffer[init::page_size] = {};
    lfs_file_config file_configuration = {file_buffer, nullptr, 0};
};

char service[32];

} // namespace

int cobnut_main(const char *arguments)
{
    cobnut::Text words{arguments, 0};
    while (arguments[words.size]) words.size++;
    const cobnut::Text part = cobnut::split(words, ' '), format = cobnut::split(words, ' ');
    for (size_t i = 0; i < part.size && i < sizeof service - 1; i++) service[i] = part.data[i];
    static constinit Server server(service);
    if (!server.begin(format == "format")) return 1;
    cobnut::serve(server, Store::Operations{});
}
