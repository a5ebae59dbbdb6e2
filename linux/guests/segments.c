// SPDX-License-Identifier: GPL-2.0
// Segments of a program's own: by set_thread_area and modify_ldt, behind FS beside glibc's behind GS.
#define _GNU_SOURCE
#include <asm/ldt.h>
#include <errno.h>
#include <pthread.h>
#include <setjmp.h>
#include <signal.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>
#include "check.h"

enum { THREADS = 4, TURNS = 200, IN_LDT = 7, OWN = 3 };

static __thread int own = 1;
static int words[THREADS + 1][16];

static struct user_desc segment(int number, const void *base)
{
    return (struct user_desc){.entry_number = number,
                              .base_addr = (unsigned long)base,
                              .limit = 0xFFFFF,
                              .seg_32bit = 1,
                              .limit_in_pages = 1,
                              .useable = 1};
}

static long write_ldt(int function, struct user_desc s) { return syscall(SYS_modify_ldt, function, &s, sizeof s); }

static void load_fs(unsigned int selector) { __asm__ volatile("mov %w0, %%fs" : : "r"(selector)); }

static int at_fs(int offset)
{
    int found;
    __asm__ volatile("mov %%fs:(%1), %0" : "=r"(found) : "r"(offset));
    return found;
}

static void to_fs(int offset, int value)
{
    __asm__ volatile("mov %1, %%fs:(%0)" : : "r"(offset), "r"(value) : "memory");
}

/* Both segments by turns: how often one of them was wrong. */
static int turns(int n)
{
    int i, wrong = 0;

    for (i = 0; i < TURNS; i++) {
        to_fs(4, i);
        own = i + n;
        wrong += at_fs(4) != i || words[n][1] != i || at_fs(8) != 100 + n || own != i + n;
    }
    return wrong;
}

static void by_thread_area(void)
{
    struct user_desc s = segment(-1, words[0]), more;
    long first = syscall(SYS_set_thread_area, &s);
    unsigned int number = s.entry_number, selector;
    int status;

    CHECK("a second segment of the thread's own", first == 0 && number < 64);
    words[0][2] = 100;
    load_fs(number << 3 | 3);
    CHECK("both by turns", turns(0) == 0);
    more.entry_number = number;
    CHECK("it can be read", syscall(SYS_get_thread_area, &more) == 0 && more.base_addr == (unsigned long)words[0]);
    s = segment(number, words[0] + 2);
    syscall(SYS_set_thread_area, &s);
    __asm__ volatile("pushl %0; popl %%fs" : : "r"(number << 3 | 3));
    s.seg_32bit = 0;
    CHECK("a wrong one is refused", syscall(SYS_set_thread_area, &s) < 0 && errno == EINVAL);
    CHECK("and moved", at_fs(0) == 100);
    s = segment(number, words[0]);
    syscall(SYS_set_thread_area, &s);
    selector = number << 3 | 3;
    __asm__ volatile("movw %0, %%fs" : : "m"(selector));
    s = segment(-1, words[1]);
    more = segment(-1, words[1]);
    CHECK("there are three and no more",
          syscall(SYS_set_thread_area, &s) == 0 && syscall(SYS_set_thread_area, &more) < 0 && errno == ESRCH);
    if (!fork()) _exit(turns(0) != 0);
    wait(&status);
    CHECK("a child has them, too", status == 0 && turns(0) == 0);
}

static volatile int handled;
static void on_signal(int signal) { handled = at_fs(8) == 100 && own == 5; }

static void in_handlers(void)
{
    struct sigaction a = {.sa_handler = on_signal};

    sigaction(SIGUSR1, &a, NULL);
    own = 5;
    at_fs(8);
    raise(SIGUSR1);
    CHECK("a handler has both", handled && at_fs(8) == 100 && own == 5);
}

/* The word at GS:0, where glibc has the thread pointer. */
static unsigned long thread_pointer(void)
{
    unsigned long found;
    __asm__ volatile("mov %%gs:0, %0" : "=r"(found));
    return found;
}

static void on_another(int signal)
{
    load_fs(9 << 3 | IN_LDT);
    handled = at_fs(8) == 100;
}

static sigjmp_buf out;
static void get_out(int signal) { siglongjmp(out, 1); }

/* A call without glibc's way to it, which is behind GS. */
static void call(int number, long first, const void *second, long third)
{
    __asm__ volatile("int $0x80" : "+a"(number) : "b"(first), "c"(second), "d"(third) : "memory");
}

/* Where FS has no segment any more, or one without memory, GS is what it was. */
static void out_of_turn(void)
{
    const struct user_desc nowhere = segment(9, (void *)0xF0000000);
    const unsigned long pointer = thread_pointer();
    int status, fine;

    words[0][2] = 100;
    own = 5;
    if (!fork()) {
        const pid_t self = getpid();
        write_ldt(0x11, segment(9, words[0]));
        signal(SIGUSR1, on_another);
        handled = 0;
        call(SYS_kill, self, (void *)SIGUSR1, 0);
        fine = thread_pointer() == pointer;
        _exit(!(handled && fine && own == 5));
    }
    wait(&status);
    CHECK("a handler has one that the program has not", status == 0);
    if (!fork()) {
        write_ldt(0x11, nowhere);
        signal(SIGSEGV, get_out); /* not every kernel lets it be loaded */
        if (!sigsetjmp(out, 1)) load_fs(9 << 3 | IN_LDT);
        _exit(!(thread_pointer() == pointer && own == 5));
    }
    wait(&status);
    CHECK("a segment without memory", status == 0);
    if (!fork()) {
        write_ldt(0x11, segment(9, words[0]));
        load_fs(9 << 3 | IN_LDT);
        fine = at_fs(8) == 100;
        call(SYS_modify_ldt, 0x11, &nowhere, sizeof nowhere);
        fine &= thread_pointer() == pointer;
        _exit(!(fine && own == 5));
    }
    wait(&status);
    CHECK("the one in turn is taken away", status == 0);
}

static void *thread(void *argument)
{
    const int n = (int)(long)argument;
    int wrong;

    words[n][2] = 100 + n;
    write_ldt(0x11, segment(n, words[n]));
    load_fs((unsigned)n << 3 | IN_LDT);
    wrong = turns(n);
    sched_yield();
    return (void *)(long)(wrong + turns(n));
}

static void by_ldt(void)
{
    pthread_t started[THREADS];
    unsigned char table[8 * (THREADS + 2)];
    long n, wrong = 0, status;
    int exited;

    CHECK("of no table nothing is read", syscall(SYS_modify_ldt, 0, table, sizeof table) == 0);
    for (n = 0; n < THREADS; n++) pthread_create(&started[n], NULL, thread, (void *)(n + 1));
    for (n = 0; n < THREADS; n++) {
        void *result;
        pthread_join(started[n], &result);
        wrong += (long)result;
    }
    CHECK("threads have theirs in the process's table", wrong == 0);
    memset(table, 0xFF, sizeof table);
    status = syscall(SYS_modify_ldt, 0, table, sizeof table);
    CHECK("it can be read", status == (long)sizeof table && table[0] == 0 && (table[13] & 0xF3) == 0xF3 &&
                                table[10] == ((unsigned long)words[1] & 0xFF) && table[sizeof table - 1] == 0);
    load_fs(1 << 3 | IN_LDT);
    if (!fork()) {
        write_ldt(0x11, segment(1, words[2]));
        load_fs(1 << 3 | IN_LDT);
        _exit(at_fs(8) != 102);
    }
    wait(&exited);
    CHECK("a child has a table of its own", exited == 0 && at_fs(8) == 101);
    errno = 0;
    CHECK("wrong entries are refused",
          write_ldt(0x11, segment(8192, words)) < 0 && errno == EINVAL && syscall(SYS_modify_ldt, 0x11, table, 8) < 0 &&
              errno == EINVAL && syscall(SYS_modify_ldt, 1, (void *)8, sizeof(struct user_desc)) < 0 &&
              errno == EFAULT && syscall(SYS_modify_ldt, 7, table, 8) < 0 && errno == ENOSYS);
}

/* The signal that ends a child. */
static int ends(void (*what)(void))
{
    int status;

    if (!fork()) {
        what();
        _exit(0);
    }
    wait(&status);
    return WIFSIGNALED(status) ? WTERMSIG(status) : 0;
}

static void load_nothing(void) { load_fs(77 << 3 | IN_LDT); }
static void read_nothing(void)
{
    load_fs(0);
    at_fs(8);
}
static void read_behind(void) { at_fs((int)(0xF0000000u - (unsigned long)words)); }
static void clear_and_load(void)
{
    write_ldt(1, (struct user_desc){.entry_number = 1});
    load_fs(1 << 3 | IN_LDT);
}

int main(int count, char **arguments)
{
    if (count > 1) { /* what exec leaves */
        struct user_desc s = segment(-1, words[0]);
        unsigned char table[8];
        return syscall(SYS_modify_ldt, 0, table, sizeof table) == 0 && syscall(SYS_set_thread_area, &s) == 0 ? 0 : 1;
    }
    CHECK("without a segment FS reaches nothing", ends(read_nothing) == SIGSEGV);
    out_of_turn();
    by_thread_area();
    in_handlers();
    by_ldt();
    CHECK("what is not in the table cannot be loaded", ends(load_nothing) == SIGSEGV);
    CHECK("nor what was taken from it", ends(clear_and_load) == SIGSEGV);
    CHECK("nor reaches the segment the kernel", ends(read_behind) == SIGSEGV);
    int status;
    if (!fork()) {
        execv("/proc/self/exe", (char *[]){arguments[0], "again", NULL});
        _exit(2);
    }
    wait(&status);
    CHECK("exec leaves neither", status == 0);
    return failed;
}
