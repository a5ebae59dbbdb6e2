// SPDX-License-Identifier: BSD-2-Clause
#include "attempts.h"

// attempts.S
extern "C" {
extern const char attempt_read_ds[], attempt_read_es[], attempt_read_fs[], attempt_read_gs[], attempt_read_ss[],
    attempt_read_cs[], attempt_write_ds[], attempt_write_es[], attempt_write_fs[], attempt_write_gs[],
    attempt_write_ss[], attempt_write_cs[], attempt_read_byte[], attempt_read_word[], attempt_write_byte[],
    attempt_add_locked[], attempt_exchange[], attempt_xlat[], attempt_save_coprocessor[], attempt_load_environment[],
    attempt_lds[], attempt_les[], attempt_lfs[], attempt_lgs[], attempt_lss[], attempt_movs_from[], attempt_movs_to[],
    attempt_stos[], attempt_lods[], attempt_scas[], attempt_cmps[], attempt_movs_down[], attempt_stos_down[],
    attempt_push[], attempt_pop[], attempt_pusha[], attempt_popa[], attempt_enter[], attempt_leave[],
    attempt_call_with_stack[], attempt_pushf[], attempt_lret_from[], attempt_iret_from[], attempt_jump[],
    attempt_call[], attempt_return[], attempt_far_return[], attempt_interrupt_return[], attempt_far_jump[],
    attempt_far_call[], attempt_run_over[], attempt_load_ds[], attempt_load_es[], attempt_load_fs[], attempt_load_gs[],
    attempt_load_ss[], attempt_pop_ds[], attempt_lds_selector[], attempt_return_selector[],
    attempt_interrupt_return_selector[], attempt_jump_selector[], attempt_call_selector[], attempt_verify_read[],
    attempt_verify_write[], attempt_segment_limit[], attempt_access_rights[], attempt_read_tls[], attempt_write_tls[],
    attempt_popf[], attempt_interrupt_return_flags[], attempt_virtual_8086[], attempt_nested_task[], attempt_cli[],
    attempt_sti[], attempt_hlt[], attempt_clts[], attempt_invd[], attempt_wbinvd[], attempt_lgdt[], attempt_lidt[],
    attempt_lldt[], attempt_ltr[], attempt_lmsw[], attempt_read_cr3[], attempt_write_cr3[], attempt_write_cr0[],
    attempt_write_cr4[], attempt_invlpg[], attempt_rdmsr[], attempt_wrmsr[], attempt_sysexit[], attempt_in[],
    attempt_int_double_fault[], attempt_int_page_fault[], attempt_int_timer[], attempt_int_none[];
}

namespace attack {
namespace {

constexpr Place own = {Target::own, 0};
constexpr Place edge(int offset) { return {Target::edge, offset}; }
constexpr Place wrap(int offset) { return {Target::wrap, offset}; }
constexpr Place above = {Target::above, 0}, host = {Target::host, 0}, kernel = {Target::kernel, 0};

constexpr Attempt reach(const char *name, const char *code, Place to, Place inside, Word count = 0)
{
    return {name, code, to, Refusal::limit, inside, 0, count, 0, false, true};
}
constexpr Attempt across(const char *name, const char *code, Place to, Place inside)
{
    Attempt a = reach(name, code, to, inside);
    a.any_limit = true;
    return a;
}
constexpr Attempt by_segment(const char *name, const char *code, Segment segment, Place to, Place inside)
{
    return {name, code, to, Refusal::limit, inside, 0, 0, 0, false, true, segment};
}
constexpr Attempt forged(const char *name, const char *code, Word selector, bool own_code)
{
    return {name, code, {Target::linear, 0}, Refusal::selector, own, selector, 0, 0, own_code, true};
}
constexpr Attempt probe(const char *name, const char *code, Word selector)
{
    return {name, code, own, Refusal::value, own, selector, 0, 0, false, true};
}
constexpr Attempt alone(const char *name, const char *code, Refusal refusal, Word detail = 0)
{
    return {name, code, own, refusal, own, 0, 0, detail, false, false};
}

// Selectors that are not a user's on Cobnut nor on a 64-bit Linux.
constexpr Word kernel_code = 0x08, kernel_data = 0x10, past_gdt = 0xFFF8, past_ldt = 0xFFFC, task = 0x40;

} // namespace

constinit const Attempt attempts[] = {
    // The limit to the byte, through each register.
    reach("read.ds.limit+1", attempt_read_ds, edge(-3), edge(-4)),
    reach("read.ds.limit+4", attempt_read_ds, edge(0), edge(-4)),
    reach("read.es.limit+1", attempt_read_es, edge(-3), edge(-4)),
    reach("read.fs.limit+1", attempt_read_fs, edge(-3), edge(-4)),
    reach("read.gs.limit+1", attempt_read_gs, edge(-3), edge(-4)),
    reach("read.ss.limit+1", attempt_read_ss, edge(-3), edge(-4)),
    reach("read.cs.limit+1", attempt_read_cs, edge(-3), edge(-4)),
    reach("read.byte.limit+1", attempt_read_byte, edge(0), edge(-1)),
    reach("read.word.limit+1", attempt_read_word, edge(-1), edge(-2)),
    reach("write.ds.limit+1", attempt_write_ds, edge(-3), edge(-4)),
    reach("write.ds.limit+4", attempt_write_ds, edge(0), edge(-4)),
    reach("write.es.limit+1", attempt_write_es, edge(-3), edge(-4)),
    reach("write.fs.limit+1", attempt_write_fs, edge(-3), edge(-4)),
    reach("write.gs.limit+1", attempt_write_gs, edge(-3), edge(-4)),
    reach("write.ss.limit+1", attempt_write_ss, edge(-3), edge(-4)),
    reach("write.byte.limit+1", attempt_write_byte, edge(0), edge(-1)),
    {"write.cs", attempt_write_cs, own, Refusal::limit, own, 0, 0, 0, false, false, Segment::none, true},
    reach("add_locked.limit+1", attempt_add_locked, edge(-3), edge(-4)),
    reach("exchange.limit+1", attempt_exchange, edge(-3), edge(-4)),
    reach("xlat.limit+1", attempt_xlat, edge(0), edge(-1)),
    reach("fnsave.limit+1", attempt_save_coprocessor, edge(-107), edge(-108)),
    reach("fldenv.limit+1", attempt_load_environment, edge(-27), edge(-28)),
    reach("lds.limit+1", attempt_lds, edge(-5), edge(-6)),
    reach("les.limit+1", attempt_les, edge(-5), edge(-6)),
    reach("lfs.limit+1", attempt_lfs, edge(-5), edge(-6)),
    reach("lgs.limit+1", attempt_lgs, edge(-5), edge(-6)),
    reach("lss.limit+1", attempt_lss, edge(-5), edge(-6)),
    // The other end: the linear address would be below the slot.
    reach("read.ds.below", attempt_read_ds, wrap(-4), wrap(0)),
    reach("read.es.below", attempt_read_es, wrap(-4), wrap(0)),
    reach("read.ss.below", attempt_read_ss, wrap(-4), wrap(0)),
    across("read.ds.over_4gb", attempt_read_ds, wrap(-1), wrap(0)),
    across("read.ss.over_4gb", attempt_read_ss, wrap(-2), wrap(0)),
    reach("write.ds.below", attempt_write_ds, wrap(-4), wrap(0)),
    across("write.ds.over_4gb", attempt_write_ds, wrap(-3), wrap(0)),
    reach("write.ss.below", attempt_write_ss, wrap(-4), wrap(0)),
    // Far from the limit.
    reach("read.ds.above", attempt_read_ds, above, own),
    reach("read.ds.host", attempt_read_ds, host, own),
    reach("read.ds.kernel", attempt_read_ds, kernel, own),
    reach("read.cs.host", attempt_read_cs, host, own),
    reach("write.ds.above", attempt_write_ds, above, own),
    reach("write.ds.host", attempt_write_ds, host, own),
    reach("write.ds.kernel", attempt_write_ds, kernel, own),
    reach("write.es.host", attempt_write_es, host, own),
    // String instructions that begin inside.
    reach("movs.from_over_limit", attempt_movs_from, edge(-16), edge(-64), 64),
    reach("movs.to_over_limit", attempt_movs_to, edge(-64), edge(-256), 64),
    reach("stos.over_limit", attempt_stos, edge(-64), edge(-256), 64),
    reach("lods.over_limit", attempt_lods, edge(-64), edge(-256), 64),
    reach("scas.over_limit", attempt_scas, edge(-64), edge(-256), 256),
    reach("cmps.over_limit", attempt_cmps, edge(-64), edge(-256), 256),
    reach("movs.down_below", attempt_movs_down, wrap(15), wrap(63), 64),
    reach("stos.down_below", attempt_stos_down, wrap(60), wrap(252), 64),
    reach("movs.to_host", attempt_movs_to, host, own, 16),
    reach("movs.from_host", attempt_movs_from, host, own, 64),
    // Stacks at the edge. (Nops name no segment: for that far returns look at as much as one to another level takes.)
    reach("push.below", attempt_push, wrap(0), wrap(4)),
    across("push.over_4gb", attempt_push, wrap(2), wrap(4)),
    reach("push.above", attempt_push, edge(4), edge(0)),
    reach("pop.limit+1", attempt_pop, edge(-3), edge(-4)),
    reach("pop.below", attempt_pop, wrap(-4), wrap(0)),
    reach("pusha.below", attempt_pusha, wrap(28), wrap(32)),
    reach("pusha.above", attempt_pusha, edge(4), edge(0)),
    reach("popa.limit+1", attempt_popa, edge(-31), edge(-32)),
    reach("enter.below", attempt_enter, wrap(0), wrap(4)),
    reach("leave.limit+1", attempt_leave, edge(-3), edge(-4)),
    reach("call.stack_below", attempt_call_with_stack, wrap(0), wrap(4)),
    reach("pushf.below", attempt_pushf, wrap(0), wrap(4)),
    reach("lret.stack_over_limit", attempt_lret_from, edge(-4), edge(-16)),
    reach("iret.stack_over_limit", attempt_iret_from, edge(-8), edge(-20)),
    // Execution beyond the slot.
    reach("jump.limit+1", attempt_jump, edge(0), own),
    reach("jump.above", attempt_jump, above, own),
    reach("jump.below", attempt_jump, wrap(-16), own),
    reach("jump.host", attempt_jump, host, own),
    reach("jump.kernel", attempt_jump, kernel, own),
    reach("call.above", attempt_call, above, own),
    reach("ret.above", attempt_return, above, own),
    reach("lret.above", attempt_far_return, above, own),
    reach("lret.host", attempt_far_return, host, own),
    reach("iret.above", attempt_interrupt_return, above, own),
    reach("iret.host", attempt_interrupt_return, host, own),
    reach("ljmp.above", attempt_far_jump, above, own),
    reach("ljmp.kernel", attempt_far_jump, kernel, own),
    reach("lcall.above", attempt_far_call, above, own),
    reach("run_off_the_end", attempt_jump, edge(-1), own),
    reach("run_over_the_end", attempt_run_over, edge(0), own),
    // A segment with a base of the attacker's choice, upwards and expand-down.
    by_segment("segment.up.limit+1", attempt_read_tls, Segment::up, edge(-3), edge(-4)),
    by_segment("segment.up.write_limit+1", attempt_write_tls, Segment::up, edge(-3), edge(-4)),
    by_segment("segment.up.below", attempt_read_tls, Segment::up, wrap(-4), own),
    by_segment("segment.up.host", attempt_read_tls, Segment::up, host, own),
    by_segment("segment.down.below", attempt_read_tls, Segment::down, wrap(-4), wrap(0)),
    by_segment("segment.down.write_below", attempt_write_tls, Segment::down, wrap(-4), wrap(0)),
    by_segment("segment.down.straddle", attempt_read_tls, Segment::down, wrap(-1), wrap(0)),
    by_segment("segment.down.above", attempt_read_tls, Segment::down, edge(0), wrap(0)),
    by_segment("segment.down.host", attempt_read_tls, Segment::down, host, wrap(0)),
    // Forged selectors.
    forged("load.ds.kernel_data", attempt_load_ds, kernel_data | 3, false),
    forged("load.ds.kernel_data_rpl_0", attempt_load_ds, kernel_data, false),
    forged("load.es.kernel_data", attempt_load_es, kernel_data | 3, false),
    forged("load.fs.kernel_data", attempt_load_fs, kernel_data | 3, false),
    forged("load.gs.kernel_data", attempt_load_gs, kernel_data | 3, false),
    forged("load.ss.kernel_data", attempt_load_ss, kernel_data | 3, false),
    forged("load.ds.kernel_code", attempt_load_ds, kernel_code | 3, false),
    forged("load.ds.task_segment", attempt_load_ds, task | 3, false),
    forged("load.ds.past_gdt", attempt_load_ds, past_gdt | 3, false),
    forged("load.es.past_ldt", attempt_load_es, past_ldt | 3, false),
    forged("load.ss.past_ldt", attempt_load_ss, past_ldt | 3, false),
    forged("pop.ds.kernel_data", attempt_pop_ds, kernel_data | 3, false),
    forged("lds.kernel_data", attempt_lds_selector, kernel_data | 3, false),
    forged("lret.kernel_code", attempt_return_selector, kernel_code, true),
    forged("lret.kernel_code_rpl_3", attempt_return_selector, kernel_code | 3, true),
    forged("lret.past_ldt", attempt_return_selector, past_ldt | 3, true),
    forged("iret.kernel_code", attempt_interrupt_return_selector, kernel_code, true),
    forged("iret.kernel_code_rpl_3", attempt_interrupt_return_selector, kernel_code | 3, true),
    forged("iret.kernel_data", attempt_interrupt_return_selector, kernel_data | 3, true),
    forged("ljmp.kernel_code", attempt_jump_selector, kernel_code, true),
    forged("ljmp.task_segment", attempt_jump_selector, task, true),
    forged("ljmp.past_gdt", attempt_jump_selector, past_gdt | 3, true),
    forged("lcall.kernel_code", attempt_call_selector, kernel_code, true),
    forged("lcall.task_segment", attempt_call_selector, task, true),
    {"load.ss.null", attempt_load_ss, own, Refusal::protection, own, 0, 0, 0, false, true},
    {"load.ds.null", attempt_load_ds, own, Refusal::null, own, 0, 0, 0, false, true},
    {"load.es.null", attempt_load_es, own, Refusal::null, own, 0, 0, 0, false, true},
    {"load.fs.null", attempt_load_fs, own, Refusal::null, own, 0, 0, 0, false, true},
    probe("verr.kernel_data", attempt_verify_read, kernel_data | 3),
    probe("verw.kernel_data", attempt_verify_write, kernel_data | 3),
    probe("lsl.kernel_data", attempt_segment_limit, kernel_data | 3),
    probe("lsl.past_ldt", attempt_segment_limit, past_ldt | 3),
    probe("lar.task_segment", attempt_access_rights, task | 3),
    // Flags, the processor's registers, vectors.
    alone("popf.if_iopl", attempt_popf, Refusal::flags),
    alone("iret.if_iopl", attempt_interrupt_return_flags, Refusal::flags),
    alone("iret.virtual_8086", attempt_virtual_8086, Refusal::flags),
    alone("iret.nested_task", attempt_nested_task, Refusal::task),
    alone("cli", attempt_cli, Refusal::privileged),
    alone("sti", attempt_sti, Refusal::privileged),
    alone("hlt", attempt_hlt, Refusal::privileged),
    alone("clts", attempt_clts, Refusal::privileged),
    alone("invd", attempt_invd, Refusal::privileged),
    alone("wbinvd", attempt_wbinvd, Refusal::privileged),
    alone("lgdt", attempt_lgdt, Refusal::privileged),
    alone("lidt", attempt_lidt, Refusal::privileged),
    alone("lldt", attempt_lldt, Refusal::privileged),
    alone("ltr", attempt_ltr, Refusal::privileged),
    alone("lmsw", attempt_lmsw, Refusal::privileged),
    alone("mov_from_cr3", attempt_read_cr3, Refusal::privileged),
    alone("mov_to_cr3", attempt_write_cr3, Refusal::privileged),
    alone("mov_to_cr0", attempt_write_cr0, Refusal::privileged),
    alone("mov_to_cr4", attempt_write_cr4, Refusal::privileged),
    alone("invlpg", attempt_invlpg, Refusal::privileged),
    alone("rdmsr", attempt_rdmsr, Refusal::privileged),
    alone("wrmsr", attempt_wrmsr, Refusal::privileged),
    alone("sysexit", attempt_sysexit, Refusal::privileged),
    alone("in", attempt_in, Refusal::port),
    alone("int.double_fault", attempt_int_double_fault, Refusal::vector, 8 * 8 + 2),
    alone("int.page_fault", attempt_int_page_fault, Refusal::vector, 14 * 8 + 2),
    alone("int.timer", attempt_int_timer, Refusal::vector, 0x20 * 8 + 2),
    alone("int.none", attempt_int_none, Refusal::vector, 0xFF * 8 + 2),
    {nullptr, nullptr, own, Refusal::value, own, 0, 0, 0, false, false},
};

} // namespace attack
