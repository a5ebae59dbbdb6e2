// SPDX-License-Identifier: BSD-2-Clause
#include "core/trace.hpp"

#include "core/arch.hpp"
#include "core/memory.hpp"
#include "core/string.hpp"

namespace trace {

Ring trace_ring;

void initialise(Word kb) {
    constexpr Word page_kb = page_size / 1024;
    char *start = nullptr, *end = nullptr;
    for (Word done = 0; done < kb; done += page_kb) {
        // Fresh kernel memory is allocated page by page downwards from its end.
        auto* page = static_cast<char*>(memory::allocate_pool_page());
        if (!page || (start && page + page_size != start)) arch::stop("too little kernel memory for the trace");
        fill_zero(page, page_size);
        if (!end) end = page + page_size;
        start = page;
    }
    auto* records = reinterpret_cast<Record*>(start);
    trace_ring = {records, reinterpret_cast<Record*>(end), records, 0, arch::ticks_per_ms()};
}

void record(Event event, Word thread, Word a, Word b, Word c, Word d) {
    if (!thread)
        if (const Thread* t = arch::current_thread()) thread = t->id.raw;
    Record* r = trace_ring.next;
    *r = {arch::ticks(), event, thread, {a, b, c, d}};
    if (++r == trace_ring.end) {
        r = trace_ring.records;
        trace_ring.wraps += 1;
    }
    trace_ring.next = r;
}

}  // namespace trace
