// SPDX-License-Identifier: BSD-2-Clause
// Limits that a privileged thread sets: each kind of object is refused at the limit, and what went before comes back.
#include "share.h"

namespace share {
namespace {

constexpr Word limited = 0, other = 1, first_filler = 32, most_fillers = 64;
constexpr Word touched_base = 0x20000000, no_memory = 8; // ErrorCode of ThreadControl (manual 2.4)
constexpr Word pages_more = 2;

constinit Word next_page = 0, step = 0;

[[noreturn]] void touch_on()
{
    for (;; next_page += step) touch(next_page);
}

Word used() { return cobnut::kernel_memory_used(thread(limited)); }

void limit(unsigned pages)
{
    const unsigned before = cobnut::kernel_memory_limit(thread(limited));
    if (!cobnut::limit_kernel_memory(thread(limited), pages)) fail("a limit", pages);
    if (cobnut::kernel_memory_limit(thread(limited)) != pages) fail("the limit is another", before, pages);
}

/// Fills the account of the limited space until it is refused; returns how often it was not.
template <typename Take> Word fill(const char *what, Word refusal, Take take)
{
    const Word most = used() + pages_more;
    limit(most);
    Word n = 0, error;
    while (!(error = take(n))) n++;
    if (error != refusal) fail(what, n, error);
    if (used() > most || used() + 2 * pages_more <= most) fail(what, used(), most);
    books();
    cobnut::print("share: limit kept for %s, %u\n", what, n);
    return n;
}

void try_threads()
{
    const Word before = used();
    const Word n = fill("threads", no_memory, [](Word i) -> Word {
        if (i == most_fillers) fail("threads have no limit");
        return create_inactive(first_filler + i, limited);
    });
    // A thread of another space's does not get in, and stays what it is.
    if (const Word error = create_inactive(first_filler + n, other)) fail("a thread elsewhere", error);
    if (migrate(first_filler + n, limited) != no_memory) fail("a thread gets in from elsewhere", n);
    limit(cobnut::no_limit);
    if (const Word error = migrate(first_filler + n, limited)) fail("a thread that moves", error);
    for (Word i = 0; i <= n; i++) remove(first_filler + i);
    if (used() != before) fail("threads are still charged", before, used());
}

/// Page faults, until the answer is refused: nodes, or page tables, too. They go with the space.
void try_faults(const char *what, Word base, Word bytes)
{
    next_page = base;
    step = bytes;
    if (const Word error = create_space(limited)) fail("a space", error);
    // What it needs in any case.
    start(limited, touch_on);
    cobnut::limit_kernel_memory(thread(limited), used() + 8);
    const Word most = cobnut::kernel_memory_limit(thread(limited));
    if (const Word error = serve(limited); error != overflow_sent) fail(what, next_page, error);
    if (used() > most || used() + 2 * pages_more <= most) fail(what, used(), most);
    const Word refused_at = next_page;
    // It waits for another answer; with a higher limit it goes on.
    limit(most + pages_more + 1);
    if (const Word error = serve(limited); error != overflow_sent) fail(what, next_page, error);
    if (next_page <= refused_at) fail("a fault is not answered with more memory", refused_at);
    // A limit below what is used takes nothing away.
    limit(1);
    if (serve(limited) != overflow_sent || used() <= most) fail("a low limit", used(), most);
    books();
    cobnut::print("share: limit kept for %s\n", what);
    remove(limited);
}

} // namespace

void try_limits()
{
    if (create_space(limited) || create_space(other)) fail("spaces to try with");
    if (cobnut::kernel_memory_limit(thread(limited)) != cobnut::fair_share) fail("a new space has a limit");
    try_threads();
    remove(limited);
    remove(other);
    try_faults("mappings", touched_base, page_size);
    try_faults("page tables", touched_base, table_bytes);
}

} // namespace share
