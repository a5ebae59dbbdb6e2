// SPDX-License-Identifier: BSD-2-Clause
// A file of its own: only programs that use it have it linked in, so that it changes no measured program's layout.
#include <cobnut/format.h>
#include <cobnut/payload.h>
#include <l4/ipc.h>
#include <l4/kdebug.h>

int cobnut_printf(const char *text, ...)
{
    char line[256];
    va_list arguments;
    va_start(arguments, text);
    const size_t size = cobnut::format(line, sizeof line, text, arguments);
    va_end(arguments);
    L4_KDB_PrintString(line);
    return static_cast<int>(size);
}

L4_ThreadId_t cobnut_find(const char *name)
{
    constexpr size_t room = COBNUT_NAME_WORDS * sizeof(L4_Word_t);
    union {
        char text[room];
        L4_Word_t words[COBNUT_NAME_WORDS];
    } message = {};
    size_t size = 0;
    for (; name[size]; size++) {
        if (size + 1 == room) return L4_nilthread;
        message.text[size] = name[size];
    }
    const L4_Word_t words = size / sizeof(L4_Word_t) + 1;
    L4_Set_MsgTag(L4_MsgTag_t{.raw = L4_Word_t{COBNUT_FIND_LABEL} << 16 | words});
    L4_LoadMRs(1, static_cast<int>(words), message.words);
    if (L4_IpcFailed(L4_Call(L4_Pager()))) return L4_nilthread;
    L4_ThreadId_t found;
    L4_StoreMR(1, &found.raw);
    return found;
}
