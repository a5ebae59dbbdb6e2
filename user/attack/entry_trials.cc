// SPDX-License-Identifier: BSD-2-Clause
// Ways into the kernel and back: what segment registers hold afterwards, what partners see, interrupts and faults on
// the trampoline, the flags on the kernel's first instruction.
#include "trials.h"

#include <initializer_list>

namespace attack {
namespace {

enum Flag : Word { trap = 0x100, interrupts = 0x200, direction = 0x400, nested = 0x4000, alignment = 0x40000 };

/// A read through a segment register after a call to `partner`, whose page at that address is foreign memory.
template <const char *code> bool after_call(bool small, L4_ThreadId_t partner, Report &r)
{
    return try_once(small, {.code = code, .edx = partner.raw}, r) && unharmed(r);
}
template <const char *code> bool after_small(bool small, Report &r) { return after_call<code>(small, stage.above, r); }
template <const char *code> bool after_large(bool small, Report &r) { return after_call<code>(small, stage.large, r); }

bool own_utcb(bool small, L4_ThreadId_t partner, Report &r)
{
    return try_once(small, {.code = trial_call_then_gs, .edx = partner.raw}, r) && r.finished() &&
           r.eax() == utcb_of(L4_nilthread);
}
bool gs_after_small(bool small, Report &r) { return own_utcb(small, stage.above, r); }
bool gs_after_large(bool small, Report &r) { return own_utcb(small, stage.large, r); }

bool gs_into(bool small, L4_ThreadId_t partner, Report &r)
{
    return try_once(small, {.code = trial_call_with_own_gs, .edx = partner.raw}, r) && r.finished() &&
           r.eax() == utcb_of(partner);
}
bool gs_into_small(bool small, Report &r) { return gs_into(small, stage.above, r); }
bool gs_into_large(bool small, Report &r) { return gs_into(small, stage.large, r); }

bool null_into(bool small, L4_ThreadId_t partner, Report &r)
{
    return try_once(small, {.code = trial_call_without_segments, .edx = partner.raw}, r) && r.finished() &&
           r.eax() == victims_sum;
}
bool null_into_small(bool small, Report &r) { return null_into(small, stage.above, r); }
bool null_into_large(bool small, Report &r) { return null_into(small, stage.large, r); }

/// The partner wakes up with interrupts on, and neither with DF nor TF of the attacker's.
template <Word flags> bool flags_into(bool small, Report &r)
{
    for (const L4_ThreadId_t partner : {stage.above, stage.large})
        if (!try_once(small, {.code = trial_call_with_flags, .ebx = flags, .edx = partner.raw}, r) || !r.finished() ||
            r.eax() != interrupts)
            return false;
    return true;
}

/// On the kernel's first instruction. By int, single steps go on behind the call, in the attacker's own code.
template <Word flags> bool first_instruction(bool small, Report &r)
{
    for (const L4_ThreadId_t partner : {stage.above, stage.large}) {
        const Start start = {.code = stage.sysenter ? trial_sysenter_with_flags : trial_int_with_flags,
                             .ebx = flags,
                             .edx = partner.raw};
        if (!try_once(small, start, r)) return false;
        const bool stepped = !stage.sysenter && flags & trap && r.exception && r.vector() == 1 && in_image(r.ip());
        if (!unharmed(r) && !stepped) return false;
    }
    return true;
}

/// What a single step into the kernel pushes is no task to return to.
bool nested_after_step(bool small, Report &r)
{
    if (!first_instruction<trap | nested>(small, r)) return false;
    return try_once(small, {.code = attempt_nested_task}, r) && r.exception && r.vector() == 10 && r.error() == 0;
}

/// So many calls that the timer's interrupts come at every place of the way back.
bool interrupted(bool small, L4_ThreadId_t partner, Report &r)
{
    constexpr Word calls = 20000, patience = 20000;
    return try_once(small, {.code = trial_call_many, .ecx = calls, .edx = partner.raw}, r, patience) && unharmed(r);
}
bool interrupted_small(bool small, Report &r) { return interrupted(small, stage.above, r); }
bool interrupted_large(bool small, Report &r) { return interrupted(small, stage.large, r); }

// -------------------------------------------------------------- stacks that the trampoline returns by (sysenter only)
bool on_interface_page(Word ip) { return ip - kip_area < page_size; }

/// lret takes two words at `stack`, of which the one at `fault` is not there; those that the pager supplies name no
/// segment.
bool stack_at(bool small, Word stack, Word fault, Report &r)
{
    if (!stage.sysenter)
        return try_once(small, {.code = trial_int_with_stack, .esi = stack, .edx = stage.above.raw}, r) && unharmed(r);
    if (!try_once(small, {.code = trial_sysenter_with_stack, .esi = stack, .edx = stage.above.raw}, r)) return false;
    return r.exception && on_interface_page(r.ip()) && own_or_nothing(r, small, fault) &&
           (!r.faults || r.protection(no_segment));
}

bool stack_over_limit(bool small, Report &r) { return stack_at(small, end_of(small) - 4, end_of(small) - 4, r); }
bool stack_above(bool small, Report &r) { return stack_at(small, end_of(small) + 64, end_of(small) + 64, r); }
bool stack_below(bool small, Report &r) { return stack_at(small, ~Word{7}, ~Word{7}, r); }
bool stack_over_4gb(bool small, Report &r) { return stack_at(small, ~Word{3}, ~Word{3}, r); }
bool stack_in_kernel(bool small, Report &r)
{
    const Word at = kernel_text - base_of(small);
    return stack_at(small, at, at, r);
}
/// Its own, but not there yet: the fault comes on the trampoline.
bool stack_unmapped(bool small, Report &r)
{
    constexpr Word at = 0x00B00800;
    if (!stage.sysenter) return stack_at(small, at, at, r);
    return try_once(small, {.code = trial_sysenter_with_stack, .esi = at, .edx = stage.above.raw}, r) &&
           r.faults == 1 && r.fault_address - at < 8 && on_interface_page(r.fault_ip) && r.protection(no_segment) &&
           on_interface_page(r.ip());
}

/// sysenter on a processor without it. (QEMU has the instruction on every one, and misses its registers then.)
bool no_such_instruction(const Report &r) { return r.exception && (r.vector() == 6 || r.vector() == 13) && !r.faults; }

/// A selector of the kernel's where the stub leaves its own: the far return refuses it.
template <Word selector> bool returns_by(bool small, Report &r)
{
    if (!try_once(small, {.code = trial_sysenter_to, .esi = kernel_text, .ebx = selector, .edx = stage.large.raw}, r))
        return false;
    return stage.sysenter ? r.protection(selector & ~3u) && on_interface_page(r.ip()) : no_such_instruction(r);
}
/// Back to an address that is not its own.
bool returns_to(bool small, Word to, Report &r)
{
    if (!try_once(small, {.code = trial_sysenter_to_own_code, .esi = to, .edx = stage.large.raw}, r)) return false;
    if (!stage.sysenter) return no_such_instruction(r);
    return own_or_nothing(r, small, to);
}
bool returns_above(bool small, Report &r) { return returns_to(small, end_of(small), r); }
bool returns_to_kernel(bool small, Report &r) { return returns_to(small, kernel_text - base_of(small), r); }
bool returns_to_trampoline(bool small, Report &r) { return returns_to(small, trampoline - base_of(small), r); }
bool returns_to_trampoline_flat(bool small, Report &r) { return returns_to(small, trampoline, r); }
bool returns_to_last_byte(bool small, Report &r) { return returns_to(small, ~Word{0}, r); }

/// The same off the fast path, by iret: EBX says where, as the stub has it.
bool returns_slowly_to(bool small, Word to, Report &r)
{
    const L4_ThreadId_t nobody = L4_GlobalId(L4_ThreadNo(stage.controller) + 99, 1);
    if (!try_once(small, {.code = trial_sysenter_slow, .esi = to, .edx = nobody.raw}, r)) return false;
    return stage.sysenter ? own_or_nothing(r, small, to) : no_such_instruction(r);
}
bool slowly_above(bool small, Report &r) { return returns_slowly_to(small, end_of(small), r); }
bool slowly_to_kernel(bool small, Report &r) { return returns_slowly_to(small, kernel_text - base_of(small), r); }
bool slowly_to_kernel_flat(bool small, Report &r) { return returns_slowly_to(small, kernel_text, r); }
bool slowly_to_trampoline(bool small, Report &r) { return returns_slowly_to(small, trampoline, r); }

} // namespace

const Trial entry_trials[] = {
    {"call.small_then_cs", after_small<trial_call_then_cs>, false},
    {"call.small_then_ds", after_small<trial_call_then_ds>, false},
    {"call.small_then_es", after_small<trial_call_then_es>, false},
    {"call.small_then_fs", after_small<trial_call_then_fs>, false},
    {"call.small_then_ss", after_small<trial_call_then_ss>, false},
    {"call.small_then_gs", gs_after_small, false},
    {"call.large_then_cs", after_large<trial_call_then_cs>, false},
    {"call.large_then_ds", after_large<trial_call_then_ds>, false},
    {"call.large_then_es", after_large<trial_call_then_es>, false},
    {"call.large_then_fs", after_large<trial_call_then_fs>, false},
    {"call.large_then_ss", after_large<trial_call_then_ss>, false},
    {"call.large_then_gs", gs_after_large, false},
    {"call.gs_into_small", gs_into_small, false},
    {"call.gs_into_large", gs_into_large, false},
    {"call.null_into_small", null_into_small, false},
    {"call.null_into_large", null_into_large, false},
    {"call.df_into_partner", flags_into<direction>, false},
    {"call.df_nt_ac_into_partner", flags_into<direction | nested | alignment>, false},
    {"entry.tf", first_instruction<trap>, false},
    {"entry.nt", first_instruction<nested>, false},
    {"entry.df", first_instruction<direction>, false},
    {"entry.ac", first_instruction<alignment>, false},
    {"entry.tf_nt_df_ac", first_instruction<trap | nested | direction | alignment>, false},
    {"entry.tf_then_nested_task", nested_after_step, false},
    {"exit.interrupted_from_small", interrupted_small, false},
    {"exit.interrupted_from_large", interrupted_large, false},
    {"exit.stack_over_limit", stack_over_limit, true},
    {"exit.stack_above", stack_above, true},
    {"exit.stack_below", stack_below, true},
    {"exit.stack_over_4gb", stack_over_4gb, true},
    {"exit.stack_in_kernel", stack_in_kernel, true},
    {"exit.stack_unmapped", stack_unmapped, false},
    {"exit.kernel_code", returns_by<0x08>, false},
    {"exit.kernel_code_rpl_3", returns_by<0x0B>, false},
    {"exit.kernel_data", returns_by<0x13>, false},
    {"exit.task_segment", returns_by<0x30>, false},
    {"exit.past_gdt", returns_by<0xFFFB>, false},
    {"exit.to_above", returns_above, true},
    {"exit.to_kernel", returns_to_kernel, true},
    {"exit.to_trampoline", returns_to_trampoline, true},
    {"exit.to_trampoline_flat", returns_to_trampoline_flat, true},
    {"exit.to_last_byte", returns_to_last_byte, true},
    {"exit.slow_to_above", slowly_above, false},
    {"exit.slow_to_kernel", slowly_to_kernel, false},
    {"exit.slow_to_kernel_flat", slowly_to_kernel_flat, false},
    {"exit.slow_to_trampoline", slowly_to_trampoline, false},
    {nullptr, nullptr, false},
};

} // namespace attack
