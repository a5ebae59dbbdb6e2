// SPDX-License-Identifier: BSD-2-Clause
#include "spaces.h"

#include "movers.h"

#include <cobnut/format.h>
#include <cobnut/pager.h>
#include <cobnut/program.h>
#include <cobnut/tags.h>
#include <cobnut/tls.h>
#include <initializer_list>
#include <l4/schedule.h>

extern "C" {
extern char image_start[], image_end[];
/// Loads EIP, ESI, EDI, EBX, ECX, EDX, EAX and EBP (trials.S).
[[noreturn]] void attack_go(const L4_Word_t *registers);
/// An IPC without the library's care for flags and GS (trials.S); the registers' MRs go to `mr`. Returns the flags
/// afterwards.
L4_Word_t attack_ipc(L4_Word_t to, L4_Word_t from, L4_Word_t timeouts, L4_Word_t *mr, L4_Word_t *sender);
L4_Word_t attack_gs_word();
}

namespace attack {

constinit Stage stage = {};
constinit Placed placed = {};

namespace {

constexpr Word utcb_area = 0x00800000, utcb_area_log2 = 12;
constexpr Word hello_label = 0x0A70, map_label = 0x0A71, window_label = 0x0A72, run_label = 0x0A73,
               victim_label = 0x0A74;
constexpr unsigned supplies = 4;
/// The slots' names, as of L4_SmallSpace.
constexpr Word slot_below = slot_mb / 4, slot_middle = slot_mb / 2 | slot_below, slot_above = slot_mb | slot_below;

// Physical memory to map: the attacker's own pages, what is supplied on faults, and the victims'.
enum Page : Word { own_first, own_last, own_scratch, own_stack, supplied, foreign = supplied + supplies };
constexpr Word victims_most = 4, foreign_pages = 3 * victims_most + 1; // three of each victim, and the host's
constexpr Word host = foreign + foreign_pages - 1, pages = host + 1;
alignas(65536) constinit unsigned char memory[pages * page_size] = {};
alignas(4096) constinit unsigned char stacks[victims_most][page_size] = {};
constexpr Word foreign_word = foreign_fill * 0x01010101u;
constinit Word version = 1, foreign_used = 0;
constinit unsigned supplied_count = 0;

unsigned char *page(Word n) { return memory + n * page_size; }
void fill(Word n, unsigned char with)
{
    auto *words = reinterpret_cast<volatile Word *>(page(n));
    for (Word i = 0; i < page_size / sizeof(Word); i++) words[i] = with * 0x01010101u;
}
void end_with_ud2(Word n)
{
    page(n)[page_size - 2] = 0x0F;
    page(n)[page_size - 1] = 0x0B;
}
L4_Fpage_t fpage(const void *at) { return L4_FpageLog2(reinterpret_cast<Word>(at), 12) + L4_FullyAccessible; }
L4_Fpage_t image() { return L4_FpageLog2(reinterpret_cast<Word>(image_start), 20) + L4_FullyAccessible; }

void load_map(L4_Fpage_t what, Word at, Word label)
{
    const L4_MapItem_t item = L4_MapItem(what, at);
    L4_Set_MsgTag(L4_MsgTag_t{.raw = label << 16 | 2u << 6});
    L4_LoadMR(1, item.raw[0]);
    L4_LoadMR(2, item.raw[1]);
}

bool is_image_fault(L4_MsgTag_t tag, Word address) { return cobnut::is_page_fault(tag) && in_image(address); }
void load_image_page(Word address)
{
    const Word at = address & ~(page_size - 1);
    load_map(fpage(reinterpret_cast<void *>(at)), at, 0);
}

/// A thread in a space of its own, which waits for its start; the small-space number is asked for either way, unless
/// the kernel chooses.
bool create(L4_ThreadId_t id, Word number, void (*main)(), Word sp)
{
    const auto unchanged = reinterpret_cast<void *>(-1);
    Word old = 0;
    if (!L4_ThreadControl(id, id, stage.controller, L4_nilthread, unchanged)) return false;
    const Word control = stage.automatic ? 0 : L4_SmallSpaceChange | number;
    if (!L4_SpaceControl(id, control, L4_FpageLog2(kip_area, 12), L4_FpageLog2(utcb_area, utcb_area_log2), L4_nilthread,
                         &old))
        return false;
    if (!stage.automatic && !(old & L4_SmallSpaceChange)) return false;
    if (!L4_ThreadControl(id, id, stage.controller, stage.controller,
                          reinterpret_cast<void *>(utcb_of(id) - L4_UtcbIdOffset)))
        return false;
    L4_Set_MsgTag(L4_MsgTag_t{.raw = 2});
    L4_LoadMR(1, reinterpret_cast<Word>(main));
    L4_LoadMR(2, sp);
    return L4_IpcSucceeded(L4_Send_Timeout(id, L4_TimePeriod(1000000)));
}

/// Waits until `id` calls; serves its faults on the image.
bool hear(L4_ThreadId_t id)
{
    for (;;) {
        const L4_MsgTag_t tag = L4_Receive_Timeout(id, L4_TimePeriod(1000000));
        if (L4_IpcFailed(tag)) return false;
        Word address;
        L4_StoreMR(1, &address);
        if (!is_image_fault(tag, address)) return L4_Label(tag) == hello_label;
        load_image_page(address);
        L4_Reply(id);
    }
}
bool map_to(L4_ThreadId_t id, L4_Fpage_t what, Word at)
{
    load_map(what, at, map_label);
    L4_Reply(id);
    return hear(id);
}

/// Reads its port if MR1 names it (only the large one has it). Answers with MR1: the sum of pages that it should have;
/// MR2: the word behind GS; MR3: the flags that it woke up with.
[[noreturn]] void victim_main()
{
    L4_Accept(L4_MapGrantItems(L4_CompleteAddressSpace));
    L4_Set_ExceptionHandler(stage.controller);
    while (take_order() != 0) {}
    L4_Accept(L4_UntypedWordsAcceptor);
    Word *const mr = reinterpret_cast<Word *>(attack_gs_word());
    Word sender = stage.controller.raw;
    for (;;) {
        mr[0] = victim_label << 16 | 3;
        const Word flags = attack_ipc(sender, L4_anythread.raw, 0x04000000, mr, &sender);
        const Word gs = attack_gs_word();
        if (mr[0] & 63 && mr[1] == victims_port) __asm__ volatile("in %%dx, %%al" : : "d"(victims_port) : "eax");
        Word sum = 0;
        for (const Word at : {Word{0}, scratch_page, slot_size - page_size})
            for (Word i = 0; i < page_size; i += sizeof(Word)) sum += *reinterpret_cast<volatile Word *>(at + i);
        mr[1] = sum;
        mr[2] = gs;
        mr[3] = flags;
    }
}

/// To a thread that waits with its call.
bool map_ports_to(L4_ThreadId_t id, Word first, int log2)
{
    L4_Set_MsgTag(L4_MsgTag_t{.raw = window_label << 16 | 1});
    L4_LoadMR(1, 0x4020); // all ports
    L4_Reply(id);
    return hear(id) && map_to(id, L4_IoFpageLog2(first, log2), 0);
}

/// Whether a space has the slot that was asked for.
bool in_place(L4_ThreadId_t id, Word number, bool bound)
{
    Word now = 0;
    L4_SpaceControl(id, 0, L4_Nilpage, L4_Nilpage, L4_nilthread, &now);
    return (now & 0xFF) == number && cobnut::tag_of(id).bound == bound;
}

/// Binds a large space to another's page directory; the first place there that is free has to be slot `number`.
bool bind(L4_ThreadId_t id, L4_ThreadId_t leader, Word number)
{
    return cobnut::bind(id, leader) && in_place(id, number, true);
}

bool make_victim(L4_ThreadId_t id, Word number, unsigned index)
{
    const Word sp = reinterpret_cast<Word>(stacks[index]) + page_size - 16;
    if (!create(id, number, victim_main, sp) || !hear(id) || !map_to(id, image(), reinterpret_cast<Word>(image_start)))
        return false;
    for (const Word at : {Word{0}, scratch_page, slot_size - page_size}) {
        if (!map_to(id, fpage(page(foreign + foreign_used++)), at)) return false;
    }
    if (id == stage.large && !map_ports_to(id, victims_port, 0)) return false;
    L4_Set_MsgTag(L4_Niltag);
    L4_Reply(id);
    return L4_IpcSucceeded(L4_Receive_Timeout(id, L4_TimePeriod(1000000))); // its first answer, to nothing
}

bool intact(L4_ThreadId_t id, Word number, bool bound = false)
{
    L4_Set_MsgTag(L4_Niltag);
    const L4_MsgTag_t tag = L4_Call_Timeouts(id, L4_TimePeriod(100000), L4_TimePeriod(100000));
    Word mr[3];
    L4_StoreMRs(1, 3, mr);
    return L4_IpcSucceeded(tag) && L4_Label(tag) == victim_label && mr[0] == victims_sum && mr[1] == utcb_of(id) &&
           (stage.automatic || in_place(id, number, bound));
}

/// Where the linear addresses of a space begin.
Word base_of_space(L4_ThreadId_t id)
{
    const cobnut::Tag tag = cobnut::tag_of(id);
    return tag.size_mb ? stage.area() + (tag.offset_mb << 20) : 0;
}

void visit(L4_ThreadId_t victim)
{
    L4_Set_MsgTag(L4_Niltag);
    L4_Call(victim);
}

[[noreturn]] void attacker_main()
{
    L4_Set_ExceptionHandler(stage.controller);
    L4_Accept(L4_MapGrantItems(L4_CompleteAddressSpace));
    for (;;) {
        if (take_order() != run_label) continue;
        Word mr[9];
        L4_StoreMRs(0, 9, mr);
        if (stage.bound) visit(stage.twin); // on another directory, its pages were at the attacker's linear addresses
        visit(stage.below); // their pages are in the page directory in force, and cached
        visit(stage.above);
        attack_go(mr + 1);
    }
}

} // namespace

// Calls the controller; takes what it maps.
Word take_order()
{
    L4_Set_MsgTag(L4_MsgTag_t{.raw = hello_label << 16});
    const Word label = L4_Label(L4_Call(stage.controller));
    Word window;
    L4_StoreMR(1, &window);
    if (label == window_label) L4_Accept(L4_MapGrantItems(L4_Fpage_t{.raw = window}));
    return label;
}

bool make_space(L4_ThreadId_t id, void (*main)(), const void *stack)
{
    if (!create(id, 0, main, reinterpret_cast<Word>(stack)) || !hear(id) ||
        !map_to(id, image(), reinterpret_cast<Word>(image_start)))
        return false;
    L4_Set_MsgTag(L4_Niltag);
    L4_Reply(id);
    return true;
}

bool start_beside(L4_ThreadId_t id, void (*main)(), const void *stack, Word utcb)
{
    const auto at = reinterpret_cast<void *>((L4_MyLocalId().raw & ~0x1FFFFu) + utcb * 512);
    if (!L4_ThreadControl(id, stage.controller, stage.controller, stage.controller, at)) return false;
    L4_Set_MsgTag(L4_MsgTag_t{.raw = 2});
    L4_LoadMR(1, reinterpret_cast<Word>(main));
    L4_LoadMR(2, reinterpret_cast<Word>(stack));
    return L4_IpcSucceeded(L4_Send_Timeout(id, L4_TimePeriod(1000000)));
}

const Word victims_sum = 3 * (page_size / sizeof(Word)) * foreign_word;

Word Stage::above_base(Word but) const
{
    if (!automatic) return area() + 2 * slot_size;
    const Word base = base_of_space(above);
    // where the kernel has made the one large, the other may do
    return base && base != but ? base : base_of_space(below);
}

Word Attacker::base() const
{
    if (!small_) return 0;
    if (!stage.automatic) return stage.area() + slot_size;
    const Word base = base_of_space(id_);
    if (base) stage.last_base = base;
    return base;
}

Word utcb_of(L4_ThreadId_t id)
{
    const Word index = id == stage.below ? 1 : id == stage.above ? 2 : id == stage.large ? 3 : id == stage.twin ? 4 : 0;
    return utcb_area + index * 512 + L4_UtcbIdOffset;
}

bool in_image(Word address)
{
    return address >= reinterpret_cast<Word>(image_start) && address < reinterpret_cast<Word>(image_end);
}

bool make_victims()
{
    for (char *p = image_start; p < image_end; p += page_size) (void)*static_cast<volatile char *>(p);
    const Word first = L4_ThreadNo(stage.controller) + 1;
    stage.below = L4_GlobalId(first, 1);
    stage.above = L4_GlobalId(first + 1, 1);
    stage.large = L4_GlobalId(first + 2, 1);
    stage.twin = L4_GlobalId(first + 3, 1);
    restore_victims();
    if (!make_victim(stage.below, slot_below, 0) || !make_victim(stage.above, slot_above, 1) ||
        !make_victim(stage.large, L4_LargeSpace, 2))
        return false;
    if (!stage.bound) return true;
    // The places beside the middle are taken everywhere: so the twin gets that. Then the one below gets its own place
    // once more.
    Word control = L4_SmallSpaceChange | L4_LargeSpace;
    return make_victim(stage.twin, L4_LargeSpace, 3) && bind(stage.twin, stage.controller, slot_middle) &&
           L4_SpaceControl(stage.below, control, L4_Nilpage, L4_Nilpage, L4_nilthread, &control) &&
           bind(stage.below, stage.large, slot_below);
}

void keep_victims_busy()
{
    constexpr unsigned worth_a_slot = 200; // switches; docs/tags.md, rule 4
    for (unsigned i = 0; i < worth_a_slot; i++)
        for (const L4_ThreadId_t victim : {stage.below, stage.above}) visit(victim);
}

bool victims_intact()
{
    const auto *words = reinterpret_cast<const Word *>(page(foreign));
    for (Word n = 0; n < foreign_pages * page_size / sizeof(Word); n++)
        if (words[n] != foreign_word) return false;
    if (!movers_intact()) return false;
    if (stage.bound && !intact(stage.twin, slot_middle, true)) return false;
    return intact(stage.large, L4_LargeSpace) && intact(stage.below, slot_below, stage.bound) &&
           intact(stage.above, slot_above);
}

void restore_victims()
{
    for (Word n = foreign; n <= host; n++) fill(n, foreign_fill);
}

Word host_page() { return stage.bound ? scratch_page : reinterpret_cast<Word>(page(host)); }

Attacker::Attacker(bool small) : small_(small)
{
    version = (version + 1) & 0x3FFF;
    if ((version & 63) == 0) version++;
    id_ = L4_GlobalId(L4_ThreadNo(stage.controller) + 8, version);
    for (const Word n : {own_first, own_last, own_scratch, own_stack}) fill(n, own_fill);
    end_with_ud2(own_scratch);
    supplied_count = 0;
    const Word number = small && !stage.bound ? slot_middle : L4_LargeSpace;
    // The first stack lies in the image: the real one is not there yet.
    if (!create(id_, number, attacker_main, reinterpret_cast<Word>(page(own_stack)) + page_size - 64) || !hear_call())
        return;
    ready_ = true;
    give(image(), reinterpret_cast<Word>(image_start));
    give(fpage(page(own_first)), 0);
    give(fpage(page(own_scratch)), scratch_page);
    give(fpage(page(own_last)), size() - page_size);
    if (ready_ && small && stage.bound) ready_ = bind(id_, stage.large, slot_middle);
}

Attacker::~Attacker()
{
    const cobnut::Tag tag = cobnut::tag_of(id_);
    placed.changed += began_ && began_ != (tag.offset_mb << 12 | tag.size_mb);
    L4_ThreadControl(id_, L4_nilthread, L4_nilthread, L4_nilthread, reinterpret_cast<void *>(-1));
}

bool Attacker::in_slot() const
{
    return stage.automatic || in_place(id_, small_ ? slot_middle : L4_LargeSpace, small_ && stage.bound);
}

bool Attacker::hear_call() { return hear(id_); }

void Attacker::give(L4_Fpage_t what, Word at)
{
    if (ready_) ready_ = map_to(id_, what, at);
}

void Attacker::give_ports(Word first, int log2)
{
    if (ready_) ready_ = map_ports_to(id_, first, log2);
}

void Attacker::supply(Word address)
{
    const Word n = supplied + supplied_count++ % supplies;
    fill(n, own_fill);
    end_with_ud2(n);
    load_map(fpage(page(n)), address & ~(page_size - 1), 0);
    L4_Reply(id_);
}

Report Attacker::run(const Start &start, Word patience)
{
    if (stage.automatic) L4_Sleep(L4_TimePeriod(2000)); // the movers' turn
    const cobnut::Tag tag = cobnut::tag_of(id_);
    began_ = tag.offset_mb << 12 | tag.size_mb;
    (!tag.size_mb ? placed.large : tag.bound ? placed.bound : placed.exclusive)++;
    const Word registers[] = {reinterpret_cast<Word>(start.code),
                              start.esi,
                              start.edi,
                              start.ebx,
                              start.ecx,
                              start.edx,
                              start.eax,
                              start.ebp};
    L4_Set_MsgTag(L4_MsgTag_t{.raw = run_label << 16 | 8});
    for (int i = 0; i < 8; i++) L4_LoadMR(i + 1, registers[i]);
    L4_Reply(id_);
    return listen(L4_Receive_Timeout(id_, L4_TimePeriod(patience * 1000)), patience);
}

Report Attacker::resume(const Word *words, unsigned count)
{
    L4_Set_MsgTag(L4_MsgTag_t{.raw = count});
    for (unsigned i = 0; i < count; i++) L4_LoadMR(static_cast<int>(i + 1), words[i]);
    L4_Reply(id_);
    return listen(L4_Receive_Timeout(id_, L4_TimePeriod(500000)), 500);
}

Report Attacker::listen(L4_MsgTag_t tag, Word patience)
{
    Report r;
    for (;;) {
        Word mr[13];
        L4_StoreMRs(0, 13, mr);
        const Word label = L4_Label(tag);
        if (L4_IpcFailed(tag)) {
            r.silent = true;
            return r;
        }
        if (label == 0xFFB0) {
            r.exception = true;
            for (int i = 0; i < 13; i++) r.message[i] = mr[i];
            return r;
        }
        if ((label & 0xFFF0) == 0xFF80) {
            r.port_fault = true;
            r.port = mr[1];
            return r;
        }
        if (!cobnut::is_page_fault(tag)) {
            r.silent = true;
            return r;
        }
        if (is_image_fault(tag, mr[1])) {
            load_image_page(mr[1]);
            L4_Reply(id_);
        } else {
            if (r.faults++ == 0) {
                r.fault_address = mr[1];
                r.fault_ip = mr[2];
                r.write = (label & L4_Writable) != 0;
            }
            if (r.faults > supplies) return r;
            supply(mr[1]);
        }
        tag = L4_Receive_Timeout(id_, L4_TimePeriod(patience * 1000));
    }
}

} // namespace attack
