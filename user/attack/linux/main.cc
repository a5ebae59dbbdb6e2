// SPDX-License-Identifier: BSD-2-Clause
// The attempts of attempts.cc on the processor that runs this: prints a row for each and, with `measure`, costs and
// what of a load past a limit shows in the cache. Ends with status 0 if all were refused, 1 if not, 3 if this Linux has
// no 32-bit segments for users.
#include "process.h"

#include <stdio.h>
#include <string.h>

namespace attack {
namespace {

constexpr Word protection = 13, stack_fault = 12, undefined = 6, task_state = 10;

bool refused(const Attempt &a, const Outcome &o)
{
    const bool general = o.vector == protection && o.error == 0;
    switch (a.refusal) {
    case Refusal::limit: return general || (o.vector == stack_fault && o.error == 0);
    case Refusal::selector: return o.vector == protection && o.error == (a.selector & ~3u);
    case Refusal::vector: return o.vector == protection && o.error == a.detail;
    case Refusal::privileged: return general || (o.vector == undefined && o.eax == mark);
    case Refusal::protection:
    case Refusal::port:
    case Refusal::null: return general;
    case Refusal::task: return general || (o.vector == task_state && o.error == 0);
    case Refusal::value:
    case Refusal::flags: return o.vector == undefined && o.eax == a.detail;
    }
    return false;
}

/// Inside the limits it has to come through, with nothing but its own memory in EAX. Far pointers of the fill name a
/// segment that is none, which is an error after the access.
bool came_through(const Attempt &a, const Outcome &o)
{
    if (o.vector == protection) return o.error == (own_fill << 8 | own_fill);
    if (o.vector != undefined) return false;
    if (a.refusal == Refusal::value) return o.eax != a.detail;
    for (Word rest = o.eax; rest; rest >>= 8)
        if ((rest & 0xFF) != own_fill) return false;
    return o.eax != 0;
}

const char *verdict(const Attempt &a, Outcome &o)
{
    if (a.has_inside) {
        o = run(a, true, true);
        if (!came_through(a, o) || !foreign_memory_intact()) return "blind";
    }
    if (a.refusal == Refusal::limit && !a.any_limit) {
        o = run(a, false, false);
        if (refused(a, o)) return "blind";
    }
    o = run(a, false, true);
    return !foreign_memory_intact() ? "escaped" : refused(a, o) ? "refused" : "escaped";
}

} // namespace
} // namespace attack

int main(int argc, char **argv)
{
    using namespace attack;
    setvbuf(stdout, nullptr, _IOLBF, 0);
    if (!prepare()) return 3;
    unsigned all = 0, bad = 0;
    for (const Attempt *a = attempts; a->name; a++) {
        if (a->to.target == Target::kernel) continue; // of a 64-bit kernel nothing is below 4 GB
        Outcome o = {};
        const char *word = verdict(*a, o);
        printf("attack: row %s %s vector %u error %x eax %08x\n", a->name, word, o.vector, o.error, o.eax);
        all++;
        bad += strcmp(word, "refused") != 0;
    }
    if (argc > 1 && !strcmp(argv[1], "measure")) {
        measure();
        speculate();
    }
    printf("attack: %u attempts, %u refused\n", all, all - bad);
    return bad ? 1 : 0;
}
