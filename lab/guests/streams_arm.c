/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The rest of lmbench's that Wiggins et al. 2003 have in their table 1, between the laboratory's marks
 * (docs/plugin.md): 64 KB from one process to another through a pipe or a pair of Unix sockets, and processes that come
 * and go, with the same program, with another one, or with one that makes another one in turn, as a shell does.
 */
#include "arm_calls.h"

enum { BLOCK = 65536, UNIX = 1, STREAM = 1 };

static char block[BLOCK];
static int from, to;

static void write_block(void)
{
    for (long sent = 0; sent < BLOCK;) {
        long bytes = call(SYS_WRITE, to, (long)block + sent, BLOCK - sent, 0, 0);
        if (bytes <= 0) end(2);
        sent += bytes;
    }
}

static void read_block(void)
{
    for (long got = 0; got < BLOCK;) {
        long bytes = call(SYS_READ, from, (long)block, BLOCK - got, 0, 0);
        if (bytes <= 0) end(2);
        got += bytes;
    }
}

static void wait_for(long child) { wanted(status_of(child) == 0, "a process that comes and goes"); }

static void fork_one(void)
{
    long child = call(SYS_FORK, 0, 0, 0, 0, 0);
    if (child == 0) end(0);
    wait_for(child);
}

static void execute_with(char *command)
{
    static char status[] = "0";
    char *words[] = {program, command, status, 0}, *environment[] = {0};
    long child = call(SYS_FORK, 0, 0, 0, 0, 0);
    if (child == 0) {
        call(SYS_EXECVE, (long)program, (long)words, (long)environment, 0, 0);
        end(1);
    }
    wait_for(child);
}

static void execute_one(void)
{
    static char command[] = "leaf";
    execute_with(command);
}

static void execute_shell(void)
{
    static char command[] = "sh";
    execute_with(command);
}

void shell(void)
{
    execute_one();
    end(0);
}

static void measure(void (*once)(void), long rounds, long warmup)
{
    mark(MARK_BEGIN);
    for (long round = 0; round < warmup + rounds; round++) {
        if (round >= warmup) mark(MARK_ITERATION);
        once();
    }
    mark(MARK_ITERATION);
    mark(MARK_END);
}

/* A child writes as many blocks as are read here. */
static void stream(int sockets, long rounds, long warmup)
{
    int ends[2];
    long made = sockets ? call(SYS_SOCKETPAIR, UNIX, STREAM, 0, (long)ends, 0) : call(SYS_PIPE, (long)ends, 0, 0, 0, 0);
    if (made != 0) end(2);
    from = ends[0];
    to = ends[1];
    long child = call(SYS_FORK, 0, 0, 0, 0, 0);
    if (child == 0) {
        for (long round = 0; round < rounds + warmup; round++) write_block();
        end(0);
    }
    measure(read_block, rounds, warmup);
    wait_for(child);
    call(SYS_CLOSE, from, 0, 0, 0, 0);
    call(SYS_CLOSE, to, 0, 0, 0, 0);
}

int stream_or_process(const char *kind, long rounds, long warmup)
{
    if (same(kind, "pipe_stream")) return stream(0, rounds, warmup), 1;
    if (same(kind, "unix_stream")) return stream(1, rounds, warmup), 1;
    if (same(kind, "fork")) return measure(fork_one, rounds, warmup), 1;
    if (same(kind, "exec")) return measure(execute_one, rounds, warmup), 1;
    if (same(kind, "shell")) return measure(execute_shell, rounds, warmup), 1;
    return 0;
}
