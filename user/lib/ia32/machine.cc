// SPDX-License-Identifier: BSD-2-Clause
#include <cobnut/program.h>
#include <l4/ipc.h>

namespace cobnut {
namespace {

constexpr unsigned short qemu_exit_port = 0xF4;  // isa-debug-exit
constexpr unsigned short bochs_off_port = 0x8900; // Bochs and old QEMU: the string "Shutdown" ends the run

void out_byte(unsigned short port, unsigned char value) { __asm__ volatile("outb %0, %1" : : "a"(value), "Nd"(port)); }

} // namespace

void machine_off(int code)
{
    out_byte(qemu_exit_port, static_cast<unsigned char>(code));
    for (const char *p = "Shutdown"; *p; p++) out_byte(bochs_off_port, static_cast<unsigned char>(*p));
    for (;;) L4_Sleep(L4_Never);
}

} // namespace cobnut
