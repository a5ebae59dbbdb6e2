// SPDX-License-Identifier: GPL-2.0
/*
 * `forks N`: so many processes, one after the other, by fork and vfork; some of them map memory, make a thread, or
 * execute a program.
 */
#define _GNU_SOURCE
#include <pthread.h>
#include <sched.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

static void *nothing(void *given) { return given; }

/* What the child does before it ends with 3. */
static void child(int kind)
{
    static char *const itself[] = {"/proc/self/exe", "0", NULL};
    pthread_t thread;
    char *more;

    switch (kind) {
    case 1:
        more = mmap(NULL, 1 << 18, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
        memset(more, 1, 1 << 18);
        break;
    case 2:
        pthread_create(&thread, NULL, nothing, NULL);
        pthread_join(thread, NULL);
        break;
    case 3: execv(*itself, itself);
    }
}

int main(int count, char **words)
{
    const int wanted = count > 1 ? atoi(words[1]) : 0;
    int i, status, bad = 0;

    if (!wanted) return 3;
    for (i = 0; i < wanted; i++) {
        const int kind = i % 32 < 4 ? i % 32 : i % 2 ? 4 : 5;
        const pid_t p = kind == 4 ? vfork() : fork();

        if (!p) {
            if (kind < 4) child(kind);
            _exit(3);
        }
        bad += p < 0 || waitpid(p, &status, 0) != p || !WIFEXITED(status) || WEXITSTATUS(status) != 3;
    }
    printf("%d forks, %d bad\n", wanted, bad);
    return bad != 0;
}
