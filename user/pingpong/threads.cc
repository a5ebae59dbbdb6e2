// SPDX-License-Identifier: BSD-2-Clause
// The two partners. They run in their own spaces on the same image as the root thread, mapped one to one.
#include "pingpong.h"

#include <cobnut/program.h>
#include <cobnut/tls.h>
#include <l4/ipc.h>
#include <l4/kip.h>

namespace pingpong {
namespace {

L4_Word_t ipc_entry()
{
    auto *page = static_cast<char *>(L4_GetKernelInterface());
    return reinterpret_cast<L4_Word_t>(page) + L4_KIP_(page)->Ipc;
}

L4_Word_t message_tag() { return setup.wish.words; }

void fill_message()
{
    for (unsigned i = 1; i <= setup.wish.words; i++) L4_LoadMR(static_cast<int>(i), 0x1000 + i);
}

Loop make_loop(const WorkingSet &set, L4_ThreadId_t partner, L4_ThreadId_t other)
{
    return {0,        partner.raw, message_tag(), ipc_entry(), other.raw, set.code,
            set.data, set.reads,   set.distance,  set.sweep,   0};
}

[[noreturn]] void tell_root(L4_Word_t label, const char *who, L4_Word_t error)
{
    L4_Set_MsgTag(L4_MsgTag_t{.raw = label << 16 | 2});
    L4_LoadMR(1, reinterpret_cast<L4_Word_t>(who));
    L4_LoadMR(2, error);
    L4_Send(L4_Pager());
    for (;;) L4_Sleep(L4_Never);
}

/// Loads GS with a segment that starts in the middle of some words, and has there what the library wants behind GS.
void take_segment()
{
    alignas(64) static constinit L4_Word_t words[2] = {};
    words[1] = L4_MyLocalId().raw;
    L4_Word_t selector = 0;
    if (!Cobnut_TlsControl(L4_Myself(), reinterpret_cast<L4_Word_t>(words + 1), &selector))
        tell_root(failed_label, "client: no segment of its own", L4_ErrorCode());
    __asm__ __volatile__("mov %0, %%gs" : : "r"(selector));
}

/// The size that follows `size`; the last one itself.
unsigned size_after(const Wish &wish, unsigned size)
{
    const unsigned regular = size - (size - wish.first) % wish.step; // what `also` stands behind
    const unsigned next = wish.last - regular >= wish.step ? regular + wish.step : size; // the sum could wrap
    return wish.also > size && (next == size || wish.also < next) ? wish.also : next;
}

} // namespace

void client_main()
{
    const Wish &wish = setup.wish;
    L4_Set_ExceptionHandler(L4_Pager());
    if (wish.work == Work::turns) take_segment();
    unsigned number = 0;
    const unsigned calls = !wish.calls ? 2 : wish.servers - 1;
    for (unsigned size = wish.first;; size = size_after(wish, size), number++) {
        const WorkingSet set = make_working_set(wish, size);
        fill_message();
        Loop loop = make_loop(set, setup.server, setup.other_server);
        loop.case_number = number;
        loop.rounds = wish.warmup;
        L4_Word_t failed = wish.warmup ? client_loop(&loop, loop_kind(calls, set.kind), 0) : 0;
        loop.rounds = wish.rounds;
        if (!failed) failed = client_loop(&loop, loop_kind(calls, set.kind), 1);
        if (failed) tell_root(failed_label, "client", L4_ErrorCode());
        if (wish.verbose) cobnut::print("case %u size %u done\n", number, size);
        if (size_after(wish, size) == size) break;
    }
    tell_root(done_label, "client", 0);
}

void server_main()
{
    L4_Set_ExceptionHandler(L4_Pager());
    fill_message();
    const WorkingSet set = make_server_working_set(setup.wish);
    const Loop loop = make_loop(set, setup.client, L4_nilthread);
    (void)server_loop(&loop, set.kind == Kind::data, static_cast<int>(setup.wish.halves));
    tell_root(failed_label, "server", L4_ErrorCode());
}

} // namespace pingpong
