// SPDX-License-Identifier: BSD-2-Clause
#include "commands.h"

#include <interfaces/store.h>
#include <system/files.h>

namespace shell {
namespace {

using cobnut::Text;

constinit cobnut::FileSystem file_system;

} // namespace

bool ls(Text arguments, int &)
{
    const Text name = next_word(arguments);
    const Files::Path folder(name.data, name.size);
    for (rpc::Word from = 0;;) {
        const auto found = file_system.call<Files::List>(folder, from);
        if (!found) {
            const bool end = found.error == rpc::Error::not_found && file_system.call<Files::Stat>(folder);
            return end || complain(name, found.error);
        }
        const Files::Entry &entry = found.value;
        const char *const mark = entry.info.kind == Files::Kind::folder ? "/" : "";
        print("%9u %.*s%s\n", entry.info.bytes, static_cast<int>(entry.name.size), entry.name.data, mark);
        from = entry.next;
    }
}

/// Piece by piece, of a file that has no place in memory.
static bool print_file(Text name)
{
    for (rpc::Word offset = 0;;) {
        const auto piece = file_system.call<Files::Read>(Files::Path(name.data, name.size), offset);
        if (!piece) return complain(name, piece.error);
        if (!piece.value.size) return true;
        write(piece.value.data, piece.value.size);
        offset += piece.value.size;
    }
}

bool cat(Text arguments, int &)
{
    const Text name = next_word(arguments);
    const auto file = file_system.map({name.data, name.size});
    if (file.error == rpc::Error::unknown) return print_file(name);
    if (!file) return complain(name, file.error);
    write(file.value.data, file.value.bytes);
    return true;
}

bool append(Text arguments, int &)
{
    const Text name = next_word(arguments);
    const Files::Path path(name.data, name.size);
    while (arguments.size && *arguments.data == ' ') arguments = {arguments.data + 1, arguments.size - 1};
    rpc::Bytes<100> line(arguments.data, arguments.size);
    if (line.size < line.room) line.data[line.size++] = '\n';
    const auto file = file_system.call<Files::Stat>(path);
    const auto done = file_system.call<Store::Write>(path, file ? file.value.bytes : rpc::Word{0}, line);
    return done ? true : complain(name, done.error);
}

bool mkdir(Text arguments, int &)
{
    const Text name = next_word(arguments);
    const auto done = file_system.call<Store::MakeFolder>(Files::Path(name.data, name.size));
    return done ? true : complain(name, done.error);
}

bool rm(Text arguments, int &)
{
    const Text name = next_word(arguments);
    const auto done = file_system.call<Store::Remove>(Files::Path(name.data, name.size));
    return done ? true : complain(name, done.error);
}

} // namespace shell
