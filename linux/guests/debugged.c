// SPDX-License-Identifier: GPL-2.0
/* For a debugger: calls within calls, a variable that is watched, a signal, a thread and a child. */
#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <sys/wait.h>
#include <unistd.h>

struct pair {
    int first;
    const char *second;
};

static volatile int counter, caught;
static struct pair pair = {1, "one"};
static double half = 0.5;

__attribute__((noinline)) static int leaf(int value)
{
    pair.first += value;
    return value + 1;
}

__attribute__((noinline)) static int nested(int depth, int value)
{
    return depth ? nested(depth - 1, value + depth) + 1 : leaf(value);
}

__attribute__((noinline)) static void turn(int number)
{
    counter += number;
    half *= 0.5;
}

static void on_signal(int number) { caught = number; }

static void *work(void *given)
{
    turn(10);
    return given;
}

int main(void)
{
    pthread_t thread;
    int i;

    printf("nested %d\n", nested(3, 4));
    for (i = 1; i <= 3; i++) turn(i);
    signal(SIGUSR1, on_signal);
    raise(SIGUSR1);
    pthread_create(&thread, NULL, work, NULL);
    pthread_join(thread, NULL);
    if (!fork()) {
        turn(100);
        _exit(counter & 127);
    }
    wait(&i);
    printf("counter %d caught %d child %d\n", counter, caught, WEXITSTATUS(i));
    return 3;
}
