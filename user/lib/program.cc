// SPDX-License-Identifier: BSD-2-Clause
#include <cobnut/boot.h>
#include <cobnut/format.h>
#include <cobnut/program.h>
#include <l4/ipc.h>
#include <l4/kdebug.h>

namespace cobnut {
namespace {

constexpr unsigned short qemu_exit_port = 0xF4;  // isa-debug-exit
constexpr unsigned short bochs_off_port = 0x8900; // Bochs and old QEMU: the string "Shutdown" ends the run

void out_byte(unsigned short port, unsigned char value)
{
    __asm__ volatile("outb %0, %1" : : "a"(value), "Nd"(port));
}

} // namespace

void print(const char *text, ...)
{
    char line[256];
    va_list arguments;
    va_start(arguments, text);
    format(line, sizeof line, text, arguments);
    va_end(arguments);
    L4_KDB_PrintString(line);
}

void exit(int code)
{
    for (;;) {
        L4_Set_MsgTag(L4_MsgTag_t{.raw = exit_label << 16 | 1});
        L4_LoadMR(1, static_cast<L4_Word_t>(code));
        L4_Call(L4_Pager());
        L4_Sleep(L4_Never);
    }
}

void machine_off(int code)
{
    out_byte(qemu_exit_port, static_cast<unsigned char>(code));
    for (const char *p = "Shutdown"; *p; p++) out_byte(bochs_off_port, static_cast<unsigned char>(*p));
    for (;;) L4_Sleep(L4_Never);
}

} // namespace cobnut

// The assembly entries in crt0.S come here on the program's stack.
extern "C" [[noreturn]] void cobnut_start_server()
{
    char command_line[512];
    cobnut::own_command_line(command_line, sizeof command_line);
    cobnut::machine_off(cobnut_main(command_line));
}

// sigma0 cannot ask sigma0 for the BootInfo.
extern "C" [[noreturn]] void cobnut_start_sigma0() { cobnut::machine_off(cobnut_main("")); }

extern "C" [[noreturn]] void cobnut_start_payload(const char *command_line)
{
    L4_Set_ExceptionHandler(L4_Pager());
    cobnut::exit(cobnut_main(command_line));
}
