// SPDX-License-Identifier: BSD-2-Clause
#include "../machine.h"

__asm__(".text\n"
        ".globl x2test_read_at, x2test_write_at, x2test_read_ip, x2test_write_ip, x2test_started, x2test_spin, "
        "x2test_undefined_at\n"
        "x2test_spin: jmp x2test_spin\n"
        "x2test_undefined_at: ud2\n"
        "x2test_read_at: mov 4(%esp), %eax\n"
        "x2test_read_ip: mov (%eax), %eax\n"
        "ret\n"
        "x2test_write_at: mov 4(%esp), %eax; mov 8(%esp), %edx\n"
        "x2test_write_ip: mov %edx, (%eax)\n"
        "ret\n"
        "x2test_started:\n"
        "mov %eax, x2test_registers\n"
        "mov %ecx, x2test_registers + 4\n"
        "mov %edx, x2test_registers + 8\n"
        "mov %ebx, x2test_registers + 12\n"
        "mov %ebp, x2test_registers + 16\n"
        "mov %esi, x2test_registers + 20\n"
        "mov %edi, x2test_registers + 24\n"
        "mov %esp, x2test_registers + 28\n"
        "pushf; popl x2test_registers + 32\n"
        "jmp x2test_landing\n");

namespace x2test {

extern "C" {
constinit Word x2test_registers[9] = {};
}

const Test *const groups[] = {
    kip_tests,      sigma0_tests,       ipc_tests,          ipc_error_tests,     fault_tests,    map_tests,
    unmap_tests,    tree_tests,         exregs_tests,       controlled_tests,    confined_tests, thread_tests,
    space_tests,    schedule_tests,     preempt_tests,      redirect_tests,      irq_tests,      exception_tests,
    control_tests,  coprocessor_tests,  registers_tests,    reflection_tests,    port_tests,     tls_tests,
    debug_tests,    small_tests,        tag_tests,          isolation_tests,     call_tests,     fast_tests,
    edge_tests,     string_tests,       string_fault_tests, string_middle_tests, robust_tests,   ipc_rule_tests,
    map_rule_tests, size_tests,         long_tests,         latency_tests,       waiting_tests,  deletion_tests,
    open_tests,     reflected_tests,    answer_tests,       between_tests,       paged_tests,    gate_tests,
    stretch_tests,  slot_latency_tests, attribute_tests,    gate_segment_tests,  mixed_tests,    nullptr,
};

const char *const left_out[] = {nullptr};

namespace machine {

const Word kernel_area = 0xC0000000;
const Word kernel_address = 0xF0100000;
const Word memory = 0;
const Word kernel_memory = 0x00100000;
const Word shared_memory = 0x000B8000; // the screen
const Word memory_end = 0;
const Word kernel_devices[] = {0};     // it has them by ports
const bool multiboot = true;
const char *const feature = "smallspaces";
const Word return_instruction = 0x0000C3C3; // ret
const Word harmless_flags = 0x00000041;     // ZF, CF
const Word harmful_flags = 0x00027000;      // VM, NT, IOPL 3

void forget_start() { x2test_registers[7] = 0; }
Word started_sp() { return x2test_registers[7]; }
bool started_clean()
{
    for (int i = 0; i < 7; i++)
        if (x2test_registers[i]) return false;
    return (x2test_registers[8] & 0x700) == 0x200; // interrupts are on; no DF, no TF
}

} // namespace machine
} // namespace x2test
