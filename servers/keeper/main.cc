// SPDX-License-Identifier: BSD-2-Clause
// Whether a system is as it was before a program has run: runs the program that is its argument twice, and compares
// what there is after the first time with what there is after the second. What servers keep once and for all they have
// the first time. It ends with the program's code, or with 1.
#include <system/check.h>
#include <system/system.h>

#include <cobnut/payload.h>
#include <l4/schedule.h>

namespace {

using cobnut::ask_init, cobnut::check;
using rpc::Word;

struct Inventory {
    Word free = 0, count = 0;
    init::ProgramInfo programs[init::most_programs] = {};

    void take()
    {
        free = ask_init<init::Memory>().value.free;
        for (count = 0; count < init::most_programs; count++) {
            const auto found = ask_init<init::Describe>(count);
            if (!found) break;
            programs[count] = found.value;
        }
    }
};
constinit Inventory before, after;

/// Runs it to its end, and lets servers hear of that.
int run(const char *name)
{
    const auto number = ask_init<init::Run>(init::Name(name));
    const auto code = ask_init<init::Await>(number.value);
    L4_Sleep(L4_TimePeriod(200'000));
    return number && code ? static_cast<int>(code.value) : 1;
}

bool same_servers(const char *but)
{
    bool same = before.count == after.count;
    for (Word i = 0; i < after.count; i++) {
        const init::ProgramInfo &old = before.programs[i], &now = after.programs[i];
        if (now.name == but) continue;
        if (now.starts == 1 && now.pages == old.pages && now.threads == old.threads) continue;
        cobnut_printf("keeper: %.*s: %u starts, %u pages instead of %u\n", static_cast<int>(now.name.size),
                      now.name.data, now.starts, now.pages, old.pages);
        same = false;
    }
    return same;
}

/// Whether all that run have a tag.
bool all_small()
{
    bool small = true;
    for (Word i = 0; i < after.count; i++) {
        const init::ProgramInfo &now = after.programs[i];
        if (now.state != init::State::running || now.slot_size_mb) continue;
        cobnut_printf("keeper: %.*s is in a large space\n", static_cast<int>(now.name.size), now.name.data);
        small = false;
    }
    return small;
}

} // namespace

int cobnut_main(const char *program)
{
    const int first = run(program);
    before.take();
    const int second = run(program);
    after.take();
    check(!first && !second, "keeper.the_program_has_ended_well");
    check(after.free == before.free, "keeper.memory_is_where_it_was");
    check(same_servers(program), "keeper.servers_run_and_have_what_they_had");
    check(all_small(), "keeper.servers_are_in_small_spaces");
    cobnut_printf("keeper: %d failed\n", cobnut::failed_checks);
    return cobnut::failed_checks ? 1 : 0;
}
