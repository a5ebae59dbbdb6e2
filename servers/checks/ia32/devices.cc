// SPDX-License-Identifier: BSD-2-Clause
#include "../checks.h"

namespace checks {

using cobnut::ask_init, cobnut::check;
using rpc::Error, rpc::Word;

void devices()
{
    const auto found = ask_init<init::FindDevice>();
    const init::DeviceRange &range = found.value.ranges[4]; // bus mastering
    check(found && found.value.identity == 0x70108086, "devices.the_one_of_the_description");
    check(range.is_ports && range.size == 16 && range.first, "devices.its_ports");
    unsigned char value;
    __asm__ volatile("inb %1, %0" : "=a"(value) : "d"(static_cast<unsigned short>(range.first + 2)));
    check(!(value & 4), "devices.its_ports_can_be_used");
    check(ask_init<init::OpenRange>(Word{4}).error == Error::not_found, "devices.ports_are_no_memory");
    check(ask_init<init::OpenRange>(Word{6}).error == Error::not_found, "devices.a_range_that_is_not_there");
    const auto made = ask_init<init::Create>(Word{1});
    check(ask_init<init::Physical>(made.value, Word{0}).error == Error::denied, "devices.no_addresses_without_dma");
    check(ask_init<init::BusMaster>().error == Error::denied, "devices.no_master_without_dma");
    ask_init<init::Close>(made.value);
}

} // namespace checks
