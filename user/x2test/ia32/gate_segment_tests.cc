// SPDX-License-Identifier: BSD-2-Clause
// A client in a controlled space with its segment in FS alone: nothing in GS, so that its handler can let two segments
// take turns (docs/x2-ia32.md, 14.1).
#include "reflected.h"

#include <cobnut/control.h>
#include <cobnut/tls.h>
#include <initializer_list>

extern "C" {
/// With `selector` in FS and nothing new in GS: a call by int with EAX 7; returns the word at GS:0.
/// Selector 0: only sees to it that the code is there. The instruction that reads, of six bytes.
x2test::Word x2test_gs_beside_fs(x2test::Word selector, x2test::Word, x2test::Word);
extern const char x2test_reads_gs[];
}
__asm__(".text\n"
        "x2test_gs_beside_fs: mov 4(%esp), %ecx; jecxz 1f; mov %gs, %edx; push %edx; mov %ecx, %fs\n"
        "mov $7, %eax; int $0x80\n"
        "x2test_reads_gs: mov %gs:0, %eax\n"
        "mov %ds, %edx; mov %edx, %fs; pop %edx; mov %edx, %gs\n"
        "1: ret\n");

namespace x2test {
namespace {

constexpr Word protection = 13;

/// Client and server in spaces of their own; the client's is controlled and has no redirector, and the client has a
/// segment. Null after fail().
Pair segment_pair(const Kinds &kinds, Word &selector)
{
    return with_segment(in_controlled_space(pair_of(kinds.client, kinds.server)), selector);
}

Word do_read_gs(Word handler, Word selector, Word)
{
    const Word local = L4_MyLocalId().raw;
    L4_Set_ExceptionHandler(L4_ThreadId_t{.raw = handler});
    const Word found = x2test_gs_beside_fs(selector, 0, 0);
    L4_Set_ExceptionHandler(main_id);
    return found == local ? 0x6E0 : found;
}
/// limits=1: with its segment in FS alone the client has nothing in GS, and its handler hears of each access; if its
/// space is not controlled, it has its UTCB's there as ever.
void segment_in_fs_alone()
{
    if (!wish.limits) return;
    constexpr Word bytes = 6;
    for (const Kinds &kinds : kinds_apart)
        for (const bool controlled : {true, false}) {
            Word selector = 0;
            const Pair p = segment_pair(kinds, selector);
            if (!p) return;
            ask(p.client, do_read_gs, main_id.raw, 0);
            if (controlled) CHECK(redirect(p.client, p.server->id));
            else CHECK(cobnut::set_controlled(p.client->id, false));
            catch_from(p, do_read_gs, selector);
            CHECK_EQUAL(caught[12], 7);
            load_simple_answer(8);
            if (controlled) {
                begin(p.server, do_answer, p.client->id.raw);
                finish(p.server);
                CHECK_EQUAL(caught[1], reinterpret_cast<Word>(x2test_reads_gs));
                CHECK_EQUAL(caught[3], protection);
                CHECK_EQUAL(caught[4], 0);
                CHECK_EQUAL(caught[12], 8);
                for (Word i = 1; i < 13; i++) answer[i] = caught[i];
                answer[0] = 12, answer[1] += bytes, answer[12] = 9;
            }
            CHECK(free_client_comes_back(p, controlled ? 9 : 0x6E0));
            CHECK_EQUAL((small_number(p.client) != 0), (kinds.client == Kind::small));
            remove(p);
        }
}

/// Without the segment it has its UTCB's in GS again, though FS is what it was.
Word do_give_segment_up(Word selector, Word, Word)
{
    const L4_ThreadId_t local = L4_MyLocalId();
    __asm__ volatile("mov %0, %%fs" : : "r"(selector));
    Cobnut_TlsControl(local, ~Word{0}, nullptr);
    Word found;
    __asm__ volatile("mov %%gs:0, %0" : "=r"(found));
    return found == local.raw;
}
void segment_given_up()
{
    for (const Kinds &kinds : kinds_apart) {
        Word selector = 0;
        const Pair p = segment_pair(kinds, selector);
        if (!p) return;
        CHECK(redirect(p.client, L4_anythread));
        CHECK_EQUAL(ask(p.client, do_give_segment_up, selector).value, 1);
        remove(p);
    }
}

} // namespace

const Test gate_segment_tests[] = {
    {"gate.segment_in_fs_alone", segment_in_fs_alone},
    {"gate.segment_given_up", segment_given_up},
    {nullptr, nullptr},
};

} // namespace x2test
