// SPDX-License-Identifier: BSD-2-Clause
#include "stage.h"

#include <cobnut/pager.h>
#include <cobnut/program.h>

namespace attack {

constinit Stage stage = {};

namespace {

constexpr Word victim_pages = 3, words_a_page = page_size / sizeof(Word);
constexpr Word attackers_number = 8;  // thread numbers behind the controller's: victims, then the short-lived
alignas(page_size) constinit unsigned char foreign[victim_pages][page_size] = {};
alignas(page_size) constinit unsigned char own[short_lived][page_size] = {};

L4_ThreadId_t number(Word n, Word version) { return L4_GlobalId(L4_ThreadNo(L4_Myself()) + 1 + n, version); }

void load_item(const void *frame, Word at, Word rights)
{
    volatile const Word *const present = static_cast<const Word *>(frame);
    (void)*present; // only what is present here can be mapped
    const L4_MapItem_t item = L4_MapItem(L4_FpageLog2(reinterpret_cast<Word>(frame), 12) + rights, at & -page_size);
    L4_Set_MsgTag(L4_MsgTag_t{.raw = 2u << 6});
    L4_LoadMR(1, item.raw[0]);
    L4_LoadMR(2, item.raw[1]);
}

bool make_victim(Space &victim, Word n, Word base)
{
    fill(foreign[n], foreign_word);
    victim.page = foreign[n];
    return victim.make(number(n, 1), base) && victim.start(attack_victim, base + page_offset) &&
           victim.wait_until_ready();
}

bool intact(Space &victim)
{
    const auto *const words = static_cast<const volatile Word *>(victim.page);
    for (Word i = 0; i < words_a_page; i++)
        if (words[i] != foreign_word) return false;
    L4_Set_MsgTag(L4_Niltag);
    if (L4_IpcFailed(L4_Send_Timeout(victim.id, L4_TimePeriod(100000)))) return false;
    const Report r = victim.listen();
    return !r.silent && !r.fault && !r.exception && r.message[1] == words_a_page * foreign_word;
}

} // namespace

void fill(void *page, Word with)
{
    auto *const words = static_cast<volatile Word *>(page);
    for (Word i = 0; i < words_a_page; i++) words[i] = with;
}

L4_ThreadId_t fresh_id(Word which)
{
    stage.version = (stage.version + 1) & 0x3FFF;
    if ((stage.version & 63) == 0) stage.version++;
    return number(attackers_number + which, stage.version);
}

void *own_page(Word which, Word with)
{
    fill(own[which], with);
    return own[which];
}

bool Space::make(L4_ThreadId_t thread, Word at)
{
    const L4_ThreadId_t me = L4_Myself();
    L4_Fpage_t utcbs = L4_FpageLog2(at + 2 * kip_offset, 12);
    id = thread;
    base = at;
    made = L4_ThreadControl(id, id, me, L4_nilthread, reinterpret_cast<void *>(-1)) &&
           Cobnut_SpaceControl(id, 0, L4_FpageLog2(at + kip_offset, 12), &utcbs, L4_nilthread, nullptr) &&
           L4_ThreadControl(id, id, me, me, reinterpret_cast<void *>(L4_Address(utcbs)));
    utcb = L4_Address(utcbs);
    if (!made) cobnut::print("attack: no space at %08x: error %u\n", at, L4_ErrorCode());
    return made;
}

bool Space::start(const unsigned char *code, Word sp)
{
    L4_Set_MsgTag(L4_MsgTag_t{.raw = 2});
    L4_LoadMR(1, base + static_cast<Word>(code - attack_page));
    L4_LoadMR(2, sp);
    return L4_IpcSucceeded(L4_Send_Timeout(id, L4_TimePeriod(1000000)));
}

void Space::map(const void *frame, Word at, Word rights)
{
    load_item(frame, at, rights);
    L4_Reply(id);
}

bool Space::supply(Word address)
{
    const Word offset = (address & -page_size) - base;
    if (offset == 0) map(attack_page, address, L4_ReadeXecOnly);
    else if (offset == page_offset && page) map(page, address, L4_FullyAccessible);
    else return false;
    return true;
}

Report Space::listen(Word patience)
{
    for (;;) {
        const L4_MsgTag_t tag = L4_Receive_Timeout(id, L4_TimePeriod(patience * 1000));
        Report r;
        L4_StoreMRs(0, 14, r.message);
        const Word label = L4_Label(tag);
        r.silent = L4_IpcFailed(tag);
        if (r.silent) return r;
        r.fault = cobnut::is_page_fault(tag);
        r.exception = label == 0xFFB0;
        r.words = L4_UntypedWords(tag);
        r.address = r.message[1], r.ip = r.message[2], r.rights = label & 7;
        if (!r.fault || !supply(r.address)) return r;
    }
}

bool Space::wait_until_ready()
{
    constexpr Word while_it_gets_there = 5;
    return listen(while_it_gets_there).silent;
}

void Space::remove()
{
    if (made) L4_ThreadControl(id, L4_nilthread, L4_nilthread, L4_nilthread, reinterpret_cast<void *>(-1));
    made = false;
}

Word Space::slot() const
{
    Word old = 0;
    L4_SpaceControl(id, 0, L4_Nilpage, L4_Nilpage, L4_nilthread, &old);
    return old & 0x7F;
}

bool make_victims()
{
    return make_victim(stage.alike, 0, alike) && make_victim(stage.beyond, 1, beyond) &&
           make_victim(stage.apart, 2, apart) && victims_intact();
}

bool victims_intact() { return intact(stage.alike) && intact(stage.beyond) && intact(stage.apart); }

void restore_victims()
{
    for (auto &page : foreign) fill(page, foreign_word);
}

Report attempt(const unsigned char *code, Word target)
{
    Space attacker;
    attacker.page = own_page(0, own_word);
    Report r;
    if (attacker.make(fresh_id(), alike) && attacker.start(code, target)) r = attacker.listen();
    if (stage.leaks && r.fault && r.address < utcb_areas) {
        attacker.map(stage.apart.page, r.address, L4_FullyAccessible);
        r = attacker.listen();
    }
    r.slot = attacker.slot();
    attacker.remove();
    return r;
}

} // namespace attack
