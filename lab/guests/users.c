/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Users of Linux who work at the same time, in the manner of the AIM benchmarks for many users. `users USERS JOBS
 * FOLDER`: each user is a process that does JOBS jobs, one after the other, of the kinds below, in an order of its own
 * that is the same in each run; then it ends. The status is 1 if a job has failed. `users -` ends at once: that is the
 * program that a job executes.
 */
#include <dirent.h>
#include <fcntl.h>
#include <signal.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

enum { BLOCK = 1024, FILE_BLOCKS = 40, PIPE_BYTES = 32768, NUMBERS = 2000, PAGES = 64, PAGE = 4096, ROUNDS = 20000 };

static const char *self, *folder;
static unsigned user;
static volatile int caught;
static volatile uint32_t result; /* which no compiler may leave out */
static volatile double real_result;

static uint32_t next(uint32_t *state) { return *state = *state * 1664525 + 1013904223; }

static int integers(void)
{
    uint32_t a = user + 3, sum = 0;
    for (int i = 1; i < ROUNDS; i++) {
        a = a * 1103515245 + i;
        sum += a / i + (a >> 7);
    }
    result = sum;
    return 0;
}

static int reals(void)
{
    double x = user + 1.5, sum = 0;
    for (int i = 1; i < ROUNDS / 2; i++) {
        x = x * 1.0000001 + 1.0 / i;
        sum += x;
    }
    real_result = sum;
    return 0;
}

static int ascending(const void *a, const void *b)
{
    const uint32_t x = *(const uint32_t *)a, y = *(const uint32_t *)b;
    return x < y ? -1 : x > y;
}

static int sort(void)
{
    static uint32_t numbers[NUMBERS];
    uint32_t state = user;
    for (int i = 0; i < NUMBERS; i++) numbers[i] = next(&state);
    qsort(numbers, NUMBERS, sizeof(*numbers), ascending);
    return numbers[0] > numbers[NUMBERS - 1];
}

static int strings(void)
{
    static char from[BLOCK], to[BLOCK];
    memset(from, 'a' + user % 26, BLOCK - 1);
    for (int i = 0; i < 200; i++) {
        strcpy(to, from);
        if (strcmp(to, from) || strlen(to) != BLOCK - 1) return 1;
    }
    return 0;
}

/* Memory that the system has to give, page by page. */
static int memory(void)
{
    char *got = mmap(0, PAGES * PAGE, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    if (got == MAP_FAILED) return 1;
    for (int i = 0; i < PAGES; i++) got[i * PAGE] = (char)i;
    return munmap(got, PAGES * PAGE);
}

static int file(void)
{
    char name[100], block[BLOCK];
    snprintf(name, sizeof(name), "%s/user-%u", folder, user);
    memset(block, 'x', BLOCK);
    int at = open(name, O_RDWR | O_CREAT | O_TRUNC, 0600);
    if (at < 0) return 1;
    for (int i = 0; i < FILE_BLOCKS; i++)
        if (write(at, block, BLOCK) != BLOCK) return 1;
    if (lseek(at, 0, SEEK_SET)) return 1;
    while (read(at, block, BLOCK) == BLOCK);
    return close(at) || unlink(name);
}

static int directory(void)
{
    struct dirent *entry;
    struct stat about;
    char name[400];
    DIR *open = opendir(folder);
    if (!open) return 1;
    while ((entry = readdir(open))) {
        snprintf(name, sizeof(name), "%s/%s", folder, entry->d_name);
        stat(name, &about); /* which another user may have removed meanwhile */
    }
    return closedir(open);
}

static int ended(pid_t child)
{
    int status;
    return child < 0 || waitpid(child, &status, 0) != child || status;
}

static int through_pipe(void)
{
    char block[BLOCK];
    int ends[2];
    if (pipe(ends)) return 1;
    const pid_t child = fork();
    if (child == 0) {
        close(ends[0]);
        memset(block, 'y', BLOCK);
        for (int sent = 0; sent < PIPE_BYTES; sent += BLOCK)
            if (write(ends[1], block, BLOCK) != BLOCK) _exit(1);
        _exit(0);
    }
    close(ends[1]);
    while (read(ends[0], block, BLOCK) > 0);
    close(ends[0]);
    return ended(child);
}

static int process(void)
{
    const pid_t child = fork();
    if (child == 0) _exit(0);
    return ended(child);
}

static int program(void)
{
    const pid_t child = fork();
    if (child == 0) {
        execl(self, self, "-", (char *)0);
        _exit(1);
    }
    return ended(child);
}

static void note(int number) { caught += number != 0; }

static int signals(void)
{
    const struct sigaction action = {.sa_handler = note};
    if (sigaction(SIGUSR1, &action, 0)) return 1;
    caught = 0;
    for (int i = 0; i < 20; i++) kill(getpid(), SIGUSR1);
    return caught != 20;
}

static int (*const jobs[])(void) = {integers, reals,     sort,         strings, integers, memory,
                                    file,     directory, through_pipe, process, program,  signals};
enum { KINDS = sizeof(jobs) / sizeof(*jobs) };

/* Each kind as often as every other one, but the jobs of each round in another order. */
static int work(int count)
{
    unsigned char order[KINDS];
    uint32_t state = 12345 + user;
    for (int done = 0; done < count; done++) {
        if (done % KINDS == 0)
            for (int i = 0; i < KINDS; i++) order[i] = i;
        const int left = KINDS - done % KINDS, chosen = (next(&state) >> 16) % left;
        if (jobs[order[chosen]]()) return 1;
        order[chosen] = order[left - 1];
    }
    return 0;
}

int main(int count, char **arguments)
{
    if (count < 4) return 0;
    self = arguments[0];
    folder = arguments[3];
    const int users = atoi(arguments[1]), each = atoi(arguments[2]);
    int failed = 0;
    for (user = 0; user < (unsigned)users; user++)
        if (fork() == 0) _exit(work(each));
    for (int i = 0, status; i < users; i++) failed |= wait(&status) < 0 || status;
    return failed;
}
