// SPDX-License-Identifier: BSD-2-Clause
// linux-root: the root server that starts another system's kernel as a user program, the server, gives it memory and
// threads, and is its pager. It trusts nothing that the server says: at worst the server harms itself.
//
// Modules: the server (an ELF executable linked at SERVER_START; its command line, without the first word, is the
// kernel's), then an initial file system. Own options (defaults first):
//   memory=MB         what the server gets; if it is not said half of what the machine has, as far as it fits
//   small=server|all|none
//                     whose spaces are small; of all processes' the kernel decides which
//   slot=256          MB of the server's
//   audit=0|1         at the end a line with what the kernel's books say (cobnut/audit.h)
// The machine ends with what the server says, or with status 2 after one line of what is wrong.
#include "memory.h"
#include "threads.h"

#include <cobnut/audit.h>
#include <cobnut/boot.h>
#include <cobnut/options.h>
#include <cobnut/root.h>

#include <server.h>

namespace {

using Word = L4_Word_t;
using linux_root::Memory, linux_root::Threads;

constexpr int bad_input = 2;
constinit Memory memory;
constinit Threads threads;
constinit bool audited = false;

[[noreturn]] void refuse(const char *what)
{
    cobnut::print("linux-root: %s\n", what);
    cobnut::machine_off(bad_input);
}

/// The end of the machine, as the server asks for it.
[[noreturn]] void end(Word status)
{
    if (audited) {
        const cobnut::Audit a = cobnut::audit();
        cobnut::print("linux-root: audit: %u faults, %u pages, %u objects\n", a.faults, a.pages, a.objects);
    }
    cobnut::machine_off(static_cast<int>(status));
}

/// The text behind the first word.
const char *arguments(const char *line)
{
    while (*line && *line != ' ') line++;
    while (*line == ' ') line++;
    return line;
}

/// Answers a page fault of the server's; false if there is no such page.
bool answer_fault(Word address)
{
    L4_MapItem_t item;
    if (!memory.resolve(address, item)) return false;
    cobnut::load_answer(item);
    return true;
}

/// A fault outside of the server's addresses: if it is the main thread's, the events thread is told.
void report_fault(L4_ThreadId_t from, L4_MsgTag_t tag)
{
    Word words[2];
    L4_StoreMRs(1, 2, words);
    if (from == threads.main()) {
        L4_Set_MsgTag(L4_MsgTag_t{.raw = Word{EVENT_FAULT} << 16 | 3});
        L4_LoadMRs(1, 2, words);
        L4_LoadMR(3, L4_Label(tag) & 7);
        if (L4_IpcSucceeded(L4_Send_Timeout(threads.events(), L4_TimePeriod(1000000)))) return;
    }
    cobnut::print("linux-root: the server has no page at %08x, ip %08x\n", words[0], words[1]);
    cobnut::machine_off(bad_input);
}

/// One call of the server's; true if the message registers hold its answer.
bool serve(L4_MsgTag_t tag)
{
    Word mr[2 + MOST_ALIASES] = {};
    const Word words = L4_UntypedWords(tag);
    if (words > 1 + MOST_ALIASES) return false;
    L4_StoreMRs(1, static_cast<int>(words), mr);
    Word error = 0;
    switch (L4_Label(tag)) {
    case CALL_MAKE_SPACE: error = threads.make_space(L4_ThreadId_t{.raw = mr[0]}, mr[1]); break;
    case CALL_MAKE_THREAD:
        error = threads.make(L4_ThreadId_t{.raw = mr[0]}, L4_ThreadId_t{.raw = mr[1]}, mr[2], mr[3]);
        break;
    case CALL_DELETE_THREAD: error = threads.remove(L4_ThreadId_t{.raw = mr[0]}); break;
    case CALL_ALIAS: return words && memory.load_aliases(mr[0], mr + 1, words - 1);
    case CALL_OFF: end(mr[0]);
    default: return false;
    }
    L4_Set_MsgTag(L4_MsgTag_t{.raw = 1});
    L4_LoadMR(1, error);
    return true;
}

[[noreturn]] void serve_for_ever()
{
    L4_Accept(L4_UntypedWordsAcceptor);
    L4_ThreadId_t from;
    L4_MsgTag_t tag = L4_Wait(&from);
    for (;;) {
        bool answer = false;
        if (L4_IpcSucceeded(tag) && cobnut::is_page_fault(tag)) {
            Word address;
            L4_StoreMR(1, &address);
            answer = answer_fault(address);
            if (!answer) report_fault(from, tag);
        } else if (L4_IpcSucceeded(tag) && from == threads.main()) {
            answer = serve(tag);
        }
        tag = answer ? L4_ReplyWait(from, &from) : L4_Wait(&from);
    }
}

void copy_text(char *to, size_t room, const char *from)
{
    size_t n = 0;
    for (; from[n] && n + 1 < room; n++) to[n] = from[n];
    to[n] = 0;
}

} // namespace

int cobnut_main(const char *command_line)
{
    const cobnut::Options options(command_line);
    bool bad = false;
    const unsigned megabytes = options.number("memory", 0, &bad), slot = options.number("slot", 256, &bad);
    audited = options.number("audit", 0, &bad);
    const cobnut::Text kind = options.find("small");
    const bool all = kind == "all", none = kind == "none", small = !none;
    if (bad || (kind && !all && !none && !(kind == "server"))) refuse("bad option on its command line");
    cobnut::Module server, initrd = {};
    if (!cobnut::boot_module(0, server)) refuse("there is no module with the server");
    cobnut::boot_module(1, initrd);
    if (const char *wrong = memory.load(server, initrd, megabytes, small ? slot : 0)) refuse(wrong);
    server_boot &boot = memory.boot();
    copy_text(boot.command_line, sizeof boot.command_line, arguments(server.command_line));
    if (const char *wrong = threads.start(boot, memory.entry(), memory.stack(), small ? slot : 0, all)) refuse(wrong);
    serve_for_ever();
}
