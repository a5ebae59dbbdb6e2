// SPDX-License-Identifier: BSD-2-Clause
// A file server: an archive of the boot image, to be read. Its argument is the archive's name in [files]. What the
// archive holds is for all of its clients, so they read it where it lies: Map hands out the archive's dataspace.
#include "tree.h"

#include <interfaces/files.h>
#include <system/memory.h>
#include <system/server.h>

#include <cobnut/payload.h>

namespace {

using cobnut::ask_init, rpc::Client, rpc::Error, rpc::Word;
using files::Member, files::Path;

static_assert(Path::most == Files::most_path);

struct Server {
    rpc::Result<Files::Info> handle(Files::Stat, Client &, const Files::Path &path)
    {
        const auto found = find(path);
        return found ? info(*found.value) : rpc::Result<Files::Info>(found.error);
    }

    rpc::Result<Files::Entry> handle(Files::List, Client &, const Files::Path &path, Word from)
    {
        const auto folder = find(path);
        if (!folder) return folder.error;
        if (!folder.value->folder) return Error::bad_value;
        size_t at = from;
        const Member *const member = tree.child(folder.value->path, at);
        if (!member) return Error::not_found;
        const cobnut::Text name = member->path.name();
        return Files::Entry{at + 1, info(*member), Files::Path(name.data, name.size)};
    }

    rpc::Result<Files::Piece> handle(Files::Read, Client &, const Files::Path &path, Word offset)
    {
        const auto file = find_file(path);
        if (!file) return file.error;
        if (offset > file.value->bytes) offset = file.value->bytes;
        return Files::Piece(file.value->data + offset, file.value->bytes - offset);
    }

    rpc::Result<Files::Mapping> handle(Files::Map, Client &client, const Files::Path &path, Word held)
    {
        const auto file = find_file(path);
        if (!file) return file.error;
        if (held != handle_) {
            const auto passed = ask_init<init::Pass>(handle_, client.thread.raw, Word{0});
            if (!passed) return passed.error;
        }
        return Files::Mapping{handle_, static_cast<Word>(file.value->data - archive), file.value->bytes};
    }

    /// Opens the archive; false, after a line, if there is none or something is wrong with it.
    bool begin(const char *name)
    {
        const auto file = ask_init<init::OpenFile>(init::Name(name));
        if (!file) return complain(name, rpc::describe(file.error));
        const auto at = ask_init<init::Attach>(file.value.handle, Word{0}, Word{0});
        if (!at) return complain(name, rpc::describe(at.error));
        handle_ = file.value.handle;
        archive = reinterpret_cast<const char *>(at.value);
        const rpc::Result<Member *> members = room_for(files::Tree::count(archive, file.value.bytes));
        if (!members) return complain(name, rpc::describe(members.error));
        size_t where = 0;
        const char *const wrong = tree.read(archive, file.value.bytes, members.value, where);
        if (wrong) cobnut_printf("files: %s: header at byte %u: %s\n", name, static_cast<unsigned>(where), wrong);
        return !wrong;
    }

private:
    static bool complain(const char *name, const char *what)
    {
        cobnut_printf("files: %s: %s\n", name, what);
        return false;
    }

    static rpc::Result<Member *> room_for(size_t count)
    {
        const auto made = cobnut::make_memory(static_cast<Word>(count * sizeof(Member) / init::page_size + 1));
        return made ? rpc::Result<Member *>(reinterpret_cast<Member *>(made.value.address)) : made.error;
    }

    static Files::Info info(const Member &member)
    {
        return {member.folder ? Files::Kind::folder : Files::Kind::file, member.bytes};
    }

    rpc::Result<const Member *> find(const Files::Path &wanted) const
    {
        Path path;
        if (!path.read({wanted.data, wanted.size})) return Error::bad_value;
        const Member *const member = tree.find(path);
        return member ? rpc::Result<const Member *>(member) : Error::not_found;
    }

    rpc::Result<const Member *> find_file(const Files::Path &path) const
    {
        const auto member = find(path);
        return member && member.value->folder ? Error::bad_value : member;
    }

    files::Tree tree;
    Word handle_ = 0;
    const char *archive = nullptr;
};

constinit Server server;

} // namespace

int cobnut_main(const char *archive)
{
    if (!server.begin(archive)) return 1;
    cobnut::serve(server, Files::Operations{});
}
