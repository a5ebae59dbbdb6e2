// SPDX-License-Identifier: BSD-2-Clause
// linux-root: the root server that starts another system's kernel as a user program, the server, gives it memory and
// threads, and is its pager. It trusts nothing that the server says: at worst the server harms itself.
//
// The server is a program of a system (docs/systems.md) whose other programs are the drivers of what it uses of the
// machine. What init does for them root does, by init's own code.
//
// Modules: the server (an ELF executable linked at SERVER_START; its command line, without the first word, is the
// kernel's), then an initial file system, then the drivers, as init's modules. Own options (defaults first):
//   memory=MB         what the server gets; if it is not said half of what the machine has, as far as it fits
//   small=server|all|none
//                     whose spaces are small; of all processes' the kernel decides which
//   slot=256          MB of the server's
//   disk=0            MB of memory that outlive the server: its RAM disk
//   width=0 height=0  pixels that the display is to show, if there is a driver for one
//   starts=1          how often the server is started in all: again after a panic, or when it was killed
//   kill=0            kills the server, once, when it has made so many threads for processes; 0: does not
//   later=0           ms after that
//   drop=0            ends the drivers each time that the server has made so many threads for processes; 0: does not
//   audit=0|1         lines with what the kernel's books say (cobnut/audit.h): when a server has gone, and at the end
// The machine ends with what the last server says, or with status 2 after one line of what is wrong.
#include "memory.h"
#include "threads.h"

#include <cobnut/audit.h>
#include <cobnut/boot.h>
#include <cobnut/options.h>
#include <cobnut/root.h>
#include <init/system.h>

#include <server.h>
#include <services.h>

namespace {

using Word = L4_Word_t;
using linux_root::Memory, linux_root::Threads;

constexpr int bad_input = 2;
constexpr unsigned first_driver = 2; // of the modules
constexpr Word drivers_pages = 1024; // of memory, in all, the server's buffers among it
// The server as a program: it makes a thread for each device that it uses, which runs before its main thread.
constexpr char description[] = "server name=linux uses=" SERVICE_DISK "+" SERVICE_NIC "+" SERVICE_DISPLAY
                               "+" SERVICE_INPUT " priority=120 start=0";

constinit Memory memory;
constinit init::System programs;
constinit init::Program *linux_program = nullptr;
constinit Threads threads;
constinit bool audited = false;

/// What the server is started from, as the command line says.
struct {
    cobnut::Module image, initrd;
    unsigned megabytes, disk, slot, starts, width, height;
    bool small_processes;
} constinit server = {};

/// When it is to be killed: `later` ms after it has made so many threads; `at` is that on the kernel's clock, in us.
struct {
    unsigned threads, later;
    L4_Word64_t at;
} constinit doom = {};

/// The drivers are ended after `each` threads for processes, of which there are so many since the last time.
struct {
    unsigned each, threads;
} constinit drop = {};

[[noreturn]] void refuse(const char *what)
{
    cobnut::print("linux-root: %s\n", what);
    cobnut::machine_off(bad_input);
}

/// By which Linux and its programs read the time.
bool counts_ticks()
{
    constexpr Word features = 1, time_stamps = 1 << 4;
    Word a = features, b, c, d;
    __asm__("cpuid" : "+a"(a), "=b"(b), "=c"(c), "=d"(d));
    return d & time_stamps;
}

void print_audit()
{
    if (!audited) return;
    const cobnut::Audit a = cobnut::audit();
    cobnut::print("linux-root: audit: %u faults, %u pages, %u objects\n", a.faults, a.pages, a.objects);
}

/// The text behind the first word.
const char *arguments(const char *line)
{
    while (*line && *line != ' ') line++;
    while (*line == ' ') line++;
    return line;
}

void copy_text(char *to, size_t room, const char *from)
{
    size_t n = 0;
    for (; from[n] && n + 1 < room; n++) to[n] = from[n];
    to[n] = 0;
}

void start_server()
{
    if (const char *wrong =
            memory.load(server.image, server.initrd, server.megabytes, server.disk, server.slot, server.width != 0))
        refuse(wrong);
    if (!linux_program) {
        linux_program = &programs.adopt(description);
        if (!programs.begin(first_driver, drivers_pages)) refuse("a driver's module is not what it should be");
    }
    if (!programs.start_outside(*linux_program, Threads::utcbs(), Threads::servers)) refuse("too little memory");
    server_boot &boot = memory.boot();
    boot.screen_width = server.width;
    boot.screen_height = server.height;
    copy_text(boot.command_line, sizeof boot.command_line, arguments(server.image.command_line));
    if (const char *wrong =
            threads.start(*linux_program, boot, memory.entry(), memory.stack(), server.slot, server.small_processes))
        refuse(wrong);
}

/// After the end of the server, which comes to `status`: it is started again, or that is the machine's end.
void server_ended(Word status)
{
    if (!status || !--server.starts) {
        print_audit();
        cobnut::machine_off(static_cast<int>(status));
    }
    programs.end(*linux_program, static_cast<int>(status));
    threads.end();
    print_audit();
    cobnut::print("linux-root: the server is started again\n");
    start_server();
}

/// How long to wait for a message: until the server is to be ended, or something to be done for a driver.
L4_Time_t patience()
{
    L4_Word64_t wait = programs.busy() ? programs.patience_us() : ~L4_Word64_t{0};
    if (doom.at) {
        const L4_Word64_t now = L4_SystemClock().raw, left = now < doom.at ? doom.at - now : 0;
        if (left < wait) wait = left;
    }
    return wait == ~L4_Word64_t{0} ? L4_Never : wait ? L4_TimePeriod(wait) : L4_ZeroTime;
}

/// Whether that is now; once.
bool is_doomed()
{
    if (!doom.at || L4_SystemClock().raw < doom.at) return false;
    doom = {};
    return true;
}

/// A fault outside of the server's addresses: if it is the main thread's, the events thread is told.
void report_fault(L4_ThreadId_t from, L4_MsgTag_t tag, const Word *words)
{
    if (from == threads.main()) {
        L4_Set_MsgTag(L4_MsgTag_t{.raw = Word{EVENT_FAULT} << 16 | 3});
        L4_LoadMRs(1, 2, words);
        L4_LoadMR(3, L4_Label(tag) & 7);
        if (L4_IpcSucceeded(L4_Send_Timeout(threads.events(), L4_TimePeriod(1000000)))) return;
    }
    cobnut::print("linux-root: the server has no page at %08x, ip %08x\n", words[0], words[1]);
    server_ended(bad_input);
}

/// Answers a page fault of the server's; false if there is no such page.
bool answer_fault(L4_ThreadId_t from, L4_MsgTag_t tag)
{
    Word words[2];
    L4_StoreMRs(1, 2, words);
    const bool write = L4_Label(tag) & L4_Writable;
    L4_MapItem_t item;
    if (!memory.resolve(words[0], item) && !programs.resolve(*linux_program, words[0], write, item) &&
        !memory.resolve_screen(words[0], item)) {
        report_fault(from, tag, words);
        return false;
    }
    cobnut::load_answer(item);
    return true;
}

/// Another thread for a process: what is to happen after so many of them.
void count_thread()
{
    if (doom.threads && !--doom.threads) doom.at = L4_SystemClock().raw + doom.later * 1000u;
    if (!drop.each || ++drop.threads < drop.each) return;
    drop.threads = 0;
    rpc::Client client{threads.main(), linux_program->number()};
    static constexpr const char *services[] = {SERVICE_DISK, SERVICE_NIC, SERVICE_DISPLAY, SERVICE_INPUT};
    for (const char *service : services) {
        const auto driver = programs.handle(init::Open{}, client, service);
        if (driver) programs.end(*programs.owner({.raw = driver.value}), bad_input);
    }
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
        count_thread();
        break;
    case CALL_DELETE_THREAD: error = threads.remove(L4_ThreadId_t{.raw = mr[0]}); break;
    case CALL_ALIAS: return words && memory.load_aliases(mr[0], mr + 1, words - 1);
    case CALL_OFF: server_ended(mr[0]); return false;
    default: return false;
    }
    L4_Set_MsgTag(L4_MsgTag_t{.raw = 1});
    L4_LoadMR(1, error);
    return true;
}

/// A message of one of the server's threads, or for one of them from the kernel; true if there is an answer.
bool serve_linux(L4_ThreadId_t from, L4_MsgTag_t tag)
{
    constexpr Word first_of_kernel = 0x8000;
    const Word label = L4_Label(tag);
    if (cobnut::is_page_fault(tag)) return answer_fault(from, tag);
    if (label >= CALL_FIRST && label <= CALL_LAST) return from == threads.main() && serve(tag);
    if (label >= first_of_kernel && label != init::quantum_label) return false;
    return programs.serve(*linux_program, from, tag);
}

[[noreturn]] void serve_for_ever()
{
    L4_Accept(L4_UntypedWordsAcceptor);
    L4_ThreadId_t from = L4_nilthread;
    for (bool answer = false;;) {
        const bool ends = is_doomed();
        if (ends || programs.busy()) {
            if (answer) L4_Reply(from);
            answer = false;
            if (ends) server_ended(bad_input);
            programs.attend();
        }
        const L4_Time_t wait = patience();
        const L4_MsgTag_t tag = answer ? L4_ReplyWait_Timeout(from, wait, &from) : L4_Wait_Timeout(wait, &from);
        answer = false;
        if (L4_IpcFailed(tag)) continue;
        init::Program *const program = programs.owner(from);
        if (program == linux_program) answer = serve_linux(from, tag);
        else if (program) answer = programs.serve(*program, from, tag);
    }
}

} // namespace

int cobnut_main(const char *command_line)
{
    const cobnut::Options options(command_line);
    bool bad = false;
    server.megabytes = options.number("memory", 0, &bad);
    server.disk = options.number("disk", 0, &bad);
    server.starts = options.number("starts", 1, &bad);
    server.slot = options.number("slot", 256, &bad);
    server.width = options.number("width", 0, &bad);
    server.height = options.number("height", 0, &bad);
    doom.threads = options.number("kill", 0, &bad);
    doom.later = options.number("later", 0, &bad);
    drop.each = options.number("drop", 0, &bad);
    audited = options.number("audit", 0, &bad);
    const cobnut::Text kind = options.find("small");
    server.small_processes = kind == "all";
    if (bad || !server.starts || (kind && !server.small_processes && !(kind == "none") && !(kind == "server")))
        refuse("bad option on its command line");
    if (!counts_ticks()) refuse("the processor has no time-stamp counter");
    if (kind == "none") server.slot = 0;
    if (!cobnut::boot_module(0, server.image)) refuse("there is no module with the server");
    cobnut::boot_module(1, server.initrd);
    print_audit();
    start_server();
    serve_for_ever();
}
