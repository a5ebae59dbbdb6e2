// SPDX-License-Identifier: BSD-2-Clause
// The shell on the serial console. Arguments: commands with ; between them, which it does instead of asking for any.
#include "commands.h"
#include "line.h"

#include <interfaces/console.h>
#include <system/system.h>

#include <cobnut/format.h>
#include <cobnut/payload.h>

namespace shell {
namespace {

constinit cobnut::Session console("console");

class ConsoleTerminal : public Terminal {
    void write(const char *text, size_t size) override { shell::write(text, size); }
};

constinit ConsoleTerminal terminal;
constinit LineEditor editor(terminal);

/// Does what is between the ; of a line; false after `exit`.
bool execute_all(const char *commands, int &code)
{
    char command[LineEditor::most + 1];
    while (*commands) {
        size_t n = 0;
        for (; *commands && *commands != ';'; commands++)
            if (n < LineEditor::most) command[n++] = *commands;
        command[n] = 0;
        if (*commands) commands++;
        if (!execute(command, code)) return false;
    }
    return true;
}

int interact()
{
    print("Cobnut. `help` lists the commands.\n");
    int code = 0;
    editor.begin("> ");
    for (;;) {
        const auto typed = console.call<Console::Read>();
        if (!typed) {
            L4_Sleep(L4_TimePeriod(10000));
            continue;
        }
        for (rpc::Word i = 0; i < typed.value.size; i++) {
            if (!editor.take(typed.value.data[i])) continue;
            if (!execute_all(editor.line(), code)) return code;
            editor.begin("> ");
        }
    }
}

} // namespace

void write(const char *text, size_t size)
{
    while (size) {
        const Console::Text piece(text, size);
        // a driver that has been started again takes it at the second attempt
        for (int attempt = 0; attempt < 3 && !console.call<Console::Write>(piece); attempt++)
            L4_Sleep(L4_TimePeriod(10000));
        text += piece.size;
        size -= piece.size;
    }
}

void print(const char *text, ...)
{
    char line[256];
    va_list arguments;
    va_start(arguments, text);
    const size_t size = cobnut::format(line, sizeof line, text, arguments);
    va_end(arguments);
    write(line, size < sizeof line ? size : sizeof line - 1);
}

} // namespace shell

int cobnut_main(const char *arguments)
{
    int code = 0;
    if (!*arguments) return shell::interact();
    shell::execute_all(arguments, code);
    return code;
}
