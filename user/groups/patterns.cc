// SPDX-License-Identifier: BSD-2-Clause
// Which spaces call which. The driver stands for what schedules: it chooses a group at random and has it work on a
// batch of items; then another. Each answer says how many IPCs were made for it.
#include "groups.h"

#include <cobnut/lab.h>

namespace groups {
namespace {

// What a space is asked for.
constexpr Word serve = 0, work = 1, say_name = 2;
constexpr Word everybodys_server = 1;

Word first_space() { return setup.wish.pattern == Pattern::star || setup.wish.pattern == Pattern::web ? 2 : 1; }

Word next_random(Word &state)
{
    state ^= state << 13, state ^= state >> 17, state ^= state << 5; // xorshift32, as Marsaglia gives it
    return state;
}

/// Returns the IPCs that it took, and those made for it.
Word call(Word space, Word what)
{
    L4_Set_MsgTag(L4_MsgTag_t{.raw = 1});
    L4_LoadMR(1, what);
    const L4_MsgTag_t tag = L4_Call(thread(space));
    Word ipcs;
    L4_StoreMR(1, &ipcs);
    if (L4_IpcFailed(tag)) tell_root(failed_label, L4_ErrorCode());
    return 2 + ipcs;
}

/// What the code of a space works with: a word in each of its pages, in different sets of the caches.
void touch()
{
    constexpr Word page = 4096, line = 64;
    for (Word i = 0; i < setup.wish.pages; i++) {
        auto *word = reinterpret_cast<volatile Word *>(own_pages + i * page + (5 + 9 * i) % 32 * line);
        *word = *word + 1;
    }
}

Word serve_one(Word me, const Group &group)
{
    switch (setup.wish.pattern) {
    case Pattern::pipeline: return me + 1 < group.first + group.size ? call(me + 1, serve) : 0;
    case Pattern::web: return group.size ? call(everybodys_server, serve) : 0;
    default: return 0;
    }
}

Word work_on_one(Word me, const Group &group, Word item, Word &state)
{
    switch (setup.wish.pattern) {
    case Pattern::pipeline: return call(me + 1, serve);
    case Pattern::star: return call(everybodys_server, serve);
    case Pattern::web:
        return call(everybodys_server, serve) + call(me + 1 + item % (group.size - 1), serve) +
               call(everybodys_server, serve);
    case Pattern::random: {
        Word other = 1 + next_random(state) % (setup.wish.spaces - 2);
        return call(other < me ? other : other + 1, serve);
    }
    }
    return 0;
}

Word work_on_batch(Word me, const Group &group, Word &state)
{
    Word ipcs = 0;
    for (Word item = 0; item < setup.wish.batch; item++) {
        if (item) touch();
        ipcs += work_on_one(me, group, item, state);
    }
    return ipcs;
}

/// Tells the laboratory which address space is which: a case of its own.
void mark_name(Word me)
{
    cobnut_lab_mark(COBNUT_LAB_BEGIN, 1 + me);
    cobnut_lab_mark(COBNUT_LAB_ITER, 0);
    cobnut_lab_mark(COBNUT_LAB_ITER, 0);
    cobnut_lab_mark(COBNUT_LAB_END, 1 + me);
}

Word run_batch(Word &state)
{
    touch();
    return call(group_at(next_random(state) % group_count()).first, work);
}

} // namespace

Word group_count()
{
    const Word members = setup.wish.spaces - first_space();
    switch (setup.wish.pattern) {
    case Pattern::pipeline: return (members * 4 + 7) / 14; // of 3 or 4
    case Pattern::web: return (members + 2) / 4;           // of 4, or 3
    default: return members;
    }
}

Group group_at(Word number)
{
    const Word members = setup.wish.spaces - first_space(), count = group_count();
    const Word begin = number * members / count, end = (number + 1) * members / count;
    return {number, first_space() + begin, end - begin};
}

Group group_of(Word space)
{
    if (space < first_space()) return {};
    const Word members = setup.wish.spaces - first_space(), count = group_count();
    Group group = group_at((space - first_space()) * count / members);
    if (space >= group.first + group.size) group = group_at(group.number + 1);
    return group;
}

void driver_main()
{
    const Wish &wish = setup.wish;
    Word state = 2463534242, ipcs = 0;
    const L4_Word64_t end = L4_SystemClock().raw + wish.warmup_ms * 1000ull;
    while (L4_SystemClock().raw < end) run_batch(state);
    L4_Set_MsgTag(L4_MsgTag_t{.raw = steady_label << 16});
    if (L4_IpcFailed(L4_Call(L4_Pager()))) tell_root(failed_label, L4_ErrorCode());
    cobnut_lab_mark(COBNUT_LAB_BEGIN, 0);
    for (unsigned i = 0; i < wish.rounds; i++) run_batch(state); // warms what is measured
    for (unsigned i = 0; i < wish.rounds; i++) {
        cobnut_lab_mark(COBNUT_LAB_ITER, 0);
        ipcs += run_batch(state);
    }
    cobnut_lab_mark(COBNUT_LAB_ITER, 0);
    cobnut_lab_mark(COBNUT_LAB_END, 0);
    if (wish.names) {
        mark_name(0);
        for (Word i = 1; i < wish.spaces; i++) call(i, say_name);
    }
    tell_root(done_label, ipcs);
}

void space_main()
{
    const Word me = L4_ThreadNo(L4_Myself()) - setup.first_number;
    const Group group = group_of(me);
    Word state = 88675123 + me * 2654435761;
    L4_ThreadId_t from;
    L4_MsgTag_t tag = L4_Wait(&from);
    for (;;) {
        if (L4_IpcFailed(tag)) tell_root(failed_label, L4_ErrorCode());
        Word what, ipcs = 0;
        L4_StoreMR(1, &what);
        touch();
        if (what == serve) ipcs = serve_one(me, group);
        else if (what == work) ipcs = work_on_batch(me, group, state);
        else mark_name(me);
        L4_Set_MsgTag(L4_MsgTag_t{.raw = 1});
        L4_LoadMR(1, ipcs);
        tag = L4_ReplyWait(from, &from);
    }
}

} // namespace groups
