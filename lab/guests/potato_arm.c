/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * A byte that is sent to and fro, between the laboratory's marks (docs/plugin.md): what lmbench calls a hot potato. Two
 * processes have pipes, FIFOs or a pair of Unix sockets between them, or hand record locks of a file to each other. Or
 * two threads of one process do the same, which is the floor: the same work without a switch of address spaces.
 */
#include "arm_calls.h"

enum { CLONE_VM = 0x100, CLONE_FILES = 0x400, SIGNAL_CHILD = 17, FIFO = 0010600, STACK = 4096 };
enum { UNIX = 1, STREAM = 1 };
enum { SET_LOCK_WAIT = 7, WRITE_LOCK = 1, UNLOCK = 2, LOCKS = 3 };

enum Through { PIPES, FIFOS, SOCKETS, RECORD_LOCKS };
struct Potato {
    const char *name;
    enum Through through;
    int threads;
};
static const struct Potato potatoes[] = {
    {"pipe", PIPES, 0},
    {"fifo", FIFOS, 0},
    {"unix", SOCKETS, 0},
    {"fcntl", RECORD_LOCKS, 0},
    {"threads", PIPES, 1},
    {"unix_threads", SOCKETS, 1},
    {"fcntl_threads", RECORD_LOCKS, 1},
};

static int questions[2], answers[2]; /* from, to; a socket is an end of both */
static int locked_file;
static long turns; /* of the partner that locks: nobody can tell it to end */

static void send(int pipe)
{
    if (call(SYS_WRITE, pipe, (long)"x", 1, 0, 0) != 1) end(2);
}

static void receive(int pipe)
{
    char byte;
    if (call(SYS_READ, pipe, (long)&byte, 1, 0, 0) != 1) end(0); /* the other side has ended */
}

static void close_one(int pipe) { call(SYS_CLOSE, pipe, 0, 0, 0, 0); }

static void answer(void)
{
    for (;;) {
        receive(questions[0]);
        send(answers[1]);
    }
}

static void ask(void)
{
    send(questions[1]);
    receive(answers[0]);
}

static void set_lock(long number, short kind)
{
    struct {
        short kind, whence;
        int start, length, owner;
    } wish = {kind, 0, (int)(number % LOCKS), 1, 0};
    if (call(SYS_FCNTL, locked_file, SET_LOCK_WAIT, (long)&wish, 0, 0) != 0) end(2);
}

/*
 * The side with the potato has lock `number`, the other has the next one and waits for this. Gives the potato away and
 * waits for it; returns the lock that goes with it then.
 */
static long hand_over(long number)
{
    set_lock(number + 2, WRITE_LOCK);
    set_lock(number, UNLOCK);
    set_lock(number + 1, WRITE_LOCK);
    set_lock(number + 1, UNLOCK);
    return number + 2;
}

static void lock_in_turn(void)
{
    set_lock(1, WRITE_LOCK);
    send(answers[1]);
    set_lock(0, WRITE_LOCK);
    set_lock(0, UNLOCK);
    long number = 1;
    for (long turn = 0; turn + 1 < turns; turn++) number = hand_over(number);
    end(0); /* which gives its locks up */
}

static void measure(int locks, long rounds, long warmup)
{
    long number = 0;
    mark(MARK_BEGIN);
    for (long round = 0; round < warmup + rounds; round++) {
        if (round >= warmup) mark(MARK_ITERATION);
        if (locks) number = hand_over(number);
        else ask();
    }
    mark(MARK_ITERATION);
    mark(MARK_END);
}

/* Makes a thread that does `run`, which does not return, on the stack that ends there. Returns its number. */
long spawn(long flags, void *end_of_stack, void (*run)(void));
__asm__("spawn: mov r12, r2\n"
        "\tstr r7, [sp, #-8]!\n"
        "\tmov r2, #0\n"
        "\tmov r3, #0\n"
        "\tmov r7, #120\n" /* clone */
        "\tsvc 0\n"
        "\tcmp r0, #0\n"
        "\tmoveq pc, r12\n"
        "\tldr r7, [sp], #8\n"
        "\tmov pc, lr");

/* Record locks belong to a table of open files, so threads that lock have one each. */
static long thread(long files, void (*run)(void))
{
    static char stack[STACK] __attribute__((aligned(8)));
    return spawn(CLONE_VM | files | SIGNAL_CHILD, stack + STACK, run);
}

static long process(void (*run)(void))
{
    long child = call(SYS_FORK, 0, 0, 0, 0, 0);
    if (child == 0) {
        close_one(questions[1]); /* or it would wait for itself when the other has ended */
        run();
    }
    return child;
}

/* Opening a FIFO waits for the other side, so the partner opens both in the same order. */
static long process_with_fifos(void)
{
    call(SYS_MKNOD, (long)"/questions", FIFO, 0, 0, 0);
    call(SYS_MKNOD, (long)"/answers", FIFO, 0, 0, 0);
    long child = call(SYS_FORK, 0, 0, 0, 0, 0);
    int there = child == 0;
    questions[!there] = (int)call(SYS_OPEN, (long)"/questions", there ? OPEN_READ : OPEN_WRITE, 0, 0, 0);
    answers[there] = (int)call(SYS_OPEN, (long)"/answers", there ? OPEN_WRITE : OPEN_READ, 0, 0, 0);
    if (there) answer();
    return child;
}

/* One socket asks and hears, the other does the same. */
static void open_sockets(void)
{
    int pair[2];
    if (call(SYS_SOCKETPAIR, UNIX, STREAM, 0, (long)pair, 0) != 0) end(2);
    questions[1] = answers[0] = pair[0];
    questions[0] = answers[1] = pair[1];
}

static void open_pipes(void)
{
    call(SYS_PIPE, (long)questions, 0, 0, 0, 0);
    call(SYS_PIPE, (long)answers, 0, 0, 0, 0);
}

static long partner(const struct Potato *how)
{
    if (how->through == FIFOS) return process_with_fifos();
    if (how->through == SOCKETS) open_sockets();
    else open_pipes();
    if (how->through != RECORD_LOCKS) return how->threads ? thread(CLONE_FILES, answer) : process(answer);
    locked_file = (int)call(SYS_OPEN, (long)"/locked", OPEN_BOTH | OPEN_CREATE, 0600, 0, 0);
    set_lock(0, WRITE_LOCK);
    long child = how->threads ? thread(0, lock_in_turn) : process(lock_in_turn);
    receive(answers[0]); /* it has its first lock */
    return child;
}

static void play(const struct Potato *how, long rounds, long warmup)
{
    turns = rounds + warmup;
    long child = partner(how);
    measure(how->through == RECORD_LOCKS, rounds, warmup);
    close_one(questions[1]);
    call(SYS_WAIT4, child, 0, 0, 0, 0);
    int one_end = how->through == FIFOS, one_file = how->through == SOCKETS;
    if (!one_file) close_one(answers[0]);
    if (!one_end) close_one(questions[0]);
    if (!one_end && !one_file) close_one(answers[1]);
    if (how->through == RECORD_LOCKS) close_one(locked_file);
}

int potato(const char *kind, long rounds, long warmup)
{
    for (unsigned one = 0; one < sizeof potatoes / sizeof *potatoes; one++) {
        if (!same(kind, potatoes[one].name)) continue;
        play(&potatoes[one], rounds, warmup);
        return 1;
    }
    return 0;
}
