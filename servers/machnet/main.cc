// SPDX-License-Identifier: BSD-2-Clause
// Checks of the external pager over the network (servers/netpager), from a task of Mach's. The store at the other end
// has `pages`, three pages less a byte in which the byte at n is n modulo 251, and answers nothing about `gone`, which
// is as long.
#include <mach/mach.h>
#include <system/check.h>

namespace {

using cobnut::check;
using mach::ask, mach::Name, mach::Word;
using rpc::Error;

constexpr Word page = mach::page_size, bytes = 3 * page - 1;

void reads_and_writes()
{
    check(mach::is_there("net"), "net.there_is_a_pager");
    auto mapped = mach::map_object("net", "pages");
    for (int i = 0; mapped.error == Error::not_running && i < 60; i++) // the store has not connected yet
        mapped = mach::map_object("net", "pages");
    check(mapped && mapped.value.bytes == bytes, "net.it_is_mapped");
    if (!mapped) return;
    volatile unsigned char *const at = reinterpret_cast<volatile unsigned char *>(mapped.value.address);
    bool right = true;
    for (Word i = 0; i < bytes; i++) right = right && at[i] == i % 251;
    check(right && !at[bytes], "net.it_is_what_the_store_has");
    at[page] = 252;
    at[bytes - 1] = 253;
    ask<mach::VmDeallocate>(mapped.value.address);
    const auto again = mach::map_object("net", "pages");
    const volatile unsigned char *const then = reinterpret_cast<volatile unsigned char *>(again.value.address);
    check(again && then[0] == 0 && then[page] == 252 && then[page + 1] == (page + 1) % 251 && then[bytes - 1] == 253,
          "net.what_was_written_is_with_the_store");
    ask<mach::VmDeallocate>(again.value.address);
    check(mach::map_object("net", "none").error == Error::not_found, "net.no_such_path");
}

void the_store_goes()
{
    const auto mapped = mach::map_object("net", "gone");
    const Name notify = ask<mach::PortAllocate>().value;
    const auto child = mach::fork(0);
    if (child && !child.value) mach::exit(*reinterpret_cast<volatile Word *>(mapped.value.address));
    ask<mach::PortNotify>(child.value, notify);
    const auto told = ask<mach::Receive>(notify, mach::Wait::yes);
    check(mapped && told.value.words[0] == child.value, "net.who_needs_a_store_that_has_gone_ends");
    ask<mach::VmDeallocate>(mapped.value.address);
    check(mach::map_object("net", "new").error == Error::not_running, "net.without_a_store_nothing_is_opened");
}

int all()
{
    reads_and_writes();
    the_store_goes();
    cobnut_printf("machnet: %d failed\n", cobnut::failed_checks);
    return cobnut::failed_checks;
}

} // namespace

int cobnut_main(const char *)
{
    const auto code = mach::boot(all);
    if (!code) cobnut_printf("machnet: not booted: %s\n", rpc::describe(code.error));
    return code ? static_cast<int>(code.value) : 1;
}
