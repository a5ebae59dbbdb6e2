// SPDX-License-Identifier: BSD-2-Clause
#include "core/checks.hpp"

#include "arm/cpu.hpp"
#include "arm/page_tables.hpp"
#include "core/arch.hpp"
#include "core/space.hpp"

namespace checks {

using namespace page_tables;

Word stack_top() { return reinterpret_cast<Word>(&processor); }

bool in_user_mode(const Thread& t) {
    constexpr Word mode_bits = 0x1f;
    return (t.frame.cpsr & (mode_bits | MASK_IRQ)) == MODE_USER;
}

bool confined(const Thread& t) {
    check(*reinterpret_cast<volatile Word*>(UTCB_WORD_PAGE) == t.utcb_address);
    check(t.utcb && in_utcb_areas(t.utcb_address) && t.utcb_address >> 20 == utcb_section(*t.space));
    check(cpu::read_domain_access() == t.space->arch.dacr || !t.space->arch.dacr);
    check(cpu::read_process_id() == t.space->arch.pid && !(t.space->arch.pid & 0x1ffffff));
    return true;
}

}  // namespace checks
