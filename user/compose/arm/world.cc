// SPDX-License-Identifier: BSD-2-Clause
#include "world.h"

#include <cobnut/pager.h>
#include <l4/kip.h>
#include <l4/sigma0.h>

namespace compose {

constinit Agent agent[agents] = {};
constinit Space space[spaces] = {};
constinit Model memory;
constinit Word value[pages][2] = {};
constinit L4_ThreadId_t controller = {};
constinit const char *wrong = nullptr;

namespace {

constexpr Word victim_number = 1, thread_number = 32; // behind the controller's
constexpr Word patience_us = 200000, user_limit = 0xD0000000, system_calls = 0xFFFFFF00;
constexpr Word utcb_bytes = 512, words_a_page = page_size / sizeof(Word), strays_most = 8;
const auto unchanged = reinterpret_cast<void *>(-1);

constexpr Word ends_of_page[] = {0, words_a_page - 1};

alignas(page_size) constinit Word canaries[victims][canaries_each][words_a_page] = {};
alignas(page_size) constinit Word spare_page[words_a_page] = {};
constinit Word base_of[megabytes] = {}, version = 0, orders = 0;
constinit Word expected = nobody;

/// What an order has met.
struct Met {
    bool faulted, stuck;
    Word address;
};
constinit Met met = {};

L4_ThreadId_t id_of(Word number) { return L4_GlobalId(L4_ThreadNo(controller) + number, version); }
Word number_of(Word g) { return g < threads ? thread_number + g : victim_number + g - threads; }
Word agent_of(L4_ThreadId_t id)
{
    for (Word g = 0; g < agents; g++)
        if (agent[g].there && agent[g].id == id) return g;
    return nobody;
}
void next_version()
{
    version = (version + 1) & 0x3FFF;
    if (version % 64 == 0) version++;
}

Word code_at(Word s, const char *label) { return space[s].code + static_cast<Word>(label - agent_begin); }
Word stub_of(Word s) { return space[s].kip + *reinterpret_cast<const Word *>(__L4_Kip_Base() + L4_KIP_IPC); }

/// What is mapped has to be there first.
L4_MapItem_t item_of(const void *frame, Word address, Word rights)
{
    volatile const Word *const there = static_cast<const Word *>(frame);
    (void)*there;
    return L4_MapItem(L4_FpageLog2(reinterpret_cast<Word>(frame), page_log2) + rights, address & -page_size);
}

/// The answer to a fault of an agent's; false if there is none.
bool load_answer(Word g, Word address, bool writes)
{
    const Word s = space_of(g), page = address & -page_size;
    const auto load = [&](const void *frame, Word rights) {
        cobnut::load_answer(item_of(frame, page, rights));
        return true;
    };
    if (page == space[s].code) return load(agent_begin, L4_ReadeXecOnly);
    if (s >= attackers) {
        for (Word i = 0; i < canaries_each; i++)
            if (page == canary_places[i]) return load(canaries[s - attackers][i], L4_FullyAccessible);
        fail("a victim faults elsewhere");
        return false;
    }
    const Word place = place_at(page);
    if (place < places && memory.permits(Model::node_of(s, place), writes)) fail("what was mapped is not there");
    if (!met.faulted) met.address = address;
    met.faulted = true;
    if (page >= user_limit) return false;
    if (place < places) memory.map(Model::root_of(spare), Model::node_of(s, place), model::read | model::write, false);
    return load(spare_page, L4_FullyAccessible);
}

/// Sends what is loaded to `to`, if that is one, and serves all faults until `g` and the other one expected have
/// reported or no message comes.
bool converse(L4_ThreadId_t to, Word g, Word number)
{
    bool waits = true;
    Word strays = 0;
    while (waits || expected != nobody) {
        L4_ThreadId_t who;
        const L4_MsgTag_t tag =
            L4_Ipc(to, L4_anythread, L4_Timeouts(L4_TimePeriod(patience_us), L4_TimePeriod(patience_us)), &who);
        if (L4_IpcFailed(tag)) {
            if (!(L4_ErrorCode() & 1)) fail("a thread does not take its message");
            expected = nobody;
            return false;
        }
        to = L4_nilthread;
        const Word from = agent_of(who);
        if (from == nobody) {
            if (++strays == strays_most) return fail("messages of threads that are gone"), false;
            continue;
        }
        Agent &a = agent[from];
        L4_StoreMRs(0, 5, a.reported);
        if (cobnut::is_page_fault(tag)) {
            if (load_answer(from, a.reported[1], L4_Label(tag) & L4_Writable)) {
                to = who;
                continue;
            }
            met.stuck = true;
            if (from == g) return expected = nobody, false;
            continue;
        }
        if (L4_Label(tag) != AGENT_REPORT_LABEL) {
            fail("an exception");
            met.stuck = true;
            return expected = nobody, false;
        }
        if (from == g && waits && a.reported[4] == number) waits = false;
        else if (from == expected) expected = nobody;
        else fail("a report that nobody has asked for");
    }
    return true;
}

/// Pages that were given to threads that faulted are the controller's alone again.
void take_spare()
{
    if (!met.faulted) return;
    L4_UnmapFpage(L4_FpageLog2(reinterpret_cast<Word>(spare_page), page_log2) + L4_FullyAccessible);
    memory.unmap(Model::root_of(spare), model::all, false);
    for (const Word i : ends_of_page) *static_cast<volatile Word *>(&spare_page[i]) = spare_word;
}

Answer heard(Word g, bool good)
{
    take_spare();
    const Agent &a = agent[g];
    const Answer answer = {good, met.faulted, met.address, a.reported[1], a.reported[2], a.reported[3]};
    const bool stuck = met.stuck;
    met = {};
    if (!good && !stuck) fail("a thread does not answer");
    if (!good && g < threads) make_thread(g);
    return answer;
}

void load_start(Word s)
{
    L4_Set_MsgTag(L4_MsgTag_t{.raw = 2});
    L4_LoadMR(1, code_at(s, agent_start));
    L4_LoadMR(2, stub_of(s));
}

void write_code(Word page)
{
    auto *at = reinterpret_cast<volatile Word *>(page + AGENT_PAGE_CODE);
    for (const Word *code = agent_page_code; code < agent_page_code_end;) *at++ = *code++;
}

void *utcb_of(Word g)
{
    return reinterpret_cast<void *>(space[space_of(g)].utcbs + (g < threads ? g : 0) * utcb_bytes);
}

bool start(Word g)
{
    agent[g].there = true;
    load_start(space_of(g));
    const bool good = converse(agent[g].id, g, 0);
    take_spare();
    met = {};
    return good;
}

/// A space with its first thread.
bool make_first(Word s, Word g)
{
    const L4_ThreadId_t id = id_of(number_of(g));
    agent[g] = {.id = id};
    Space &own = space[s];
    L4_Fpage_t utcbs = L4_FpageLog2(0x10000000, static_cast<int>(own.utcb_log2));
    if (!L4_ThreadControl(id, id, controller, L4_nilthread, unchanged)) return false;
    if (!Cobnut_SpaceControl(id, 0, L4_FpageLog2(own.kip, page_log2), &utcbs, L4_nilthread, nullptr)) return false;
    own.utcbs = L4_Address(utcbs);
    return L4_ThreadControl(id, id, controller, controller, utcb_of(g)) && start(g);
}

void remove_thread(Word g)
{
    if (agent[g].there) L4_ThreadControl(agent[g].id, L4_nilthread, L4_nilthread, L4_nilthread, unchanged);
    agent[g].there = false;
}

} // namespace

void fail(const char *what)
{
    if (!wrong) wrong = what;
}

Word place_at(Word address)
{
    for (Word place = 0; place < places; place++)
        if (place_address(place) == (address & -page_size)) return place;
    return places;
}

Word megabyte_address(Word m) { return base_of[m]; }
Word page_address(Word page)
{
    return page == spare ? reinterpret_cast<Word>(spare_page) : base_of[page / spots] + spot_offset(page % spots);
}

void renew_victims()
{
    for (Word v = 0; v < victims; v++)
        for (Word i = 0; i < canaries_each; i++)
            for (volatile Word &word : canaries[v][i]) word = canary | v << 8 | i;
}

void renew_megabyte(Word m)
{
    L4_Fpage_t whole = L4_FpageLog2(base_of[m], mega_log2);
    L4_Flush(whole + L4_FullyAccessible);
    if (L4_IsNilFpage(L4_Sigma0_GetPage(L4_nilthread, whole))) fail("sigma0 does not give a megabyte twice");
    for (Word page = m * spots; page < (m + 1) * spots; page++) {
        memory.unmap(Model::root_of(page), model::all, false);
        auto *const words = reinterpret_cast<volatile Word *>(page_address(page));
        for (Word i = 0; i < 2; i++) words[i * (words_a_page - 1)] = value[page][i] = 0x11000000 | orders << 8 | page;
    }
}

bool make_stage()
{
    controller = L4_MyGlobalId();
    for (const Word i : ends_of_page) spare_page[i] = value[spare][i != 0] = spare_word;
    write_code(reinterpret_cast<Word>(spare_page));
    for (Word m = 0; m < megabytes; m++) {
        base_of[m] = L4_Address(L4_Sigma0_GetAny(L4_nilthread, mega_log2, L4_CompleteAddressSpace));
        if (!base_of[m]) return false;
        renew_megabyte(m);
        for (Word page = m * spots; page < (m + 1) * spots; page++) write_code(page_address(page));
    }
    renew_victims();
    next_version();
    for (Word v = 0; v < victims; v++) {
        const Word s = attackers + v;
        space[s] = {.code = v % 2 ? 0x98010000u : 0x00010000u,
                    .kip = v % 2 ? 0x98110000u : 0x000C0000u,
                    .utcb_log2 = page_log2};
        if (!make_first(s, victim(v))) return false;
    }
    return true;
}

bool make_space(Word s, Word code, Word kip, Word utcb_log2)
{
    next_version();
    space[s] = {.code = code, .kip = kip, .utcb_log2 = utcb_log2};
    if (!make_first(s, keeper_of(s))) return false;
    for (Word g = keeper_of(s) + 1; g < keeper_of(s) + threads_each; g++)
        if (!make_thread(g)) return false;
    return true;
}

bool make_thread(Word g)
{
    const Word s = space_of(g);
    L4_ThreadId_t other = {};
    for (Word i = keeper_of(s); i < keeper_of(s) + threads_each; i++)
        if (i != g && agent[i].there) other = agent[i].id;
    remove_thread(g);
    if (L4_IsNilThread(other)) return false;
    agent[g] = {.id = id_of(number_of(g))};
    if (!L4_ThreadControl(agent[g].id, other, controller, controller, utcb_of(g))) return fail("no thread"), false;
    if (start(g)) return true;
    fail("a new thread does not report");
    return false;
}

void remove_space(Word s)
{
    for (Word g = keeper_of(s); g < keeper_of(s) + threads_each; g++) remove_thread(g);
    memory.forget_space(s);
}

void remove_all()
{
    for (Word s = 0; s < attackers; s++) remove_space(s);
}

void more(const Word *words, Word count)
{
    for (Word i = 0; i < count; i++) L4_LoadMR(static_cast<int>(AGENT_MORE + i), words[i]);
}
void expect(Word other) { expected = other; }

Answer order(Word g, const char *entry, Word first, Word second)
{
    orders++;
    L4_Set_MsgTag(L4_MsgTag_t{.raw = 1u << 16 | (AGENT_MORE + AGENT_MOST_MORE - 1)});
    L4_LoadMR(1, code_at(space_of(g), entry));
    L4_LoadMR(2, first);
    L4_LoadMR(3, second);
    L4_LoadMR(4, orders);
    L4_LoadMR(AGENT_MORE + 5, orders);
    return heard(g, converse(agent[g].id, g, orders));
}

Answer call(Word g, Word number, const Word (&registers)[8])
{
    orders++;
    L4_Set_MsgTag(L4_MsgTag_t{.raw = 1u << 16 | (AGENT_MORE + AGENT_MOST_MORE - 1)});
    more(registers, 8);
    L4_LoadMR(1, code_at(space_of(g), agent_call));
    L4_LoadMR(2, system_calls + number);
    L4_LoadMR(4, orders);
    return heard(g, converse(agent[g].id, g, orders));
}

void send_items(Word g, L4_MapItem_t item)
{
    L4_Set_MsgTag(L4_MsgTag_t{.raw = 2u << 6});
    L4_LoadMR(1, item.raw[0]);
    L4_LoadMR(2, item.raw[1]);
    heard(g, converse(agent[g].id, g, 0));
}

bool victim_intact(Word v)
{
    for (Word i = 0; i < canaries_each; i++)
        for (const volatile Word &word : canaries[v][i])
            if (word != (canary | v << 8 | i)) return false;
    return true;
}

Word slot_of(Word s)
{
    Word word = 0;
    const Word g = s < attackers ? keeper_of(s) : victim(s - attackers);
    L4_SpaceControl(agent[g].id, 0, L4_Nilpage, L4_Nilpage, L4_nilthread, &word);
    return word & 0x7F;
}

bool move_to(Word s, Word slot)
{
    Word word = L4_SmallSpaceChange | slot;
    L4_SpaceControl(agent[keeper_of(s)].id, word, L4_Nilpage, L4_Nilpage, L4_nilthread, &word);
    if (!(word & L4_SmallSpaceChange)) return false;
    space[s].asked = true;
    space[s].slot = slot;
    if ((word & 0x7F) != slot) fail("SpaceControl says another slot than it was asked for");
    return true;
}

} // namespace compose
