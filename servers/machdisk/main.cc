// SPDX-License-Identifier: BSD-2-Clause
// Checks of Mach's external pager over files that can be written (servers/filepager, servers/store): what a task has
// written to its memory is in the file, for clients of the file server, and the rest of the file is as it was.
#include <interfaces/store.h>
#include <mach/mach.h>
#include <system/check.h>
#include <system/system.h>

namespace {

using cobnut::check;
using mach::ask, mach::Word;

constexpr char path[] = "mapped";
constexpr Word page = mach::page_size, bytes = 2 * page + 300, changed = page + 1000;
using Data = rpc::Bytes<100>;

constinit cobnut::Session store("files");

char byte_at(Word n) { return static_cast<char>('a' + n % 26); }

bool make_file()
{
    store.call<Store::Remove>(Files::Path(path));
    for (Word at = 0; at < bytes;) {
        Data data;
        while (data.size < Data::room && at + data.size < bytes)
            data.data[data.size] = byte_at(at + data.size), data.size++;
        if (!store.call<Store::Write>(Files::Path(path), at, data)) return false;
        at += data.size;
    }
    return true;
}

/// Whether the file is what it was but for the byte that was changed, and has its length.
bool is_changed()
{
    Word right = 0;
    for (Word at = 0; at < bytes;) {
        const auto piece = store.call<Files::Read>(Files::Path(path), at);
        if (!piece || !piece.value.size) return false;
        for (Word i = 0; i < piece.value.size; i++)
            right += piece.value.data[i] == (at + i == changed ? '!' : byte_at(at + i));
        at += piece.value.size;
    }
    const auto info = store.call<Files::Stat>(Files::Path(path));
    return right == bytes && info && info.value.bytes == bytes;
}

/// In a task: writes to the file by its memory.
int write_mapped()
{
    check(mach::is_there("files"), "disk.there_is_a_pager");
    const auto mapped = mach::map_object("files", path);
    check(mapped && mapped.value.bytes == bytes, "disk.it_is_mapped");
    char *const at = reinterpret_cast<char *>(mapped.value.address);
    bool right = true;
    for (Word i = 0; i < bytes; i++) right = right && at[i] == byte_at(i);
    check(right && !at[bytes], "disk.it_is_what_the_file_has");
    at[changed] = '!';
    ask<mach::VmDeallocate>(mapped.value.address);
    const auto again = mach::map_object("files", path); // answered behind what was returned
    check(again && reinterpret_cast<char *>(again.value.address)[changed] == '!',
          "disk.it_is_there_when_it_is_mapped_anew");
    ask<mach::VmDeallocate>(again.value.address);
    return cobnut::failed_checks;
}

} // namespace

int cobnut_main(const char *)
{
    check(make_file(), "disk.there_is_a_file");
    const auto code = mach::boot(write_mapped);
    check(code && !code.value, "disk.the_task_has_ended_well");
    check(is_changed(), "disk.what_was_written_is_in_the_file");
    cobnut_printf("machdisk: %d failed\n", cobnut::failed_checks);
    return cobnut::failed_checks;
}
