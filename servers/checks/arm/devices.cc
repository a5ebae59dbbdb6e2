// SPDX-License-Identifier: BSD-2-Clause
#include "../checks.h"

namespace checks {

using cobnut::ask_init, cobnut::check;
using rpc::Error, rpc::Word;

/// Peripheral identification registers: a PL061 says that it is one (ARM DDI 0190, 3.3).
void devices()
{
    const auto found = ask_init<init::FindDevice>();
    const init::DeviceRange &range = found.value.ranges[0];
    check(found && found.value.identity == 0 && found.value.line == ~Word{0}, "devices.the_one_of_the_description");
    check(!range.is_ports && range.first == 0x101E4000 && range.size == init::page_size, "devices.its_registers");
    const auto opened = ask_init<init::OpenRange>(Word{0});
    const auto at = ask_init<init::Attach>(opened.value.handle, Word{0}, Word{1});
    const auto *const registers = reinterpret_cast<const volatile Word *>(at.value);
    constexpr Word identity = 0xFE0 / sizeof(Word);
    check(opened && at && registers[identity] == 0x61 && (registers[identity + 1] & 0xF) == 0,
          "devices.its_registers_can_be_used");
    check(ask_init<init::OpenRange>(Word{1}).error == Error::bad_value, "devices.the_kernels_own_is_nobodys");
    check(ask_init<init::OpenRange>(Word{2}).error == Error::not_found, "devices.a_range_that_is_not_there");
    const auto made = ask_init<init::Create>(Word{1});
    check(ask_init<init::Physical>(made.value, Word{0}).error == Error::denied, "devices.no_addresses_without_dma");
    check(ask_init<init::BusMaster>().error == Error::denied, "devices.no_master_without_dma");
    ask_init<init::Close>(made.value);
}

} // namespace checks
