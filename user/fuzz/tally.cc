// SPDX-License-Identifier: BSD-2-Clause
// Adding up what all threads have done.
#include "fuzz.h"

#include <cobnut/format.h>
#include <cobnut/program.h>

namespace fuzz {
namespace {

constexpr const char *names[] = {"ipc",
                                 "lipc",
                                 "unmap",
                                 "exchange_registers",
                                 "thread_switch",
                                 "schedule",
                                 "thread_control",
                                 "space_control",
                                 "processor_control",
                                 "memory_control",
                                 "tls_control",
                                 "system_clock",
                                 "raw"};
static_assert(sizeof names / sizeof *names == kinds);

constinit Tally total = {}, seen[threads] = {};
constinit Word seen_calls[threads] = {};

} // namespace

// Blocks get mapped to other workers, who write to them. Where more calls have results than were made, or more were
// made than is possible, nothing of it is believed.
Word collect(unsigned i)
{
    constexpr Word most = 10000, under_way = 1;
    const Block &block = blocks[i];
    const Word calls = block.calls, made = calls - seen_calls[i];
    if (!made) return 0;
    const Tally now = block.tally;
    Word ended = 0;
    bool good = made <= most;
    for (unsigned k = 0; k < sizeof now.count / sizeof *now.count; k++) {
        const Word fresh = now.count[k] - seen[i].count[k];
        good = good && fresh <= most;
        ended += fresh;
    }
    good = good && ended <= made + under_way;
    if (good)
        for (unsigned k = 0; k < sizeof now.count / sizeof *now.count; k++)
            total.count[k] += now.count[k] - seen[i].count[k];
    seen_calls[i] = calls;
    seen[i] = now;
    return good ? made : 0;
}

void print_total()
{
    for (unsigned kind = 0; kind < kinds; kind++)
        for (unsigned code = 0; code < outcomes; code++)
            if (const Word n = total.of(kind, code)) cobnut::print("fuzz: outcome %s %u %u\n", names[kind], code, n);
}

} // namespace fuzz
