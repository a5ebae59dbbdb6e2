// SPDX-License-Identifier: BSD-2-Clause
#include "../machine.h"

__asm__(".text\n"
        ".globl x2test_read_at, x2test_write_at, x2test_read_ip, x2test_write_ip, x2test_started, x2test_spin, "
        "x2test_undefined_at\n"
        "x2test_spin: b x2test_spin\n"
        "x2test_undefined_at: .word 0xE7F0A5F5\n"
        "x2test_read_at:\n"
        "x2test_read_ip: ldr r0, [r0]\n"
        "mov pc, lr\n"
        "x2test_write_at:\n"
        "x2test_write_ip: str r1, [r0]\n"
        "mov pc, lr\n"
        "x2test_started:\n"
        "ldr lr, =x2test_registers\n"
        "stmia lr, {r0-r13}\n"
        "mrs r0, cpsr\n"
        "str r0, [lr, #56]\n"
        "b x2test_landing\n"
        ".ltorg\n");

namespace x2test {

extern "C" {
constinit Word x2test_registers[15] = {}; // R0 to R13, CPSR
}

const Test *const groups[] = {
    kip_tests,          sigma0_tests,        ipc_tests,      ipc_error_tests,  fault_tests,     map_tests,
    unmap_tests,        tree_tests,          exregs_tests,   controlled_tests, confined_tests,  thread_tests,
    space_tests,        schedule_tests,      preempt_tests,  redirect_tests,   edge_tests,      string_tests,
    string_fault_tests, string_middle_tests, ipc_rule_tests, map_rule_tests,   size_tests,      long_tests,
    waiting_tests,      exception_tests,     call_tests,     tag_tests,        latency_tests,   open_tests,
    robust_tests,       bus_tests,           copy_tests,     residence_tests,  attribute_tests, megabyte_tests,
    grant_tests,        irq_tests,           nullptr,
};

const char *const left_out[] = {
    // Each UTCB has an address of its own, which no thread can take along to another space, and no two can have.
    "thread.migrates",
    "thread.migrates_while_busy",
    "thread.cannot_migrate",
    "ipc.same_local_id_twice",
    "thread.refused_migration_costs_nothing",
    "long.unmapper_migrates",
    "long.halted_unmapper_migrates",
    "controlled.thread_leaves_meanwhile",
    nullptr,
};

namespace machine {

const Word kernel_area = 0xD0000000;
const Word kernel_address = 0xFFF10000;
const Word memory = COBNUT_RAM_BASE;
const Word kernel_memory = memory + 0x00010000;
const Word shared_memory = 0x10008000; // a device
const Word memory_end = memory ? 0xE0000000 : 0x10000000;
// Interrupt controller, clock, serial line: of the SA-1110 (collie), or of the Versatile board; the latter's secondary
// interrupt controller.
const Word kernel_devices[] = {memory ? 0x90050000 : 0x10140000, memory ? 0x90000000 : 0x101E2000,
                               memory ? 0x80010000 : 0x101F1000, memory ? 0 : 0x10003000, 0};
const bool multiboot = false;
const char *const feature = nullptr;
const Word return_instruction = 0xE1A0F00E; // mov pc, lr
const Word harmless_flags = 0xF0000000;     // N, Z, C, V
const Word harmful_flags = 0x0000008F;      // IRQ mask, mode bits

void forget_start() { x2test_registers[13] = 0; }
Word started_sp() { return x2test_registers[13]; }
bool started_clean()
{
    for (int i = 0; i < 13; i++)
        if (x2test_registers[i]) return false;
    return (x2test_registers[14] & 0xBF) == 0x10; // user mode, interrupts are on, ARM code
}

} // namespace machine
} // namespace x2test
