// SPDX-License-Identifier: BSD-2-Clause
#include "commands.h"

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

bool cat(Text arguments, int &)
{
    const Text name = next_word(arguments);
    const auto file = file_system.map({name.data, name.size});
    if (!file) return complain(name, file.error);
    write(file.value.data, file.value.bytes);
    return true;
}

} // namespace shell
