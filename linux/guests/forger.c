// SPDX-License-Identifier: GPL-2.0
/*
 * A program that knows the microkernel: it forges faults, events and calls to all threads that may
 * exist, and uses the microkernel's system calls and debug console itself. A child makes each
 * attempt, and each line is one check: the child ends as it would natively, or by a signal, and all
 * other processes go on.
 *
 * Without a C library, since that would put its own segment where the UTCB is found:
 *   gcc -m32 -static -nostdlib -ffreestanding -I user -I user/include -I linux/root ...
 */
#include <l4/ipc.h>
#include <l4/kip.h>
#include <l4/schedule.h>
#include <l4/space.h>
#include <server.h>

enum {
    NR_EXIT = 1,
    NR_FORK,
    NR_WRITE = 4,
    NR_WAITPID = 7,
    NR_GETPID = 20,
    NR_KILL = 37,
    NR_MUNMAP = 91,
    NR_NANOSLEEP = 162,
    NR_MMAP2 = 192,
    NR_ALARM = 27
};
enum { SIGILL = 4, SIGTRAP = 5, SIGKILL = 9, SIGSEGV = 11, SIGALRM = 14, SIGSYS = 31, WNOHANG = 1 };

#define X2_EXCEPTION 0xFFB0
#define X2_PAGE_FAULT 0xFFE6
#define X2_PORT_FAULT 0xFF86
#define STUBS 0x4000 /* where the layer for small spaces has its code */
#define EXITED(n) (0x100 | (n))
#define REFUSED EXITED(7)
#define PAGE 4096u

static long call(long number, long a, long b, long c, long d)
{
    long result;

    asm volatile("int $0x80" : "=a"(result) : "0"(number), "b"(a), "c"(b), "d"(c), "S"(d) : "memory");
    return result;
}

static void say(const char *text)
{
    unsigned int length = 0;

    while (text[length]) length++;
    call(NR_WRITE, 1, (long)text, length, 0);
}

static void say_number(unsigned int n)
{
    static char text[9];
    int i;

    for (i = 0; i < 8; i++, n <<= 4) text[i] = "0123456789abcdef"[n >> 28];
    say(text);
}

static void leave(int status)
{
    for (;;) call(NR_EXIT, status, 0, 0, 0);
}

static void sleep_ms(int ms)
{
    long time[2] = {0, ms * 1000000l};

    call(NR_NANOSLEEP, (long)time, 0, 0, 0);
}

static int failed;

/* How a child ended: EXITED(status), or its signal; one that does not end in time is killed. */
static int end_of(long pid)
{
    int status = 0, i;

    for (i = 0; i < 60; i++) {
        if (call(NR_WAITPID, pid, (long)&status, WNOHANG, 0) == pid)
            return status & 0x7F ? status & 0x7F : EXITED(status >> 8 & 0xFF);
        sleep_ms(5);
    }
    call(NR_KILL, pid, SIGKILL, 0, 0);
    call(NR_WAITPID, pid, (long)&status, 0, 0);
    return status & 0x7F;
}

typedef void attempt(L4_Word_t, L4_Word_t);

static int try(attempt *what, L4_Word_t x, L4_Word_t y)
{
    long pid = call(NR_FORK, 0, 0, 0, 0);

    if (pid) return end_of(pid);
    call(NR_ALARM, 2, 0, 0, 0);
    what(x, y);
    leave(0);
    return 0;
}

static void check(const char *name, int got, int one, int other)
{
    const int good = got == one || got == other;

    say(good ? "ok: " : "FAIL: ");
    say(name);
    if (!good) {
        say(" ended with ");
        say_number(got);
        failed++;
    }
    say("\n");
}

/*
 * Ids that threads may have: of interrupts, the initial servers, and threads that these have made. The first one would
 * be the number of a call by sysenter.
 */
static L4_ThreadId_t id_of(int n)
{
    const L4_Word_t base = L4_ThreadIdUserBase((void *)__L4_Kip_Base());

    return n < 16 ? L4_GlobalId(n + 1, 1) : L4_GlobalId(base + n - 16, 1);
}
#define IDS 24

static void forge(L4_Word_t to, L4_Word_t label)
{
    L4_Word_t words[12] = {0x1234, 'F', 1, 2, 3, 4, 5, 6, 7, 8, 9, 10};

    L4_LoadMRs(1, 12, words);
    L4_Set_MsgTag((L4_MsgTag_t){.raw = label << 16 | 12});
    leave(L4_IpcFailed(L4_Call(id_of(to))) ? 7 : 0);
}

static void forge_to_all(void)
{
    static const L4_Word_t labels[] = {EVENT_FAULT,        EVENT_CHARACTER, 0x0E01,        0x0E02,        CALL_OFF,
                                       CALL_DELETE_THREAD, X2_EXCEPTION,    X2_PAGE_FAULT, X2_PORT_FAULT, 0};
    int n, i, bad = 0;

    for (i = 0; i < (int)(sizeof(labels) / sizeof(*labels)); i++)
        for (n = 0; n < IDS; n++) {
            int end = try(forge, n, labels[i]);

            if (end == SIGSYS || end == REFUSED) continue;
            say_number(labels[i] << 16 | n);
            say(" ended with ");
            say_number(end);
            say("\n");
            bad = 1;
        }
    check("messages to everybody", bad, 0, 0);
}

/* Forges a fault at a page of its own, to have the page mapped elsewhere, too. */
static void steal(L4_Word_t n, L4_Word_t unused)
{
    L4_ThreadId_t from;
    char *page = (char *)call(NR_MMAP2, 0, PAGE, 3, 0x22), *elsewhere = page + 0x100000;

    page[0] = 1;
    L4_Accept(L4_MapGrantItems(L4_FpageLog2((L4_Word_t)elsewhere, 12)));
    L4_LoadMR(1, (L4_Word_t)page);
    L4_LoadMR(2, (L4_Word_t)steal);
    L4_Set_MsgTag((L4_MsgTag_t){.raw = (L4_Word_t)X2_PAGE_FAULT << 16 | 2});
    if (L4_IpcFailed(L4_Ipc(id_of(n), L4_anythread, L4_Timeouts(L4_Never, L4_Never), &from))) leave(7);
    call(NR_MUNMAP, (long)page, PAGE, 0, 0);
    leave(elsewhere[0] + 40);
}

static void handlers(L4_Word_t n, L4_Word_t what)
{
    L4_Set_Pager(n == 99 ? L4_nilthread : id_of(n));
    L4_Set_ExceptionHandler(n == 99 ? L4_nilthread : id_of(n));
    if (what) asm volatile("ud2");
    *(volatile char *)0x100 = 1;
}

static void handlers_of_all(void)
{
    int n, what, bad = 0;

    for (what = 0; what < 2; what++)
        for (n = 16; n <= IDS; n++) {
            const int end = try(handlers, n == IDS ? 99 : n, what);

            if (end != (what ? SIGILL : SIGSEGV) && end != SIGALRM && end != SIGKILL) {
                say_number(n);
                say(" ended with ");
                say_number(end);
                say("\n");
                bad = 1;
            }
        }
    check("others for handlers", bad, 0, 0);
}

static volatile int counter;
static char counters_stack[PAGE];

static void count(void)
{
    for (;;) counter++;
}

/* The space's first thread, which Linux does not know, and all others that may be there. */
static void resume(L4_Word_t unused, L4_Word_t unused_too)
{
    const L4_Word_t own = L4_MyLocalId().raw, area = own & -0x8000ul;
    int i, done = 0;

    for (i = 0; i < 64; i++) {
        L4_Word_t v[6] = {0x11E, (L4_Word_t)counters_stack + PAGE, (L4_Word_t)count, 0x202, 0, 0};
        const L4_Word_t id = own - area > 64 * 512 ? 0 : area + (own & 511) + i * 512;

        if (id != own && __L4_Raw_ExchangeRegisters(id, v)) done++;
    }
    sleep_ms(30);
    leave(done || counter ? 1 : 7);
}

static void schedule(L4_Word_t n, L4_Word_t unused)
{
    const L4_ThreadId_t id = n == IDS ? L4_Myself() : id_of(n);

    L4_ThreadSwitch(id);
    leave(L4_Set_Priority(id, 255) || L4_Set_Timeslice(id, L4_Never, L4_Never) ? 1 : 7);
}

static void schedule_all(void)
{
    int n, bad = 0;

    for (n = 0; n <= IDS; n++) bad |= try(schedule, n, 0) != REFUSED;
    check("Schedule and ThreadSwitch", bad, 0, 0);
}

static void privileged(L4_Word_t unused, L4_Word_t unused_too)
{
    const L4_Word_t attributes[4] = {0}, id = id_of(18).raw;
    L4_Word_t control = 0, utcb = 0, did = 0;

    did |= __L4_Raw_ThreadControl(id, 0, 0, 0, ~0ul);
    did |= __L4_Raw_ThreadControl(L4_Myself().raw, id, id, id, ~0ul) << 1;
    did |= __L4_Raw_SpaceControl(id, &control, 0, &utcb, ~0ul) << 2;
    control = 1u << 31 | 1u << 28 | 5;
    did |= __L4_Raw_SpaceControl(L4_Myself().raw, &control, 0, &utcb, 0) << 3;
    did |= __L4_Raw_ProcessorControl(0, 0, 0, 0) << 4;
    did |= __L4_Raw_MemoryControl(0, attributes) << 5;
    leave(did ? 1 : 7);
}

static void unmap(L4_Word_t flush, L4_Word_t unused)
{
    L4_LoadMR(0, L4_CompleteAddressSpace.raw | 7);
    L4_Unmap(flush);
    counter++;
    leave(counter == 1 ? 7 : 1);
}

static void preemption(L4_Word_t unused, L4_Word_t unused_too)
{
    *__L4_PreemptFlags() = 0xE0;
    count();
}

/* All that its UTCB has, and those of others: handlers, flags, message registers. */
static void own_utcb(L4_Word_t value, L4_Word_t unused)
{
    volatile L4_Word_t *utcb = (volatile L4_Word_t *)(L4_MyLocalId().raw & -512ul);
    int i;

    for (i = 0; i < 128; i++) utcb[i] = value;
    call(NR_GETPID, 0, 0, 0, 0);
    leave(7);
}

static void stub(L4_Word_t offset, L4_Word_t cx)
{
    asm volatile("call *%0" : : "r"(STUBS + offset), "a"(0x33), "c"(cx) : "memory");
}

static void debug_call(L4_Word_t which, L4_Word_t unused)
{
    switch (which) {
    case 0: asm volatile("int3; cmp $0, %%al" : : "a"('!')); break;
    case 1: asm volatile("int3; cmp $1, %%al" : : "a"("FORGED\n")); break;
    case 2: asm volatile("int3; cmp $8, %%al" : : : "eax"); break;
    case 3: asm volatile("int3; cmp $0xd, %%al" : : : "eax"); break;
    default: asm volatile("int3; jmp 1f; mov %0, %%eax; 1:" : : "i"("FORGED\n") : "eax");
    }
}

static void port(L4_Word_t number, L4_Word_t read)
{
    if (read) asm volatile("inb %w0, %%al" : : "d"(number) : "eax");
    else asm volatile("outb %%al, %w0" : : "d"(number), "a"('!'));
}

static void bare_call(L4_Word_t ax, L4_Word_t unused)
{
    asm volatile("mov %%esp, %%ebp; mov %0, %%eax; sysenter" : : "r"(ax) : "eax", "memory");
}

static void tls(L4_Word_t n, L4_Word_t base)
{
    L4_Registers_t r = {n == IDS ? L4_Myself().raw : id_of(n).raw, base, 0, 0, 0, 0, 0};

    __L4_Call_Stub(0x110, &r);
    leave(r.eax ? 1 : 7);
}

static void all_of(const char *name, attempt *what, int count_of, L4_Word_t y, int one, int other)
{
    int n, got, worst = one;

    for (n = 0; n < count_of; n++) {
        got = try(what, n, y);
        if (got != one && got != other) worst = got;
    }
    check(name, worst, one, other);
}

void _start(void)
{
    asm("" : : : "memory");
    all_of("a page by a forged fault", steal, IDS, 0, SIGSYS, REFUSED);
    forge_to_all();
    handlers_of_all();
    check("threads of its own", try(resume, 0, 0), REFUSED, REFUSED);
    schedule_all();
    check("privileged calls", try(privileged, 0, 0), REFUSED, REFUSED);
    check("Unmap of all it has given", try(unmap, 0, 0), REFUSED, REFUSED);
    check("Unmap of all it has", try(unmap, 0x40, 0), REFUSED, REFUSED);
    check("no preemption", try(preemption, 0, 0), SIGKILL, SIGSYS);
    check("its UTCB: 0", try(own_utcb, 0, 0), REFUSED, SIGKILL);
    check("its UTCB: ones", try(own_utcb, ~0ul, 0), REFUSED, SIGKILL);
    all_of("stubs", stub, 0x60, 0x100, SIGSEGV, SIGALRM);
    all_of("the debug console", debug_call, 5, 0, SIGTRAP, SIGTRAP);
    check("writing to the console's port", try(port, 0x3F8, 0), SIGSEGV, SIGSEGV);
    check("reading the console's port", try(port, 0x3FD, 1), SIGSEGV, SIGSEGV);
    check("the keyboard's port", try(port, 0x60, 1), SIGSEGV, SIGSEGV);
    check("sysenter to root", try(bare_call, id_of(17).raw, 0), SIGSYS, SIGSEGV);
    all_of("others' segments", tls, IDS, 0x10000000, REFUSED, REFUSED);
    check("a segment in the kernel", try(tls, IDS, 0xF0000000), REFUSED, REFUSED);
    say(failed ? "forger: failed\n" : "forger: all is as before\n");
    leave(failed != 0);
}
