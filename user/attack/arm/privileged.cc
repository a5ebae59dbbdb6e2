// SPDX-License-Identifier: BSD-2-Clause
// What only the kernel may do, and what the kernel may not be talked into.
#include "stage.h"

extern "C" const unsigned char attempt_read_control[], attempt_write_control[], attempt_read_id[],
    attempt_read_table_base[], attempt_write_table_base[], attempt_read_domains[], attempt_open_all_domains[],
    attempt_read_fault_status[], attempt_write_fault_address[], attempt_invalidate_caches[], attempt_invalidate_data[],
    attempt_invalidate_data_line[], attempt_clean_data_line[], attempt_invalidate_code[], attempt_flush_tlbs[],
    attempt_flush_data_tlb_entry[], attempt_lock_tlb[], attempt_read_pid[], attempt_forge_pid[],
    attempt_test_registers[], attempt_clock_switching[], attempt_floating_point[], attempt_undefined[],
    attempt_mode_supervisor[], attempt_mode_abort[], attempt_mode_system[], attempt_masks[], attempt_all_fields[],
    attempt_saved_status[], attempt_return_with_status[], attempt_load_with_status[], attempt_call_nothing[],
    attempt_call_behind[], attempt_call_last[], attempt_jump_to_vector[], attempt_jump_to_kernel[],
    attempt_unmap_target[], attempt_end_emulator[], attempt_control_space[], attempt_control_thread[],
    attempt_exchange_registers[], attempt_own_flags[], attempt_own_state[], attempt_undefined_always[],
    attempt_debug_id[], attempt_java_id[], attempt_java_control[], attempt_java_configuration[],
    attempt_system_operation[], attempt_system_load[], attempt_system_store[], attempt_system_two_registers[],
    attempt_lock_down[], attempt_write_fault_status[], attempt_clean_all[], attempt_invalidate_data_way[],
    attempt_drain[], attempt_wait[], attempt_breakpoint[], attempt_semihosting[], attempt_odd_software_interrupt[],
    attempt_java_bit[], attempt_java_state[], attempt_utcb_across[], attempt_print_target[];

namespace attack {
namespace {

/// How it has to end.
enum class End {
    undefined,  ///< an undefined instruction
    user,       ///< or it goes on, as a user with interrupts on: R0 is the CPSR
    call,       ///< a software interrupt, which is the controller's business
    harmless,   ///< an undefined instruction; or, in emulators, one that tells or cleans something
    stopped,    ///< a breakpoint, which not every core has
    nowhere,    ///< a fault or an abort: nothing of the user's is there
    failed,     ///< the system call fails: R0 is 0
    nothing,    ///< it goes on, and nothing has happened
};

enum class Target { none, own, apart, alike_id, apart_id, kernel };

struct Trial {
    const char *name;
    const unsigned char *code;
    End end;
    Target target = Target::none;
};

constexpr Trial trials[] = {
    {"cp15.read_control", attempt_read_control, End::undefined},
    {"cp15.write_control", attempt_write_control, End::undefined},
    {"cp15.read_id", attempt_read_id, End::undefined},
    {"cp15.read_table_base", attempt_read_table_base, End::undefined},
    {"cp15.write_table_base", attempt_write_table_base, End::undefined},
    {"cp15.read_domains", attempt_read_domains, End::undefined},
    {"cp15.open_all_domains", attempt_open_all_domains, End::undefined},
    {"cp15.read_fault_status", attempt_read_fault_status, End::undefined},
    {"cp15.write_fault_address", attempt_write_fault_address, End::undefined},
    {"cp15.invalidate_caches", attempt_invalidate_caches, End::undefined},
    {"cp15.invalidate_data", attempt_invalidate_data, End::undefined},
    {"cp15.invalidate_data_line", attempt_invalidate_data_line, End::undefined},
    {"cp15.clean_data_line", attempt_clean_data_line, End::undefined},
    {"cp15.invalidate_code", attempt_invalidate_code, End::undefined},
    {"cp15.flush_tlbs", attempt_flush_tlbs, End::undefined},
    {"cp15.flush_data_tlb_entry", attempt_flush_data_tlb_entry, End::undefined},
    {"cp15.lock_tlb", attempt_lock_tlb, End::undefined},
    {"cp15.read_pid", attempt_read_pid, End::undefined},
    {"cp15.forge_pid", attempt_forge_pid, End::undefined},
    {"cp15.test_registers", attempt_test_registers, End::undefined},
    {"cp15.clock_switching", attempt_clock_switching, End::undefined},
    {"cp0.floating_point", attempt_floating_point, End::undefined},
    {"undefined", attempt_undefined, End::undefined},
    {"undefined_always", attempt_undefined_always, End::undefined},
    {"cp14.debug_id", attempt_debug_id, End::harmless},
    {"cp14.java_id", attempt_java_id, End::undefined},
    {"cp14.java_control", attempt_java_control, End::undefined},
    {"cp14.java_configuration", attempt_java_configuration, End::undefined},
    {"cp15.operation", attempt_system_operation, End::undefined},
    {"cp15.load", attempt_system_load, End::undefined, Target::apart},
    {"cp15.store", attempt_system_store, End::undefined, Target::apart},
    {"cp15.two_registers", attempt_system_two_registers, End::undefined},
    {"cp15.lock_down", attempt_lock_down, End::undefined},
    {"cp15.write_fault_status", attempt_write_fault_status, End::undefined},
    {"cp15.clean_all", attempt_clean_all, End::harmless},
    {"cp15.invalidate_data_way", attempt_invalidate_data_way, End::undefined},
    {"cp15.drain", attempt_drain, End::undefined},
    {"cp15.wait", attempt_wait, End::undefined},
    {"swi.breakpoint", attempt_breakpoint, End::stopped},
    {"swi.semihosting", attempt_semihosting, End::call},
    {"swi.odd", attempt_odd_software_interrupt, End::call},
    {"mode.java_bit", attempt_java_bit, End::user},
    {"mode.java_state", attempt_java_state, End::user},
    {"mode.own_state", attempt_own_state, End::user},
    {"entry.behind_own_utcb", attempt_utcb_across, End::nowhere},
    {"deputy.print_apart", attempt_print_target, End::nothing, Target::apart},
    {"deputy.print_kernel", attempt_print_target, End::nothing, Target::kernel},
    {"mode.supervisor", attempt_mode_supervisor, End::user},
    {"mode.abort", attempt_mode_abort, End::user},
    {"mode.system", attempt_mode_system, End::user},
    {"mode.masks", attempt_masks, End::user},
    {"mode.all_fields", attempt_all_fields, End::user},
    {"mode.saved_status", attempt_saved_status, End::user},
    {"mode.return_with_status", attempt_return_with_status, End::user},
    {"mode.load_with_status", attempt_load_with_status, End::user, Target::own},
    {"mode.own_flags", attempt_own_flags, End::user},
    {"entry.call_nothing", attempt_call_nothing, End::nowhere},
    {"entry.call_behind", attempt_call_behind, End::nowhere},
    {"entry.call_last", attempt_call_last, End::nowhere},
    {"entry.jump_to_vector", attempt_jump_to_vector, End::nowhere},
    {"entry.jump_to_kernel", attempt_jump_to_kernel, End::nowhere},
    {"deputy.unmap_apart", attempt_unmap_target, End::nothing, Target::apart},
    {"deputy.unmap_kernel", attempt_unmap_target, End::nothing, Target::kernel},
    {"deputy.end_emulator", attempt_end_emulator, End::nothing},
    {"deputy.control_space", attempt_control_space, End::failed, Target::alike_id},
    {"deputy.control_own_space", attempt_control_space, End::failed},
    {"deputy.control_thread", attempt_control_thread, End::failed, Target::apart_id},
    {"deputy.exchange_registers", attempt_exchange_registers, End::failed, Target::alike_id},
};

Word address_of(Target target)
{
    switch (target) {
    case Target::none: return 0;
    case Target::own: return alike + page_offset + 64;
    case Target::apart: return stage.apart.own_page();
    case Target::alike_id: return stage.alike.id.raw;
    case Target::apart_id: return stage.apart.id.raw;
    case Target::kernel: return image + 0x10000;
    }
    return 0;
}

/// User mode, ARM code, interrupts on: FIQ aside, which no board has.
bool is_user(Word status) { return (status & 0x010000BF) == 0x10; }

bool refused(const Trial &trial, const Report &r)
{
    if (r.silent || (r.exception && !is_user(r.flags()))) return false;
    switch (trial.end) {
    case End::undefined: return r.undefined();
    case End::user: return r.undefined() || (r.finished() && is_user(r.r0()));
    case End::call: return r.exception && r.words == 13 && !r.finished();
    case End::harmless: return r.undefined() || r.finished();
    case End::stopped: return r.undefined() || (r.aborted() && r.message[5] == 2);
    case End::nowhere: return r.fault || r.aborted();
    case End::failed: return r.finished() && r.r0() == 0;
    case End::nothing: return r.finished() || r.fault;
    }
    return false;
}

} // namespace

void run_privileged(const char *only)
{
    for (const Trial &trial : trials) {
        if (!wanted(trial.name, only)) continue;
        const Report r = attempt(trial.code, address_of(trial.target));
        row(trial.name, refused(trial, r), r);
    }
}

} // namespace attack
