// SPDX-License-Identifier: BSD-2-Clause
#include <cobnut/boot.h>
#include <cobnut/format.h>
#include <cobnut/program.h>
#include <l4/ipc.h>
#include <l4/kdebug.h>

namespace cobnut {
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
