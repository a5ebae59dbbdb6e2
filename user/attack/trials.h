// SPDX-License-Identifier: BSD-2-Clause
// What trials share: an attacker, its code from trials.S, and a look at where it ended.
#ifndef COBNUT_ATTACK_TRIALS_H
#define COBNUT_ATTACK_TRIALS_H
#include "judge.h"

extern "C" {
extern const char trial_call_then_cs[], trial_call_then_ds[], trial_call_then_es[], trial_call_then_fs[],
    trial_call_then_ss[], trial_call_then_gs[], trial_call_many[], trial_call_with_own_gs[],
    trial_call_without_segments[], trial_call_with_flags[], trial_sysenter_with_stack[], trial_sysenter_to[],
    trial_sysenter_to_own_code[], trial_sysenter_slow[], trial_sysenter_with_flags[], trial_int_with_flags[],
    trial_int_with_stack[], trial_flags[], trial_selectors[], trial_exchange_own_flags[], trial_exchange_own_ip[],
    trial_read_gdt[], trial_write_gdt[], trial_write_idt[], trial_scan_limits[], trial_write_utcb_word[],
    trial_read_past_utcb_word[], trial_icebp[], trial_into[], trial_unmap[], trial_in_byte[], trial_in_word[],
    trial_in_long[], trial_out_byte[], trial_out_long[], trial_in_string[], trial_in_two[], trial_out_string[],
    trial_in_after_partner[], attempt_nested_task[], attempt_nothing[];
}

namespace attack {

// An exception's message, which is its answer as well (docs/x2-ia32.md, 6.3). Not in it: segment registers.
enum MessageWord : unsigned {
    message_ip,
    message_flags,
    message_sp = 7,
    message_ebx,
    message_edx,
    message_eax = 11,
    message_words
};

inline constexpr Word trampoline = 0xFFC00023, kernel_text = 0xF0100000; ///< linear; this kernel's

/// Runs `start` from a new space. False if there is none.
inline bool try_once(bool small, const Start &start, Report &r, Word patience = 500)
{
    Attacker a(small);
    if (!a.ready()) return false;
    r = a.run(start, patience);
    return true;
}

/// It read its own memory and nothing stopped it.
inline bool unharmed(const Report &r) { return r.finished() && !r.faults && r.eax() == own_word; }

/// What is at `to` in its own addresses: its own page (which it was given on its fault), or nothing, so that it was
/// stopped.
inline bool own_or_nothing(const Report &r, bool small, Word to)
{
    const Word end = small ? slot_size : stage.large_limit();
    if (!small || to < end - page_size || to >= stage.large_limit())
        return r.faults == 0 && (r.protection() || r.stack_fault());
    const Word first = to < end ? end : to & ~(page_size - 1);
    return r.faults && r.fault_address - first < page_size && !r.protection() && !r.stack_fault();
}

/// For a trial that was none, and is made again.
inline bool aimless(Report &r)
{
    r.aimless = true;
    return false;
}

inline Word end_of(bool small) { return small ? slot_size : stage.large_limit(); }
/// Where the next attacker's addresses begin; if the kernel chooses, most likely where the last one's did.
inline Word base_of(bool small) { return !small ? 0 : stage.automatic ? stage.last_base : stage.area() + slot_size; }

/// The neighbour above in the next attacker's addresses. 0: has no slot, or that of the last attacker.
inline Word above_from(bool small)
{
    const Word own = base_of(small), above = stage.above_base(own);
    return above ? above - own : 0;
}

} // namespace attack
#endif
