// SPDX-License-Identifier: BSD-2-Clause
#include "world.h"

#include <cobnut/control.h>
#include <cobnut/pager.h>
#include <cobnut/program.h>
#include <initializer_list>
#include <l4/kip.h>
#include <l4/schedule.h>

namespace compose {

constinit Thread thread[threads] = {};
constinit Space space[attackers] = {};
constinit L4_ThreadId_t victim[victims] = {};
constinit bool limits = false;

namespace {

// Numbers behind the controller's: the alarm, the victims, the attackers' threads.
constexpr Word alarm_number = 1, victim_number = 2, thread_number = 8;
constexpr Word blocks_at = 0x600, block_bytes = 0x100, below_stack = 0x40; // in a keeper's page, behind the code
static_assert(blocks_at + threads * block_bytes <= page_size);
constexpr Word exception_label = 0xFFB0;
constexpr Word faults_most = 8, alarm_microseconds = 4000, alarms_most = 2, alarms_running = 8;
const auto unchanged = reinterpret_cast<void *>(-1);

// Frames: of each space one for its keeper, one with code only, one that is given where nothing is expected; and the
// victims'.
enum Frame : Word { keeper_frame, code_frame, spare_frame, frames_each };
constexpr Word spaces_most = attackers + victims;
alignas(page_size) constinit unsigned char frames[spaces_most * frames_each][page_size] = {};
alignas(page_size) constinit Word
    canaries[victims][sizeof canary_places / sizeof *canary_places][page_size / sizeof(Word)] = {};
alignas(16) constinit unsigned char alarm_stack[1024] = {};
constinit Word version = 1;
constinit L4_ThreadId_t controller = {}, alarm = {};

unsigned char *frame(Word s, Frame which) { return frames[s * frames_each + which]; }
L4_Fpage_t fpage(const void *at, Word rights) { return L4_FpageLog2(reinterpret_cast<Word>(at), 12) + rights; }
L4_ThreadId_t id_of(Word number) { return L4_GlobalId(L4_ThreadNo(controller) + number, version); }

Word stub_at(Word field) { return kip_area + *reinterpret_cast<const Word *>(__L4_Kip_Base() + field); }

/// The keeper's page of a space: code, and a block for each thread that can come to live there.
void fill_frames(Word s)
{
    for (const Frame which : {keeper_frame, code_frame}) {
        unsigned char *const page = frame(s, which);
        for (Word i = 0; i < static_cast<Word>(agent_end - agent_begin); i++)
            page[i] = static_cast<unsigned char>(agent_begin[i]);
    }
    auto *spare = reinterpret_cast<volatile Word *>(frame(s, spare_frame));
    for (Word i = 0; i < page_size / sizeof(Word); i++) spare[i] = own_fill;
    for (Word g = 0; g < threads; g++) {
        auto *words =
            reinterpret_cast<volatile Word *>(frame(s, keeper_frame) + blocks_at + g * block_bytes + below_stack);
        for (Word i = 0; i < (block_bytes - below_stack) / sizeof(Word); i++) words[i] = 0;
        words[BLOCK_STUB / 4] = stub_at(L4_KIP_IPC);
        words[BLOCK_SIGNATURE / 4] = 0x51600000 | s << 8 | g;
        words[BLOCK_CONTROLLER / 4] = controller.raw;
    }
}

/// Wakes the controller when a thread does not answer.
[[noreturn]] void alarm_main()
{
    for (;;) {
        L4_Sleep(L4_TimePeriod(alarm_microseconds));
        L4_Set_MsgTag(L4_Niltag);
        L4_Send_Timeout(controller, L4_ZeroTime);
    }
}

/// Which of the attackers' spaces and frames; victims' come behind.
bool load_answer(Word s, Word address, bool write)
{
    const Word page = address & ~(page_size - 1);
    const auto load = [&](const void *what, Word rights) {
        cobnut::load_answer(L4_MapItem(fpage(what, rights), page));
    };
    if (page == keeper_page) return load(frame(s, keeper_frame), L4_FullyAccessible), true;
    if (s >= attackers) {
        for (Word i = 0; i < sizeof canary_places / sizeof *canary_places; i++)
            if (page == canary_places[i]) return load(canaries[s - attackers][i], L4_FullyAccessible), true;
        return false;
    }
    for (Word i = 0; i < place_count; i++) {
        if (page != places[i]) continue;
        if (write) return false; // code stays as it is
        space[s].mapped[i] = true;
        return load(frame(s, code_frame), L4_ReadeXecOnly), true;
    }
    return load(frame(s, spare_frame), L4_FullyAccessible), true;
}

bool runs(L4_ThreadId_t id)
{
    constexpr Word running = 3;
    return L4_Schedule(id, ~0u, ~0u, ~0u, ~0u, nullptr) == running;
}

/// Sends to `to`, if that is one, and serves faults of `from`'s until it says something. `s`: whose frames it gets.
Heard converse(L4_ThreadId_t to, L4_ThreadId_t from, Word s, Word g)
{
    Word faults = 0, alarms = 0;
    bool refused = false;
    for (L4_ThreadId_t who;;) {
        const L4_MsgTag_t tag = L4_Ipc(to, L4_anythread, L4_Timeouts(L4_ZeroTime, L4_Never), &who);
        if (L4_IpcFailed(tag)) {
            refused = refused || !(L4_ErrorCode() & 1); // and the other one may go on because of that: until the alarm
            to = L4_nilthread;
            continue;
        }
        to = L4_nilthread;
        if (refused && L4_IsLocalId(who)) return Heard::refused;
        // the one other thread of this space
        if (L4_IsLocalId(who) && ++alarms >= (runs(from) ? alarms_running : alarms_most)) return Heard::lost;
        if (!(who == from)) continue;
        if (g < threads && L4_Label(tag) == exception_label) thread[g].reflected = true;
        if (!cobnut::is_page_fault(tag))
            return L4_Label(tag) == AGENT_REPORT_LABEL ? Heard::report : L4_Label(tag) ? Heard::lost : Heard::answer;
        Word address;
        L4_StoreMR(1, &address);
        if (g < threads) note_reach(thread[g].space, address);
        if (++faults > faults_most || !load_answer(s, address, L4_Label(tag) & L4_Writable)) return Heard::lost;
        to = who;
    }
}

Heard converse(Word g, bool sends)
{
    Thread &t = thread[g];
    note_going_on(g);
    t.reflected = false;
    const Heard heard = converse(sends ? t.id : L4_nilthread, t.id, t.space, g);
    t.state = heard == Heard::report || heard == Heard::answer ? State::waits : State::lost;
    return heard;
}

/// The thread's first message: where it begins.
void load_start(Word ip, Word sp)
{
    L4_Set_MsgTag(L4_MsgTag_t{.raw = 2});
    L4_LoadMR(1, ip);
    L4_LoadMR(2, sp);
}

bool make_victim(Word v, bool small, Word location)
{
    const L4_ThreadId_t id = victim[v] = L4_GlobalId(L4_ThreadNo(controller) + victim_number + v, 1);
    fill_frames(attackers + v);
    Word old = small ? L4_SmallSpaceChange | L4_SmallSpace(location, 4) : L4_SmallSpaceChange;
    if (!L4_ThreadControl(id, id, controller, L4_nilthread, unchanged) ||
        !L4_SpaceControl(id, old, L4_FpageLog2(kip_area, 12), L4_FpageLog2(utcb_areas[0], utcb_area_log2), L4_nilthread,
                         &old) ||
        !(old & L4_SmallSpaceChange) ||
        !L4_ThreadControl(id, id, controller, controller, reinterpret_cast<void *>(utcb_areas[0])))
        return false;
    load_start(entry(keeper_page, agent_report), keeper_page + blocks_at + below_stack);
    if (converse(id, id, attackers + v, threads) != Heard::report) return false;
    for (const Word at : canary_places) {
        auto *words = reinterpret_cast<volatile Word *>(frame(attackers + v, keeper_frame) + blocks_at + below_stack);
        words[BLOCK_ARGUMENT / 4] = at;
        L4_Set_MsgTag(L4_MsgTag_t{.raw = 1u << 16 | 1});
        L4_LoadMR(1, entry(keeper_page, agent_read_ds));
        if (converse(id, id, attackers + v, threads) != Heard::report || words[BLOCK_EAX / 4] != canary) return false;
    }
    return true;
}

/// In one instruction: it is looked at after every step.
bool full_of(const Word (&page)[page_size / sizeof(Word)], Word word)
{
    const Word *at = page;
    Word left = page_size / sizeof(Word);
    bool same;
    __asm__ volatile("cld; repe scasl" : "+D"(at), "+c"(left), "=@cce"(same) : "a"(word) : "memory");
    return same;
}

constexpr Word victim_locations[victims] = {0, 8, 0};
bool is_small(Word v) { return v < 2; }

} // namespace

bool alive(Word s) { return !L4_IsNilThread(thread[keeper_of(s)].id) && thread[keeper_of(s)].state == State::waits; }

void note_reach(Word s, Word address)
{
    if (address > space[s].reach) space[s].reach = address;
}

void note_going_on(Word g)
{
    const Thread &t = thread[g];
    note_reach(t.space, t.at | (page_size - 1));
    if (t.tls != ~Word{0}) note_reach(t.space, t.tls);
}

bool make_stage()
{
    controller = L4_MyGlobalId();
    version = 1;
    alarm = id_of(alarm_number);
    const auto utcb = reinterpret_cast<void *>((L4_MyLocalId().raw & ~0x1FFFFu) + 512);
    if (!L4_ThreadControl(alarm, controller, controller, controller, utcb)) return false;
    load_start(reinterpret_cast<Word>(alarm_main), reinterpret_cast<Word>(alarm_stack + sizeof alarm_stack - 16));
    L4_Set_Priority(alarm, 255);
    if (L4_IpcFailed(L4_Send_Timeout(alarm, L4_TimePeriod(1000000)))) return false;
    restore_victims();
    for (Word v = 0; v < victims; v++)
        if (!make_victim(v, is_small(v), victim_locations[v])) return false;
    return true;
}

void visit_victims()
{
    for (Word v = 0; v < victims; v++) {
        L4_Set_MsgTag(L4_Niltag);
        converse(victim[v], victim[v], attackers + v, threads);
    }
}

void restore_victims()
{
    for (auto &pages : canaries) {
        void *at = pages;
        Word left = sizeof pages / sizeof(Word);
        __asm__ volatile("cld; rep stosl" : "+D"(at), "+c"(left) : "a"(canary) : "memory");
    }
}

const char *harmed_victim()
{
    for (const auto &pages : canaries)
        for (const auto &page : pages)
            if (!full_of(page, canary)) return "a victim's memory has changed";
    for (Word v = 0; v < victims; v++) {
        const cobnut::Tag tag = cobnut::tag_of(victim[v]);
        if (tag.size_mb != (is_small(v) ? 4 : 0) || tag.offset_mb != victim_locations[v])
            return "a victim has another slot";
    }
    return nullptr;
}

volatile Word &block(Word g, Word field)
{
    return *reinterpret_cast<volatile Word *>(frame(thread[g].space, keeper_frame) + blocks_at + g * block_bytes +
                                              below_stack + field);
}
Word stack_of(Word g) { return keeper_page + blocks_at + g * block_bytes + below_stack; }
Word entry(Word base, const char *label) { return base + static_cast<Word>(label - agent_begin); }
L4_Fpage_t code_page(Word s) { return fpage(frame(s, code_frame), L4_ReadeXecOnly); }
void take_code(Word s)
{
    L4_Unmap(fpage(frame(s, code_frame), L4_FullyAccessible));
    for (bool &there : space[s].mapped) there = false;
}

bool make_thread(Word g)
{
    const Word s = g / threads_each;
    Thread &t = thread[g];
    if (!L4_IsNilThread(t.id)) L4_ThreadControl(t.id, L4_nilthread, L4_nilthread, L4_nilthread, unchanged);
    t = {.id = id_of(thread_number + g), .space = s, .at = keeper_page};
    // Space and place are chosen: the keeper's is made by make_space().
    const auto utcb = reinterpret_cast<void *>(space[s].utcb_area + g * 512);
    if (!L4_ThreadControl(t.id, thread[keeper_of(s)].id, controller, controller, utcb))
        return t.id = L4_nilthread, false;
    load_start(entry(keeper_page, agent_report), stack_of(g));
    return converse(g, true) == Heard::report;
}

bool make_space(Word s, Word first, Word area)
{
    if (++version == 1u << 14) version = 1;
    if (version % 64 == 0) version++;
    space[s] = {.utcb_area = area};
    fill_frames(s);
    Thread &keeper = thread[keeper_of(s)];
    keeper = {.id = id_of(thread_number + keeper_of(s)), .space = s};
    if (!L4_ThreadControl(keeper.id, keeper.id, controller, L4_nilthread, unchanged))
        return keeper.id = L4_nilthread, false;
    const L4_ThreadId_t id = keeper.id;
    for (const Word utcbs : {first, area})
        if (!L4_SpaceControl(id, 0, L4_FpageLog2(kip_area, 12), L4_FpageLog2(utcbs, utcb_area_log2), L4_nilthread,
                             nullptr))
            return false;
    const auto utcb = reinterpret_cast<void *>(area + keeper_of(s) * 512);
    if (!L4_ThreadControl(id, id, controller, controller, utcb)) return false;
    keeper.at = keeper_page;
    load_start(entry(keeper_page, agent_report), stack_of(keeper_of(s)));
    if (converse(keeper_of(s), true) != Heard::report) return false;
    for (Word g = keeper_of(s) + 1; g < keeper_of(s) + threads_each; g++)
        if (!make_thread(g)) return false;
    return true;
}

void remove_space(Word s)
{
    for (Word g = 0; g < threads; g++) {
        if (g / threads_each != s && thread[g].space != s) continue;
        if (!L4_IsNilThread(thread[g].id))
            L4_ThreadControl(thread[g].id, L4_nilthread, L4_nilthread, L4_nilthread, unchanged);
        thread[g] = {.id = {}, .space = g / threads_each};
    }
}

void remove_all()
{
    for (Word s = 0; s < attackers; s++) remove_space(s);
}

Heard tell(Word g) { return converse(g, true); }
Heard hear(Word g) { return converse(g, false); }

Heard send_to(Word g, Word ip)
{
    L4_Set_MsgTag(L4_MsgTag_t{.raw = 1u << 16 | 1});
    L4_LoadMR(1, ip);
    const Heard heard = tell(g);
    thread[g].at = ip & ~(page_size - 1);
    note_reach(thread[g].space, thread[g].at);
    return heard;
}

Heard answer_to(Word g, Word ip, Word flags, bool by_lret)
{
    Word words[] = {ip, flags, 0, 0, 1, 2, 3, stack_of(g), 4, 5, 6, 7};
    if (by_lret) {
        constexpr Word frame_bytes = 2 * sizeof(Word);
        block(g, -frame_bytes) = ip;
        block(g, sizeof(Word) - frame_bytes) = AGENT_USER_CODE;
        words[0] = entry(keeper_page, agent_lret);
        words[3] = cobnut::sysenter_answer;
        words[7] -= frame_bytes;
    }
    L4_Set_MsgTag(L4_MsgTag_t{.raw = 12});
    for (Word i = 0; i < 12; i++) L4_LoadMR(static_cast<int>(i + 1), words[i]);
    thread[g].at = ip & ~(page_size - 1);
    note_reach(thread[g].space, thread[g].at);
    return tell(g);
}

Word call(Word g, Word field, const L4_Registers_t &registers)
{
    block(g, BLOCK_TARGET) = stub_at(field);
    const Word words[] = {registers.eax, registers.ecx, registers.edx, registers.esi,
                          registers.edi, registers.ebx, registers.ebp};
    for (Word i = 0; i < 7; i++) block(g, BLOCK_REGISTERS + i * 4) = words[i];
    return send_to(g, entry(keeper_page, agent_call)) == Heard::report ? block(g, BLOCK_EAX) : 0;
}

Heard send_code(Word g)
{
    constexpr Word words_most = L4_NumMRs - 3;
    const Word bytes = static_cast<Word>(agent_mini_end - agent_mini), words = (bytes + 3) / 4;
    static_assert(words_most * 4 >= 0x80);
    L4_Set_MsgTag(L4_MsgTag_t{.raw = words + 2});
    L4_LoadMR(1, 0);
    L4_LoadMR(2, 0);
    for (Word i = 0; i < words; i++) L4_LoadMR(static_cast<int>(i + 3), reinterpret_cast<const Word *>(agent_mini)[i]);
    return tell(g);
}

} // namespace compose
