// SPDX-License-Identifier: BSD-2-Clause
// I/O ports, which are space by space: a message to the pager says which one is missing, before anything is done.
#include "trials.h"

#include <initializer_list>

namespace attack {
namespace {

bool refused_port(const Report &r, Word port, Word log2)
{
    return r.port_fault && r.port == L4_IoFpageLog2(port, static_cast<int>(log2)).raw;
}
template <const char *code, Word port, Word log2> bool no_port(bool small, Report &r)
{
    return try_once(small, {.code = code, .edx = port}, r) && refused_port(r, port, log2);
}

/// With four ports of its own: the last word of them, and the first word that is not all in them.
bool behind_its_own(bool small, Report &r)
{
    constexpr Word first = 0x80;
    for (const Word port : {first + 2, first + 3}) {
        Attacker a(small);
        a.give_ports(first, 2);
        if (!a.ready()) return false;
        r = a.run({.code = trial_in_word, .edx = port});
        if (port == first + 2 ? !unharmed(r) : !refused_port(r, port, 1)) return false;
    }
    return true;
}
/// The last byte of the bitmap, and three that are not in it.
bool past_the_bitmap(bool small, Report &r)
{
    return try_once(small, {.code = trial_in_long, .edx = 0xFFFD}, r) && r.protection();
}
/// The partner has used its port a moment ago, so that its bitmap is open.
bool partners(bool small, Report &r)
{
    return try_once(small, {.code = trial_in_after_partner, .esi = stage.large.raw, .edx = victims_port}, r) &&
           refused_port(r, victims_port, 0);
}
/// Taken away between two uses, while others are left, so that the thread's bitmap is opened again.
bool lost(bool small, Report &r)
{
    constexpr Word kept = 0x80, taken = 0x82;
    Attacker a(small);
    a.give_ports(kept, 2);
    if (!a.ready()) return false;
    r = a.run({.code = trial_in_two, .ebx = kept, .edx = taken});
    if (!unharmed(r)) return false;
    L4_LoadMR(0, L4_IoFpageLog2(taken, 0).raw | L4_FullyAccessible);
    L4_Unmap(0);
    Word *const again = r.message + 1;
    again[message_ip] = reinterpret_cast<Word>(trial_in_two);
    again[message_ebx] = kept;
    again[message_edx] = taken;
    r = a.resume(again, message_words);
    return refused_port(r, taken, 0);
}

} // namespace

const Trial port_trials[] = {
    {"port.in_interrupt_controller", no_port<trial_in_byte, 0x21, 0>, false},
    {"port.in_keyboard", no_port<trial_in_byte, 0x64, 0>, false},
    {"port.in_word", no_port<trial_in_word, 0x1F0, 1>, false},
    {"port.in_long", no_port<trial_in_long, 0xCF8, 2>, false},
    {"port.out_interrupt_controller", no_port<trial_out_byte, 0x21, 0>, false},
    {"port.out_reset", no_port<trial_out_byte, 0x64, 0>, false},
    {"port.out_power_off", no_port<trial_out_byte, 0x8900, 0>, false},
    {"port.out_pci", no_port<trial_out_long, 0xCF8, 2>, false},
    {"port.in_string", no_port<trial_in_string, 0x1F0, 0>, false},
    {"port.out_string", no_port<trial_out_string, 0x8900, 0>, false},
    {"port.behind_its_own", behind_its_own, false},
    {"port.past_the_bitmap", past_the_bitmap, false},
    {"port.partners", partners, false},
    {"port.lost", lost, false},
    {nullptr, nullptr, false},
};

} // namespace attack
