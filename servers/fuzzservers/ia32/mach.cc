// SPDX-License-Identifier: BSD-2-Clause
#include "../attack.h"

#include <mach/mach.h>

namespace fuzz {
namespace {

constexpr Interface boot_interface(mach::ProgramOperations{}, rpc::List<>{});
// What harms the fuzzer alone: the end of its own memory or task.
constexpr Interface mach_interface(mach::Operations{},
                                   rpc::List<mach::TaskTerminate, mach::TaskCreate, mach::VmDeallocate>{});

/// In a task of Mach's, against its kernel.
int attack_kernel()
{
    attack("mach", L4_Pager(), mach_interface, [] {
        const auto port = mach::ask<mach::PortAllocate>();
        // names are used up by what goes well: that is an answer, too
        if (!port) return port.error == rpc::Error::full;
        mach::ask<mach::PortInsertSend>(port.value);
        mach::Message m;
        m.port = port.value;
        m.id = 5;
        const bool sent = bool(mach::ask<mach::Send>(m, mach::Wait::no));
        const auto got = mach::ask<mach::Receive>(port.value, mach::Wait::no);
        mach::ask<mach::PortDeallocate>(port.value);
        return sent && got && got.value.id == 5;
    });
    return failed;
}

} // namespace

void attack_mach()
{
    if (!cobnut::ask_init<init::Open>(init::Name("mach"))) return;
    const auto code = mach::boot(attack_kernel);
    failed = failed || !code || code.value;
}

void attack_machs_boot()
{
    const L4_ThreadId_t mach = {.raw = cobnut::ask_init<init::Open>(init::Name("mach")).value};
    if (!mach.raw) return;
    attack("mach's boot", mach, boot_interface, [=] {
        // a task that has been booted at random may be one that never ends
        const rpc::Error error = rpc::call<mach::Boot>(mach, Word{0}, Word{0}, Word{0}, Word{0}, Word{0}).error;
        return error == rpc::Error::bad_value || error == rpc::Error::full;
    });
}

} // namespace fuzz
