// SPDX-License-Identifier: BSD-2-Clause
// A program with the standard's main: its command line in words, its end, its time.
#include <stdlib.h>
#include <time.h>
#include <unistd.h>

#include <cobnut/payload.h>
#include <cobnut/program.h>
#include <l4/ipc.h>
#include <l4/schedule.h>

extern "C" {

int main(int argc, char **argv);

int cobnut_main(const char *command_line)
{
    static constinit char text[1024];
    static constinit char *words[64];
    static constinit char name[] = "program";
    int count = 0;
    words[count++] = name;
    size_t n = 0;
    for (; command_line[n] && n + 1 < sizeof text; n++) text[n] = command_line[n];
    for (char *p = text; *p && count < 63;) {
        while (*p == ' ') *p++ = 0;
        if (*p) words[count++] = p;
        while (*p && *p != ' ') p++;
    }
    return main(count, words);
}

void exit(int status) { cobnut::exit(status); }
void abort(void) { cobnut::exit(134); }

int usleep(unsigned microseconds)
{
    L4_Sleep(L4_TimePeriod(microseconds));
    return 0;
}
unsigned sleep(unsigned seconds)
{
    L4_Sleep(L4_TimePeriod(L4_Word64_t{seconds} * 1'000'000));
    return 0;
}

int gettimeofday(timeval *now, void *)
{
    const L4_Word64_t us = L4_SystemClock().raw;
    now->tv_sec = static_cast<time_t>(us / 1'000'000);
    now->tv_usec = static_cast<suseconds_t>(us % 1'000'000);
    return 0;
}
time_t time(time_t *now)
{
    const auto seconds = static_cast<time_t>(L4_SystemClock().raw / 1'000'000);
    if (now) *now = seconds;
    return seconds;
}

} // extern "C"
