// SPDX-License-Identifier: BSD-2-Clause
// compose: two calls in a row may do to a space's isolation what no single one does. Episodes of random steps change
// the shape of attackers' spaces between victims. After each step an oracle asks the attackers what they could reach.
// This is what all processors have in common; the steps and the oracle are the processor's (ia32/, arm/: steps.h).
//
// On IA-32: slots by name, by size, by the kernel's choice, groups, segments of threads' own, areas, map items with and
// without pages, registers exchanged, threads that migrate. On ARM: slots, areas, pages of all sizes mapped, passed on,
// granted and taken away, the same ones at several addresses, more spaces than domains.
//
// Command line: seed=N, episodes=N from the first=N on, steps=N of an episode, keep=MASK only these steps of each
// episode, verbose=1 says each step before it is taken. On IA-32 area=MB, the kernel's small-space area, and limits=1,
// this machine enforces segment limits. mistake=...: something happens behind the model's back, which the oracle has to
// find: on IA-32 the model is wrong about a `segment`'s base, or a `slot` is changed; on ARM an attacker is given a
// `page`, or a `word` is changed. Ends with `compose: N episodes, ... ok`, or with a
// finding: the shortest part of an episode that shows it.
#include "steps.h"

#include <cobnut/audit.h>
#include <cobnut/options.h>
#include <cobnut/program.h>

namespace compose {
namespace {

constexpr Word steps_most = 31, all_steps = ~Word{0}, kinds_most = 16;
constinit Word steps_each = 14, taken[ops] = {}, met[ops][ops] = {}, steps_taken = 0;
constinit bool verbose = false;
constinit const char *kept[kinds_most] = {};
constinit Word findings = 0, findings_kept = 0;

struct Episode {
    Word count;
    Shape shape[attackers];
    Step step[steps_most];
};

Episode make_episode(Word seed, Word number)
{
    Random random(seed * 1000003 + number);
    Episode e = {.count = steps_each, .shape = {}, .step = {}};
    for (Word s = 0; s < attackers; s++) e.shape[s] = random_shape(random, s);
    const Word favourite = random.below(threads);
    for (Word i = 0; i < e.count; i++) e.step[i] = random_step(random, favourite, i ? e.step[i - 1].op : Op::count);
    return e;
}

void say(Word i, const Step &s)
{
    cobnut::print("compose: step %u %s space %u thread %u %x %x\n", i, op_names[static_cast<Word>(s.op)], s.space,
                  s.thread, s.x, s.y);
}

/// The steps of the mask; what is found, or null.
const char *run(const Episode &e, Word keep)
{
    Word last[attackers];
    for (Word &op : last) op = ops;
    if (const char *found = begin_episode(e.shape)) return found;
    for (Word i = 0; i < e.count; i++) {
        if (!(keep >> i & 1)) continue;
        const Step &step = e.step[i];
        const Word op = static_cast<Word>(step.op);
        if (verbose) say(i, step);
        taken[op]++;
        steps_taken++;
        if (last[step.space] < ops) met[last[step.space]][op]++;
        last[step.space] = op;
        if (const char *found = take(step)) return found;
    }
    return end_episode();
}

/// One of each kind is enough to be made short.
bool is_new(const char *finding)
{
    for (Word i = 0; i < findings_kept; i++)
        if (kept[i] == finding) return false;
    if (findings_kept < kinds_most) kept[findings_kept++] = finding;
    return true;
}

/// Leaves out what is not needed for the same finding.
Word shrink(const Episode &e, const char *finding)
{
    Word keep = e.count < 32 ? (1u << e.count) - 1 : all_steps;
    for (Word i = e.count; i-- > 0;)
        if (run(e, keep & ~(1u << i)) == finding) keep &= ~(1u << i);
    return keep;
}

void tell_finding(Word seed, Word number, const Episode &e, const char *finding)
{
    cobnut::print("compose: found %s: seed %u episode %u\n", finding, seed, number);
    findings++;
    if (!is_new(finding)) return;
    verbose = false;
    const Word keep = shrink(e, finding);
    cobnut::print("compose: spaces:");
    for (const Shape &shape : e.shape) print_shape(shape);
    cobnut::print("\n");
    for (Word i = 0; i < e.count; i++)
        if (keep >> i & 1) say(i, e.step[i]);
    cobnut::print("compose: again: seed=%u first=%u episodes=1 keep=0x%x\n", seed, number, keep);
}

void print_counts()
{
    Word pairs = 0;
    for (Word a = 0; a < ops; a++) {
        Word followers = 0;
        for (Word b = 0; b < ops; b++) followers |= (met[a][b] != 0) << b;
        for (Word rest = followers; rest; rest &= rest - 1) pairs++;
        cobnut::print("compose: op %s %u followed by %x\n", op_names[a], taken[a], followers);
    }
    cobnut::print("compose: %u of %u pairs of operations met\n", pairs, ops * ops);
}

} // namespace
} // namespace compose

int cobnut_main(const char *command_line)
{
    using namespace compose;
    bool bad = false;
    const cobnut::Options options(command_line);
    const Word seed = options.number("seed", 1, &bad), first = options.number("first", 0, &bad);
    const Word episodes = options.number("episodes", 100, &bad), keep = options.number("keep", all_steps, &bad);
    steps_each = options.number("steps", steps_each, &bad);
    verbose = options.number("verbose", 0, &bad) != 0;
    if (!read_options(options) || bad || !episodes || !steps_each || steps_each > steps_most) {
        cobnut::print("compose: seed=N episodes=N first=N steps=1..%u keep=MASK verbose=0|1 %s\n", steps_most,
                      own_options);
        return 2;
    }
    if (!make_stage()) {
        cobnut::print("compose: no victims: error %u\n", L4_ErrorCode());
        return 1;
    }
    for (Word number = first; number < first + episodes; number++) {
        const Episode e = make_episode(seed, number);
        cobnut::print("compose: episode %u\n", number);
        const bool says = verbose;
        if (const char *finding = run(e, keep)) tell_finding(seed, number, e, finding);
        verbose = says;
    }
    remove_all();
    const cobnut::Audit audit = cobnut::audit();
    print_counts();
    const bool good = !audit.faults && !findings;
    cobnut::print("compose: %u episodes, %u steps, seed %u, %u findings, %u faults in the books: %s\n", episodes,
                  steps_taken, seed, findings, audit.faults, good ? "ok" : "FAILED");
    return good ? 0 : 1;
}
