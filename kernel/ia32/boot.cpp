// SPDX-License-Identifier: BSD-2-Clause
// The order of the boot: console, processor, page tables, boot loader's work, kernel memory, interface page, servers.
#include "core/arch.hpp"
#include "core/initial_servers.hpp"
#include "core/kip.hpp"
#include "core/memory.hpp"
#include "core/print.hpp"
#include "core/string.hpp"
#include "core/trace.hpp"
#include "ia32/board.hpp"
#include "ia32/coprocessor.hpp"
#include "ia32/cpu.hpp"
#include "ia32/descriptors.hpp"
#include "ia32/hosts.hpp"
#include "ia32/loader.hpp"
#include "ia32/page_tables.hpp"
#include "ia32/small_space.hpp"
#include "slots/policy.hpp"

extern "C" {
extern char kernel_image[], kernel_image_end[], trampoline_code[], trampoline_code_end[];
extern Word utcb_word[];
void sysenter_fast();
void int_fast();
void leave_sysenter();
void leave_int();
extern char stub_ipc_sysenter[], stub_ipc_int[], stub_thread_switch[], stub_schedule[], stub_unmap[],
    stub_exchange_registers[], stub_thread_control[], stub_space_control[], stub_processor_control[],
    stub_memory_control[], stub_tls_control[];
}

namespace cpu {

Features features;

// A coprocessor, if present, has a status of 0 after its reset.
bool answers_fninit() {
    write_cr0(read_cr0() & ~(cr0_emulate | cr0_task_switched));
    std::uint16_t status = 0x5a5a;
    asm volatile("fninit\n\tfnstsw %0" : "+m"(status));
    return status == 0;
}

// Processors without cpuid cannot change the ID flag; the 486 had few features to tell.
Features detect() {
    constexpr Word id_flag = 1u << 21;
    Word before, after;
    asm volatile("pushf\n\tpop %0\n\tmov %0, %1\n\txor %2, %1\n\tpush %1\n\tpopf\n\tpushf\n\tpop %1"
        : "=&r"(before), "=&r"(after)
        : "i"(id_flag));
    Features old{};
    old.coprocessor = answers_fninit();
    if (!((before ^ after) & id_flag)) return old;
    Word a = 0, b, c, d;
    asm volatile("cpuid" : "+a"(a), "=b"(b), "=c"(c), "=d"(d));
    if (a < 1) return old;
    a = 1;
    asm volatile("cpuid" : "+a"(a), "=b"(b), "=c"(c), "=d"(d));
    // The first Pentium Pro announces sysenter and has none (processor manual, SYSENTER).
    bool early_p6 = (a >> 8 & 0xf) == 6 && (a & 0xff) < 0x33;
    return {
        .tsc = bool(d & 1u << 4),
        .large_pages = bool(d & 1u << 3),
        .global_pages = bool(d & 1u << 13),
        .sysenter = d & 1u << 11 && !early_p6,
        .coprocessor = bool(d & 1u << 0),
        .fxsave = bool(d & 1u << 24),
        .sse = bool(d & 1u << 25),
        .pat = bool(d & 1u << 16),
    };
}

}  // namespace cpu

namespace {

// int3 but for the trampoline: the page is the users' to execute.
void map_trampoline() {
    alignas(page_size) static unsigned char page[page_size];
    memset(page, 0xcc, page_size);
    memcpy(page + (TRAMPOLINE - TRAMPOLINE_PAGE), trampoline_code,
        static_cast<Word>(trampoline_code_end - trampoline_code));
    page_tables::map_fixed(TRAMPOLINE_PAGE, physical(page), page_tables::present | page_tables::user);
}

void write_interface_page(bool sysenter) {
    kip::Kip& k = kip::kip;
    k.ipc = k.lipc = kip::offset(sysenter ? stub_ipc_sysenter : stub_ipc_int);
    k.unmap = kip::offset(stub_unmap);
    k.exchange_registers = kip::offset(stub_exchange_registers);
    k.thread_switch = kip::offset(stub_thread_switch);
    k.schedule = kip::offset(stub_schedule);
    k.thread_control = kip::offset(stub_thread_control);
    k.space_control = kip::offset(stub_space_control);
    k.processor_control = kip::offset(stub_processor_control);
    k.memory_control = kip::offset(stub_memory_control);
    k.arch_syscall[0] = kip::offset(stub_tls_control);
    bool room = kip::describe(kip::reserved, physical(kernel_image), physical(kernel_image_end) - 1) &&
                kip::describe(kip::conventional | kip::virtual_memory, 0, paging::user_limit() - 1);
    if (!room) arch::stop("the memory map is too long");
}

// The kernel's memory is the range that the loader has reserved for it.
void take_memory() {
    for (Word i = 0; i < kip::descriptor_count(); ++i) {
        kip::MemoryDescriptor d = kip::descriptors()[i];
        if (d.is_virtual() || d.type() != kip::reserved || d.first() >= WINDOW_BYTES) continue;
        if (d.first() < physical(kernel_image_end) && d.last() >= physical(kernel_image)) continue;
        memory::add(d.first(), d.last() >= WINDOW_BYTES ? WINDOW_BYTES - 1 : d.last());
    }
    if (memory::pages_total() < 64) arch::stop("too little kernel memory: less than 256 KB");
}

}  // namespace

extern "C" void boot_main(Word magic, PAddr multiboot_info) {
    board::initialise_console();
    cpu::features = cpu::detect();
    loader::Options options = loader::options(magic, multiboot_info);
    if (!options.sysenter) cpu::features.sysenter = false;
    small_space::initialise(options.small_area_mb);
    slots::rules = {options.automatic, options.groups};
    hosts::eager = !options.lazy_revocation;
    if (!loader::page_is_patched()) loader::load(magic, multiboot_info, options.kernel_memory_kb);

    page_tables::initialise();
    map_trampoline();
    page_tables::map_fixed(UTCB_WORD_PAGE, physical(utcb_word), page_tables::present | page_tables::user);
    bool fast_path = options.fast_path && !options.trace_kb;
    if (fast_path) processor.leave = cpu::features.sysenter ? leave_sysenter : leave_int;
    descriptors::initialise(fast_path && !cpu::features.sysenter ? int_fast : nullptr);
    if (cpu::features.sysenter) {
        cpu::wrmsr(cpu::msr_sysenter_cs, KERNEL_CODE);
        cpu::wrmsr(cpu::msr_sysenter_esp, reinterpret_cast<Word>(&processor.esp0));
        cpu::wrmsr(cpu::msr_sysenter_eip, reinterpret_cast<Word>(sysenter_fast));
    }
    coprocessor::initialise();
    // The lower half as after a reset; write-combining and write-protected at the ends of the upper one.
    if (cpu::features.pat) cpu::wrmsr(cpu::msr_pat, 0x00070406, 0x05070401);

    take_memory();
    page_tables::initialise_thread_table();
    write_interface_page(cpu::features.sysenter);
    board::initialise();
    clock::initialise();
    if (options.trace_kb) trace::initialise(options.trace_kb);

    print("Cobnut: ", memory::pages_total() / 256, " MB kernel memory, small-space area ", options.small_area_mb,
        " MB, IPC by ", cpu::features.sysenter ? "sysenter" : "int", cpu::features.global_pages ? ", global pages" : "",
        "\n");
    initial_servers::start();
}
