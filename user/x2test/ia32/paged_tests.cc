// SPDX-License-Identifier: BSD-2-Clause
// Page faults, and answers to them, by the kernel's shortest way: the pager waits without a timeout, and answers as it
// waits again. What it does not do is done as by any other.
#include "reflected.h"

#include <cobnut/tags.h>
#include <cobnut/tls.h>
#include <initializer_list>

namespace x2test {
namespace {

constexpr Word overflow = 8;
constexpr Word read_tag = 0xFFE40002, write_tag = 0xFFE20002, redirected = 1u << 13;
constexpr Word from_base = free_area + 0x40000;     ///< where a pager has its pages
constexpr Word place = free_area + 0x3000;          ///< where its clients have theirs
constexpr Kinds kinds_apart[] = {all_kinds[0], all_kinds[1], all_kinds[2], all_kinds[3]};

/// Reads at `address`, or writes there if `value` is not 0, with this pager. Returns what is there then.
Word do_access(Word pager, Word address, Word value)
{
    volatile Word *const at = reinterpret_cast<volatile Word *>(address);
    L4_Set_Pager(L4_ThreadId_t{.raw = pager});
    if (value) *at = value;
    const Word found = *at;
    L4_Set_Pager(main_id);
    return found;
}

/// As pair_of; the server has the arena's first pages, and the client has what do_access() needs.
Pair paged_pair(Kinds kinds)
{
    const Pair p = pair_of(kinds.client, kinds.server);
    if (!p) return p;
    mark_arena(0xA0000000);
    for (Word n = 0; n < 4; n++) give_page(p.server, n, from_base + n * page_size, L4_FullyAccessible);
    ask(p.client, do_access, main_id.raw, utcb_area + 0x40);
    return p;
}

/// The client accesses this, and the server has the message.
bool fault_is_caught(const Pair &p, Word address, Word value = 0)
{
    caught[0] = caught[1] = 0;
    catch_from(p, do_access, address, value);
    if (caught[0] == (value ? write_tag : read_tag) && caught[1] == address) return true;
    fail("no fault at %x came: tag %x, address %x", address, caught[0], caught[1]);
    return false;
}

/// An answer with one item: pages of the server's, from page n on.
void load_pages(Word n, Word address, Word rights = L4_FullyAccessible, int log2 = 12)
{
    const L4_MapItem_t item = L4_MapItem(L4_FpageLog2(from_base + n * page_size, log2) + rights, address);
    answer[0] = 2u << 6;
    answer[1] = item.raw[0], answer[2] = item.raw[1];
}

/// The server answers with what is loaded, and has the client's next message.
void answer_and_catch(const Pair &p)
{
    caught[0] = 0;
    begin(p.server, do_answer, p.client->id.raw);
    finish(p.server);
}

/// The server answers with what is loaded, and the client comes back with this.
bool comes_back(const Pair &p, Word value)
{
    begin(p.server, do_answer_last, p.client->id.raw);
    const Outcome &out = finish(p.client);
    if (out.done && out.value == value && !out.faults && !out.exceptions) return true;
    fail("the client has %x, not %x, after %u faults", out.value, value, out.faults);
    return false;
}

/// One page, in all pairs of spaces; beside the pager it is known by its local id, and gets no pages.
void one_page()
{
    for (const Kinds kinds : all_kinds)
        for (const Word value : {Word{0}, Word{0x77}}) {
            const Pair p = paged_pair(kinds);
            if (!p) return;
            if (kinds.server == Kind::here) {
                CHECK(fault_is_caught(p, place + 4, value));
                CHECK_EQUAL(p.server->out.value, p.client->local.raw);
                load_pages(1, place);
                answer_and_catch(p);
                CHECK_EQUAL(caught[1], place + 4);
            } else {
                CHECK(fault_is_caught(p, place, value));
                CHECK_EQUAL(p.server->out.value, p.client->id.raw);
                load_pages(1, place);
                CHECK(comes_back(p, value ? value : 0xA0000001));
                CHECK_EQUAL(arena_word(1), value ? value : 0xA0000001);
                CHECK_EQUAL((small_number(p.client) != 0), (kinds.client == Kind::small));
            }
            remove(p);
        }
}

/// No more rights than are given: what may be read only comes again when it is written to, until it may be.
void rights()
{
    for (const Kinds kinds : kinds_apart) {
        const Pair p = paged_pair(kinds);
        if (!p || !fault_is_caught(p, place, 0x78)) return;
        for (const Word given : {Word{L4_Readable}, Word{0}, Word{L4_Readable}}) {
            load_pages(1, place, given);
            answer_and_catch(p);
            CHECK_EQUAL(caught[0], write_tag);
            CHECK_EQUAL(caught[1], place);
        }
        CHECK_EQUAL(arena_word(1), 0xA0000001);
        load_pages(1, place);
        CHECK(comes_back(p, 0x78));
        remove(p);
    }
}

/// A page takes the place of another; several come at once; after an answer with none the same fault comes again.
void other_answers()
{
    for (const Kinds kinds : kinds_apart) {
        const Pair p = paged_pair(kinds);
        if (!p || !fault_is_caught(p, place, 0x79)) return;
        answer[0] = 0;
        answer_and_catch(p);
        CHECK_EQUAL(caught[1], place);
        load_pages(1, place, L4_Readable);
        answer_and_catch(p);
        load_pages(2, place);
        CHECK(comes_back(p, 0x79));
        CHECK_EQUAL(arena_word(1), 0xA0000001);
        CHECK_EQUAL(arena_word(2), 0x79);
        remove(p);
        constexpr Word four = free_area + 4 * page_size;
        const Pair q = paged_pair(kinds);
        if (!q || !fault_is_caught(q, four + page_size)) return;
        load_pages(0, four + page_size, L4_FullyAccessible, 14);
        CHECK(comes_back(q, 0xA0000001));
        for (Word n = 0; n < 4; n++) CHECK_EQUAL(seen(q.client, four + n * page_size), arena_word(n));
        remove(q);
    }
}

/// Two words that are no item map nothing; a grant takes the page from the pager; all that it has is one item, too.
void other_items()
{
    for (const Kinds kinds : kinds_apart) {
        const Pair p = paged_pair(kinds);
        if (!p || !fault_is_caught(p, place)) return;
        load_pages(1, place);
        for (const Word tag : {Word{2}, Word{1u << 6}, Word{3u << 6}}) {
            answer[0] = tag;
            begin(p.server, do_answer, p.client->id.raw);
            pause(3000);
            CHECK(!p.client->out.done);
            if (tag == 2) {
                finish(p.server);
                CHECK_EQUAL(caught[1], place);
            } else {
                CHECK(finish(p.server).error == overflow);
            }
        }
        load_pages(1, place);
        CHECK(comes_back(p, 0xA0000001));
        remove(p);
        const Pair g = paged_pair(kinds);
        if (!g || !fault_is_caught(g, place)) return;
        Agent *mate = agent_beside(g.server);
        if (!mate) return;
        load_pages(1, place);
        answer[1] |= 2;
        CHECK(comes_back(g, 0xA0000001));
        CHECK(faults_on_read(mate, from_base + page_size));
        remove(mate), remove(g);
        const Pair q = paged_pair(kinds);
        if (!q || !fault_is_caught(q, place)) return;
        give_page(q.server, 3, place, L4_FullyAccessible);
        load_pages(0, 0);
        answer[2] = L4_CompleteAddressSpace.raw | L4_Readable;
        CHECK(comes_back(q, 0xA0000003));
        remove(q);
    }
}

/// A thread that waits for a message from the pager has opened no window by that.
void no_answer_without_a_fault()
{
    for (const Kinds kinds : kinds_apart) {
        const Pair p = paged_pair(kinds);
        if (!p) return;
        load_pages(1, place);
        begin(p.client, [](Word from, Word, Word) {
            L4_Accept(L4_UntypedWordsAcceptor);
            const bool failed = L4_IpcFailed(L4_Receive_Timeout(L4_ThreadId_t{.raw = from}, second));
            return failed ? L4_ErrorCode() : 0;
        }, p.server->id.raw);
        pause(1000);
        begin(p.server, do_answer_last, p.client->id.raw);
        CHECK_EQUAL(finish(p.client).value, overflow + 1);
        CHECK(faults_on_read(p.client, place));
        remove(p);
    }
}

/// What is the kernel's stays there, and the pager's own pages are all that it gives.
void not_to_be_mapped()
{
    for (const Kinds kinds : kinds_apart) {
        const Pair p = paged_pair(kinds);
        if (!p || !fault_is_caught(p, place)) return;
        for (const Word at :
             {kip_area, p.client->utcb_area, p.client->utcb_area + page_size, Word{0xC0000000}, Word{0xF0001000}}) {
            load_pages(1, at);
            answer_and_catch(p);
            CHECK_EQUAL(caught[1], place);
        }
        load_pages(0x200, place);
        answer_and_catch(p);
        CHECK_EQUAL(caught[1], place);
        answer[2] = page_at(0xF0000000, L4_FullyAccessible).raw;
        answer_and_catch(p);
        CHECK_EQUAL(caught[1], place);
        answer[2] = page_at(utcb_area, L4_FullyAccessible).raw;
        answer_and_catch(p);
        CHECK_EQUAL(caught[1], place);
        load_pages(1, place);
        CHECK(comes_back(p, 0xA0000001));
        CHECK_EQUAL(ask(p.client, do_read, kip_area).value, L4_KernelMagic);
        remove(p);
    }
}

/// A small client that gets a page past its slot becomes large, at once.
void page_past_the_slot()
{
    for (const Kinds kinds : kinds_apart) {
        const Pair p = paged_pair(kinds);
        if (!p || !fault_is_caught(p, place)) return;
        load_pages(2, beyond_small);
        answer_and_catch(p);
        CHECK_EQUAL(caught[1], place);
        CHECK_EQUAL(small_number(p.client), 0);
        load_pages(1, place);
        CHECK(comes_back(p, 0xA0000001));
        CHECK_EQUAL(seen(p.client, beyond_small), 0xA0000002);
        remove(p);
    }
}

Word do_send_answer(Word client, Word, Word)
{
    L4_LoadMRs(0, 3, answer);
    return L4_IpcSucceeded(L4_Send_Timeout(L4_ThreadId_t{.raw = client}, short_time));
}
/// Only the pager answers: not a thread beside it, nor one beside the client, however they try.
void not_by_others()
{
    for (const Kinds kinds : kinds_apart) {
        const Pair p = paged_pair(kinds);
        if (!p || !fault_is_caught(p, place)) return;
        Agent *beside_server = agent_beside(p.server), *beside_client = agent_beside(p.client);
        if (!beside_server || !beside_client) return;
        load_pages(1, place);
        CHECK(!ask(beside_server, do_send_answer, p.client->id.raw).value);
        CHECK(!ask(beside_client, do_send_answer, p.client->id.raw).value);
        begin(beside_server, do_answer, p.client->id.raw);
        pause(3000);
        CHECK(!p.client->out.done);
        CHECK_EQUAL(L4_Schedule(p.client->id, ~0u, ~0u, ~0u, ~0u, nullptr), L4_SCHEDRESULT_WAITING);
        CHECK(comes_back(p, 0xA0000001));
        // With senders queued at it, its next faults go as before.
        ask(p.client, do_flush, page_at(place, L4_FullyAccessible).raw, 0x40);
        remove(p.server);
        Agent *next = agent(kinds.server);
        if (!next) return;
        const Pair again{p.client, next};
        give_page(next, 2, from_base + 2 * page_size, L4_FullyAccessible);
        CHECK(fault_is_caught(again, place));
        load_pages(2, place);
        CHECK(comes_back(again, 0xA0000002));
        remove(beside_server), remove(beside_client), remove(again);
    }
}

/// The client's redirector has its page faults, too, if the pager lives elsewhere.
void redirected_faults()
{
    for (const bool to_the_pager : {false, true}) {
        const Pair p = paged_pair(all_kinds[3]);
        if (!p) return;
        const L4_ThreadId_t redirector = to_the_pager ? p.server->id : main_id;
        CHECK(redirect(p.client, redirector));
        if (to_the_pager) {
            CHECK(fault_is_caught(p, place));
            load_pages(1, place);
            begin(p.server, do_answer_last, p.client->id.raw);
            pause(3000);
            CHECK_EQUAL(L4_Schedule(p.client->id, ~0u, ~0u, ~0u, ~0u, nullptr), L4_SCHEDRESULT_WAITING);
        } else {
            begin(p.server, do_catch);
            pause(1000);
            begin(p.client, do_access, p.server->id.raw, place);
            L4_ThreadId_t from;
            CHECK_EQUAL(L4_Wait_Timeout(second, &from).raw, read_tag | redirected);
            CHECK(from.raw == p.client->id.raw && !p.server->out.done);
        }
        remove(p);
    }
}

constinit volatile Word ticks = 0;
Word do_count(Word, Word, Word)
{
    for (;;) ticks = ticks + 1;
}
/// A pager of lower priority than a ready thread waits for its turn; so does a client.
void better_thread_ready()
{
    for (const bool client_is_worse : {false, true}) {
        const Pair p = paged_pair(all_kinds[3]);
        Agent *equal = agent(Kind::small); // on the page directory that the others run on
        if (!p || !equal) return;
        // No thread has faults of another kind while main sleeps.
        ask(equal, do_write, reinterpret_cast<Word>(&ticks), 0);
        ask(p.server, do_write, reinterpret_cast<Word>(caught), 0);
        for (const Word at : {reinterpret_cast<Word>(do_answer), reinterpret_cast<Word>(do_catch)})
            ask(p.server, do_read, at);
        // Before they wait: to look at a thread takes it off the shortest way.
        CHECK(L4_Set_Priority(client_is_worse ? p.client->id : p.server->id, 10));
        ticks = caught[0] = 0;
        if (client_is_worse) {
            CHECK(fault_is_caught(p, place, 0x7A));
            load_pages(1, place);
            begin(equal, do_count);
            begin(p.server, do_answer_last, p.client->id.raw);
            pause(30000);
            CHECK(ticks > 0);
            CHECK_EQUAL(arena_word(1), 0xA0000001);
            remove(equal);
            CHECK_EQUAL(finish(p.client).value, 0x7A);
        } else {
            begin(p.server, do_catch);
            pause(1000);
            begin(equal, do_count);
            begin(p.client, do_access, p.server->id.raw, place);
            pause(30000);
            CHECK(ticks > 0);
            CHECK_EQUAL(caught[0], 0);
            CHECK_EQUAL(L4_Schedule(p.client->id, ~0u, ~0u, ~0u, ~0u, nullptr), L4_SCHEDRESULT_WAITING);
            remove(equal);
            finish(p.server);
            CHECK_EQUAL(caught[1], place);
        }
        remove(p);
    }
}

/// Pagers that cannot be one: no thread gets the fault, neither then nor later.
void pagers_that_are_none()
{
    Agent *server = agent(Kind::other);
    if (!server) return;
    const L4_ThreadId_t other_version = L4_GlobalId(L4_ThreadNo(server->id), L4_Version(server->id) ^ 1);
    for (const Word pager : {Word{0}, ~Word{0}, L4_anylocalthread.raw, unused_id().raw, other_version.raw, Word{1}}) {
        Agent *a = agent(Kind::other);
        if (!a) return;
        ask(a, do_access, main_id.raw, utcb_area + 0x40);
        caught[0] = 0;
        begin(server, do_catch);
        pause(1000);
        begin(a, do_access, pager, place);
        CHECK(!finish(a, true).done);
        CHECK_EQUAL(caught[0], 0);
        remove(a);
        const Pair p{agent(Kind::other), server};
        if (!p) return;
        begin(p.client, do_access, server->id.raw, place); // the server still serves
        finish(server);
        CHECK_EQUAL(p.server->out.value, p.client->id.raw);
        remove(p.client);
    }
}

Word do_cancel(Word id, Word, Word)
{
    return __L4_Exregs(L4_ThreadId_t{.raw = id}, L4_EXREGS_SEND | L4_EXREGS_RECV, 0, 0, 0);
}
/// Cancelled, the client tries again; once it is gone, its pager's answer fails.
void ended_meanwhile()
{
    for (const Kinds kinds : kinds_apart) {
        const Pair p = paged_pair(kinds);
        if (!p || !fault_is_caught(p, place)) return;
        begin(p.server, do_catch);
        pause(1000);
        Agent *mate = agent_beside(p.client);
        if (!mate) return;
        caught[1] = 0;
        CHECK_EQUAL(ask(mate, do_cancel, p.client->id.raw).value, L4_EXREGS_RECV);
        finish(p.server);
        CHECK_EQUAL(caught[1], place);
        load_pages(1, place);
        CHECK(comes_back(p, 0xA0000001));
        remove(p.server);
        Agent *next = agent(kinds.server);
        if (!next) return;
        const Pair again{p.client, next};
        CHECK(fault_is_caught(again, place + page_size));
        const L4_ThreadId_t client = p.client->id;
        remove(p.client);
        constexpr Word no_partner = 4;
        answer[0] = 0;
        begin(next, [](Word to, Word, Word) {
            L4_ThreadId_t from;
            L4_LoadMRs(0, 1, answer);
            return Word{L4_IpcFailed(L4_ReplyWait(L4_ThreadId_t{.raw = to}, &from))};
        }, client.raw);
        CHECK(finish(next).value && next->out.error == no_partner);
        remove(next);
    }
}

/// The client's own segment: it finds it again, and the pager finds nothing of it.
Word do_access_with_segment(Word pager, Word address, Word selector)
{
    Word before, found, after;
    L4_Set_Pager(L4_ThreadId_t{.raw = pager});
    __asm__ volatile("mov %%gs, %0; mov %4, %%gs; mov (%3), %1; mov %%gs:0, %2; mov %0, %%gs"
                     : "=&r"(before), "=&r"(found), "=&r"(after)
                     : "r"(address), "r"(selector)
                     : "memory");
    L4_Set_Pager(main_id);
    return found == 0xA0000001 ? after : found;
}
constinit volatile Word left_over = 0;
Word do_catch_without(Word selector, Word, Word)
{
    L4_ThreadId_t from;
    L4_Wait(&from);
    Word usable;
    __asm__ volatile("xor %0, %0; verr %w1; setz %b0" : "=&q"(usable) : "r"(selector) : "cc");
    L4_StoreMRs(0, 13, caught);
    left_over = usable;
    return from.raw;
}
void own_segment()
{
    for (const Kinds kinds : kinds_apart) {
        const Pair p = paged_pair(kinds);
        if (!p) return;
        Word selector = 0;
        CHECK(Cobnut_TlsControl(p.client->id, arena_page(3), &selector));
        arena_word(3) = 0x715;
        ask(p.client, do_read, arena_page(3));
        ask(p.client, do_access_with_segment, main_id.raw, utcb_area + 0x40, selector);
        begin(p.server, do_catch_without, selector);
        pause(1000);
        begin(p.client, do_access_with_segment, p.server->id.raw, place, selector);
        finish(p.server);
        CHECK_EQUAL(caught[0], read_tag);
        CHECK_EQUAL(left_over, 0);
        load_pages(1, place);
        begin(p.server, do_answer_last, p.client->id.raw);
        CHECK_EQUAL(finish(p.client).value, 0x715);
        CHECK_EQUAL(p.client->out.exceptions + p.server->out.exceptions, 0);
        remove(p);
    }
}

Word do_access_with_coprocessor(Word pager, Word address, Word)
{
    const Word value = 0x77;
    Word after;
    __asm__ volatile("fninit; fildl %0" : : "m"(value));
    do_access(pager, address, 0);
    __asm__ volatile("fistpl %0" : "=m"(after));
    return after;
}
Word do_catch_with_coprocessor(Word, Word, Word)
{
    const Word value = 0x88;
    L4_ThreadId_t from;
    L4_Wait(&from);
    __asm__ volatile("fninit; fildl %0; fildl %0" : : "m"(value));
    return from.raw;
}
/// The coprocessor's registers of the client are neither lost nor the pager's.
void coprocessor()
{
    if (!has_coprocessor()) return;
    for (const Kinds kinds : kinds_apart) {
        const Pair p = paged_pair(kinds);
        if (!p) return;
        begin(p.server, do_catch_with_coprocessor);
        pause(1000);
        begin(p.client, do_access_with_coprocessor, p.server->id.raw, place);
        finish(p.server);
        load_pages(1, place);
        CHECK(comes_back(p, 0x77));
        remove(p);
    }
}

/// What takes longer than it may on the way is done to its end.
void many_pages()
{
    constexpr Word all = free_area + 16 * page_size, count = 16, log2 = 16;
    for (const Kinds kinds : kinds_apart) {
        const Pair p = paged_pair(kinds);
        if (!p) return;
        for (Word n = 4; n < count; n++) give_page(p.server, n, from_base + n * page_size, L4_FullyAccessible);
        CHECK(fault_is_caught(p, all, 0x7B));
        load_pages(0, all, L4_Readable, log2);
        answer_and_catch(p);
        CHECK_EQUAL(caught[0], write_tag);
        load_pages(0, all, L4_FullyAccessible, log2);
        CHECK(comes_back(p, 0x7B));
        for (Word n = 0; n < count; n++) CHECK(!faults_on_write(p.client, all + n * page_size));
        remove(p);
    }
}

Word do_break_and_access(Word pager, Word address, Word)
{
    __asm__ volatile("mov %0, %%dr0; mov %1, %%dr7" : : "r"(address), "r"(0xD0001));
    const Word found = do_access(pager, address + page_size, 0);
    *reinterpret_cast<volatile Word *>(address) = 1;
    return found;
}
/// Breakpoints of the client are there again after the answer.
void breakpoints()
{
    constexpr Word debug_exception = 1;
    for (const Kinds kinds : kinds_apart) {
        const Pair p = paged_pair(kinds);
        if (!p) return;
        give_page(p.client, 0, place, L4_FullyAccessible);
        catch_from(p, do_break_and_access, place);
        CHECK_EQUAL(caught[1], place + page_size);
        load_pages(1, place + page_size);
        begin(p.server, do_answer_last, p.client->id.raw);
        finish(p.client, true);
        CHECK_EQUAL(p.client->out.exceptions, 1);
        CHECK_EQUAL(p.client->out.exception[3], debug_exception);
        remove(p);
    }
}

} // namespace

const Test paged_tests[] = {
    {"paged.one_page", one_page},
    {"paged.rights", rights},
    {"paged.other_answers", other_answers},
    {"paged.other_items", other_items},
    {"paged.no_answer_without_a_fault", no_answer_without_a_fault},
    {"paged.not_to_be_mapped", not_to_be_mapped},
    {"paged.page_past_the_slot", page_past_the_slot},
    {"paged.not_by_others", not_by_others},
    {"paged.redirected", redirected_faults},
    {"paged.better_thread_ready", better_thread_ready},
    {"paged.pagers_that_are_none", pagers_that_are_none},
    {"paged.ended_meanwhile", ended_meanwhile},
    {"paged.own_segment", own_segment},
    {"paged.coprocessor", coprocessor},
    {"paged.many_pages", many_pages},
    {"paged.breakpoints", breakpoints},
    {nullptr, nullptr},
};

} // namespace x2test
