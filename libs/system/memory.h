// SPDX-License-Identifier: BSD-2-Clause
// Memory that a program makes or that its device has, attached at once.
#pragma once

#include <system/system.h>

namespace cobnut {

/// A dataspace, and where the caller has it.
struct Memory {
    rpc::Word handle, address;
};

/// Makes so many pages, to be written to, at an address or, if that is 0, anywhere. Errors: of init::Create and
/// init::Attach.
inline rpc::Result<Memory> make_memory(rpc::Word pages, rpc::Word address = 0)
{
    const auto made = ask_init<init::Create>(pages);
    if (!made) return made.error;
    const auto at = ask_init<init::Attach>(made.value, address, rpc::Word{1});
    if (!at) return at.error;
    return Memory{made.value, at.value};
}

/// A range of the caller's device, by its number in init::FindDevice, to be written to. Errors: of init::OpenRange and
/// init::Attach.
inline rpc::Result<Memory> map_range(rpc::Word number)
{
    const auto range = ask_init<init::OpenRange>(number);
    if (!range) return range.error;
    const auto at = ask_init<init::Attach>(range.value.handle, rpc::Word{0}, rpc::Word{1});
    if (!at) return at.error;
    return Memory{range.value.handle, at.value};
}

} // namespace cobnut
