// SPDX-License-Identifier: BSD-2-Clause
// x2test: the interface of the kernel, statement by statement, tested from a root server.
//
// Command line:
//   filter=TEXT                   the tests whose names contain TEXT
//   part=K parts=N                every N-th of them, from the K-th on
//   kinds=large|small|automatic   the agents' spaces
//   limits=1                      also what needs enforced segment limits
//   latency=1                     what counts instructions or makes the kernel's work long,
//                                 with threads=N in a crowd and spaces=N beside all others
//   automatic=0                   without what needs slots of the kernel's choice
//   area=MB                       the kernel's small-space area
//   seed=N calls=N                the random tests
//   list=1                        only lists
// Ends with `x2test: N passed, M failed` and the machine off.
#include "crowd.h"
#include "harness.h"
#include "machine.h"
#include "run.h"

#include <cobnut/audit.h>
#include <cobnut/format.h>
#include <cobnut/lab.h>
#include <cobnut/options.h>
#include <cobnut/program.h>

extern "C" char image_start[], image_end[];

namespace x2test {

constinit Wish wish = {};

constinit volatile unsigned tests_begun = 0;

namespace {

constinit volatile bool failed = false;
constinit char reason[200] = {};
constinit const char *running = "";
constinit unsigned passed_count = 0, failed_count = 0;

// Main runs below the watchdog, so that even a test that spins can be reported.
constexpr Word main_priority = 250, watchdog_priority = 255;
constexpr unsigned patience_seconds = 15;
alignas(16) constinit unsigned char watchdog_stack[4096] = {};

L4_ThreadId_t watchdog_id() { return L4_GlobalId(L4_ThreadNo(main_id) + 1, 1); }

[[noreturn]] void report_and_stop()
{
    cobnut::print("x2test: %u passed, %u failed\n", passed_count, failed_count);
    cobnut::machine_off(failed_count || !passed_count ? 1 : 0);
}

/// Runs while no test does: main tells it when one begins, and if the next one takes too long to come, a test hangs.
/// Were it to look from time to time, it would end the delay of a thread that has put a preemption off just then.
[[noreturn]] void watchdog_main()
{
    constexpr L4_Word_t us = 1000000;
    for (bool aborted = false;;) {
        if (L4_IpcSucceeded(L4_Receive_Timeout(main_id, L4_TimePeriod(patience_seconds * us)))) {
            aborted = false;
        } else if (aborted) {
            cobnut::print("FAIL %s: hung\n", running);
            failed_count++;
            report_and_stop();
        } else {
            aborted = true;
            fail("hung: aborted after %u s", patience_seconds);
            (void)__L4_Exregs(main_id, L4_EXREGS_RECV | L4_EXREGS_SEND, 0, 0, 0);
        }
    }
}

bool start_watchdog()
{
    const L4_ThreadId_t id = watchdog_id();
    const auto utcb = reinterpret_cast<void *>((L4_MyLocalId().raw & ~0x1FFFFu) + 512);
    if (!L4_ThreadControl(id, main_id, main_id, main_id, utcb)) return false;
    L4_Set_MsgTag(L4_MsgTag_t{.raw = 2});
    L4_LoadMR(1, reinterpret_cast<Word>(watchdog_main));
    L4_LoadMR(2, reinterpret_cast<Word>(watchdog_stack) + sizeof watchdog_stack - 16);
    if (!L4_Set_Priority(id, watchdog_priority)) return false;
    if (L4_IpcFailed(L4_Send_Timeout(id, second))) return false;
    return L4_Set_Priority(main_id, main_priority) != 0;
}

bool contains(const char *text, cobnut::Text part)
{
    for (; *text; text++) {
        size_t i = 0;
        while (i < part.size && text[i] && text[i] == part.data[i]) i++;
        if (i == part.size) return true;
    }
    return part.size == 0;
}

void run_one(const Test &test)
{
    running = test.name;
    failed = false;
    reason[0] = 0;
    tests_begun = tests_begun + 1;
    L4_Set_MsgTag(L4_Niltag);
    L4_Send_Timeout(watchdog_id(), L4_ZeroTime);
    if (wish.latency) cobnut::print("case %u %s\n", tests_begun, test.name);
    cobnut_lab_mark(COBNUT_LAB_BEGIN, tests_begun);
    test.run();
    remove_all_agents();
    cobnut_lab_mark(COBNUT_LAB_END, tests_begun);
    if (wish.latency && cobnut::audit().faults) fail("the kernel's books do not agree");
    L4_Accept(L4_UntypedWordsAcceptor);
    if (failed) {
        failed_count++;
        cobnut::print("FAIL %s: %s\n", test.name, reason);
    } else {
        passed_count++;
        cobnut::print("ok %s\n", test.name);
    }
}

bool read_wish(const cobnut::Options &options)
{
    bool bad = false;
    const cobnut::Text kinds = options.find("kinds");
    if (kinds == "small") wish.kinds = Kind::small;
    if (kinds == "automatic") wish.kinds = Kind::automatic;
    wish.limits = options.number("limits", 0, &bad) != 0;
    wish.latency = options.number("latency", 0, &bad) != 0;
    wish.threads = options.number("threads", wish.threads, &bad);
    wish.spaces = options.number("spaces", wish.spaces, &bad);
    wish.automatic = options.number("automatic", 1, &bad) != 0;
    wish.part = options.number("part", 1, &bad);
    wish.parts = options.number("parts", 1, &bad);
    wish.area_mb = options.number("area", wish.area_mb, &bad);
    wish.seed = options.number("seed", wish.seed, &bad);
    wish.calls = options.number("calls", wish.calls, &bad);
    const bool known = !kinds || kinds == "small" || kinds == "large" || kinds == "automatic";
    return !bad && known && wish.part >= 1 && wish.part <= wish.parts && wish.threads <= most_in_crowd;
}

} // namespace

void fail(const char *text, ...)
{
    if (failed) return;
    failed = true;
    va_list arguments;
    va_start(arguments, text);
    cobnut::format(reason, sizeof reason, text, arguments);
    va_end(arguments);
}

namespace {

bool is_left_out(const Test &test)
{
    for (const char *const *name = left_out; *name; name++)
        if (cobnut::Text{test.name, __builtin_strlen(test.name)} == *name) return true;
    return false;
}

void run_all(const cobnut::Options &options)
{
    const cobnut::Text filter = options.find("filter");
    const bool list = options.number("list", 0) != 0;
    unsigned count = 0;
    for (const Test *const *group = groups; *group; group++)
        for (const Test *test = *group; test->name; test++) {
            if (!contains(test->name, filter) || is_left_out(*test)) continue;
            if (count++ % wish.parts != wish.part - 1) continue;
            if (list) cobnut::print("%s\n", test->name);
            else run_one(*test);
        }
}

} // namespace
} // namespace x2test

int cobnut_main(const char *command_line)
{
    using namespace x2test;
    main_id = L4_Myself();
    const cobnut::Options options(command_line);
    if (!read_wish(options)) {
        cobnut::print("x2test: FAIL bad option in '%s'\n", command_line);
        return 2;
    }
    // Agents' spaces and sigma0's ownership need every page of the image present here.
    for (char *p = image_start; p < image_end; p += page_size) (void)*static_cast<volatile char *>(p);
    if (!start_watchdog()) cobnut::print("x2test: no watchdog (error %u): a hanging test will hang\n", L4_ErrorCode());
    if (!make_spaces()) {
        cobnut::print("FAIL: %s\n", reason);
        failed_count++;
    }
    run_all(options);
    report_and_stop();
}
