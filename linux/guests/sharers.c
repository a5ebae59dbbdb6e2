// SPDX-License-Identifier: GPL-2.0
/*
 * `sharers N MB`: so many processes that live at once and each read every page of the same so many MB, which one of
 * them has written. When all have read them, each reads them once more, and ends.
 */
#define _GNU_SOURCE
#include <stdio.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

enum { PAGE = 4096 };

static int sum_is_right(const volatile unsigned *memory, unsigned pages)
{
    unsigned page, sum = 0;

    for (page = 0; page < pages; page++) sum += memory[page * (PAGE / sizeof *memory)];
    return sum == pages * (pages - 1) / 2;
}

/* Says that it is there, and waits until the other end is closed. */
static void child(int ready, int go, const volatile unsigned *memory, unsigned pages)
{
    char c = sum_is_right(memory, pages) ? 'y' : 'n';

    if (write(ready, &c, 1) != 1) _exit(1);
    while (read(go, &c, 1) > 0) continue;
    _exit(sum_is_right(memory, pages) ? 3 : 1);
}

int main(int count, char **words)
{
    const int wanted = count > 1 ? atoi(words[1]) : 0, megabytes = count > 2 ? atoi(words[2]) : 0;
    const unsigned pages = megabytes * (1048576u / PAGE);
    int ready[2], go[2], i, status, here = 0, good = 0;
    unsigned *memory, page;
    char c;

    memory = mmap(NULL, pages * (size_t)PAGE, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
    if (memory == MAP_FAILED || pipe(ready) || pipe(go)) return 2;
    for (page = 0; page < pages; page++) memory[page * (PAGE / sizeof *memory)] = page;
    for (i = 0; i < wanted; i++) {
        if (fork()) continue;
        close(go[1]);
        child(ready[1], go[0], memory, pages);
    }
    for (i = 0; i < wanted && read(ready[0], &c, 1) == 1; i++) here += c == 'y';
    close(go[1]);
    while (wait(&status) > 0) good += WIFEXITED(status) && WEXITSTATUS(status) == 3;
    printf("%d at once, %d to the end\n", here, good);
    return here != wanted || good != wanted;
}
