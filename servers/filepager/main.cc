// SPDX-License-Identifier: BSD-2-Clause
// An external pager of Mach's over the files of a file server: a task that maps a file's memory object sees what is in
// the file, and what it has written is in the file when nobody has it mapped any more, if the server can write. The
// argument is the name by which tasks find it.
#include <interfaces/store.h>
#include <mach/pager.h>
#include <system/files.h>

#include <cobnut/payload.h>

extern "C" void *memcpy(void *, const void *, size_t);

namespace {

using rpc::Word;

class FileBacking : public mach::Backing {
public:
    rpc::Result<Word> open(Word number, const Path &path) override
    {
        File &file = files_[number];
        file = {Files::Path(path.data, path.size), {}};
        const auto info = server_.call<Files::Stat>(file.path);
        if (!info) return info.error;
        if (info.value.kind != Files::Kind::file) return rpc::Error::bad_value;
        const auto view = server_.map(file.path); // which servers that write have not
        if (view) file.view = view.value;
        return info.value.bytes;
    }

    bool read(Word number, Word offset, char *to, Word bytes) override
    {
        const File &file = files_[number];
        if (file.view.data) return memcpy(to, file.view.data + offset, bytes);
        for (Word done = 0; done < bytes;) {
            const auto piece = server_.call<Files::Read>(file.path, offset + done);
            if (!piece || !piece.value.size) return false;
            const Word size = piece.value.size < bytes - done ? piece.value.size : bytes - done;
            memcpy(to + done, piece.value.data, size);
            done += size;
        }
        return true;
    }

    bool write(Word number, Word offset, const char *from, Word bytes) override
    {
        using Data = rpc::Bytes<100>; // as much as Write takes
        for (Word done = 0; done < bytes;) {
            const Data data(from + done, bytes - done);
            if (!server_.call<Store::Write>(files_[number].path, offset + done, data)) return false;
            done += data.size;
        }
        return true;
    }

private:
    struct File {
        Files::Path path;
        cobnut::FileView view; ///< where it lies; nowhere: it is read in pieces
    };

    cobnut::FileSystem server_;
    File files_[most] = {};
};

constinit FileBacking files;

} // namespace

int cobnut_main(const char *arguments) { return mach::serve_objects(arguments, files); }
