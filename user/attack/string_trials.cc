// SPDX-License-Identifier: BSD-2-Clause
// Strings whose memory is not the attacker's: the kernel copies them, by no segment, and has to find the attacker's own
// pages or none. Its partner is a thread of the controller's space, since the controller serves the faults.
#include "trials.h"

namespace attack {
namespace {

constexpr int length = 64;
constexpr unsigned char untouched = 0x11;
constexpr Word fetch_label = 0x57;

// Shared with attackers, who have this image, too.
alignas(64) constinit unsigned char caught[length] = {};
constinit Word string_address = 0;
constinit L4_ThreadId_t catcher = {};
alignas(4096) constinit unsigned char catcher_stack[page_size] = {};

void accept(void *buffer)
{
    const L4_StringItem_t item = L4_StringItem(length, buffer);
    L4_LoadBR(0, 1); // strings
    L4_LoadBR(1, item.raw[0]);
    L4_LoadBR(2, item.raw[1]);
}
void load(Word label, const void *string)
{
    const L4_StringItem_t item = L4_StringItem(length, const_cast<void *>(string));
    L4_Set_MsgTag(L4_MsgTag_t{.raw = label << 16 | (string ? 2u << 6 : 0)});
    if (!string) return;
    L4_LoadMR(1, item.raw[0]);
    L4_LoadMR(2, item.raw[1]);
}

/// Takes strings; gives one to each thread that asks for it.
[[noreturn]] void catcher_main()
{
    accept(caught);
    L4_ThreadId_t from;
    L4_MsgTag_t tag = L4_Wait(&from);
    for (;;) {
        load(0, L4_IpcSucceeded(tag) && L4_Label(tag) == fetch_label ? caught : nullptr);
        accept(caught);
        tag = L4_ReplyWait(from, &from);
    }
}

[[noreturn]] void end_with(bool good)
{
    __asm__ volatile("ud2" : : "a"(good ? own_word : 0));
    __builtin_unreachable();
}
[[noreturn]] void send()
{
    L4_Set_XferTimeouts(0);
    load(0, reinterpret_cast<void *>(string_address));
    end_with(L4_IpcSucceeded(L4_Call(catcher)));
}
[[noreturn]] void fetch()
{
    L4_Set_XferTimeouts(0);
    accept(reinterpret_cast<void *>(string_address));
    load(fetch_label, nullptr);
    end_with(L4_IpcSucceeded(L4_Call(catcher)));
}

bool make_catcher()
{
    if (!L4_IsNilThread(catcher)) return true;
    const L4_ThreadId_t id = L4_GlobalId(L4_ThreadNo(stage.controller) + 5, 1);
    const auto utcb = reinterpret_cast<void *>((L4_MyLocalId().raw & ~0x1FFFFu) + 512);
    if (!L4_ThreadControl(id, stage.controller, stage.controller, stage.controller, utcb)) return false;
    L4_Set_MsgTag(L4_MsgTag_t{.raw = 2});
    L4_LoadMR(1, reinterpret_cast<Word>(catcher_main));
    L4_LoadMR(2, reinterpret_cast<Word>(catcher_stack) + page_size - 16);
    catcher = id;
    return L4_IpcSucceeded(L4_Send_Timeout(id, L4_TimePeriod(1000000)));
}

/// Runs it; false if something came of it that is not the attacker's own.
bool run(bool small, void (*code)(), Word address, Report &r)
{
    for (unsigned char &byte : caught) byte = untouched;
    string_address = address;
    if (!try_once(small, {.code = reinterpret_cast<const char *>(code)}, r) || !r.finished()) return false;
    bool own = true;
    for (const unsigned char byte : caught) own &= byte == own_fill || byte == untouched;
    return own;
}

/// The same inside its space first, which has to come through.
bool transfer(bool small, void (*code)(), Word address, Report &r)
{
    if (!make_catcher() || !run(small, code, scratch_page + middle, r) || !unharmed(r)) return false;
    if (!run(small, code, address, r)) return false;
    // A large space has pages up to its end, and a small one becomes large: the pager gives what is missing.
    const Word size = end_of(small);
    const bool possible = small && address >= size - length && address < stage.large_limit();
    if (!possible) return r.eax() == 0;
    return r.eax() == own_word && r.faults && r.fault_address >= size;
}
template <void (*code)()> bool over_limit(bool small, Report &r) { return transfer(small, code, end_of(small) - 8, r); }
template <void (*code)()> bool above(bool small, Report &r)
{
    const Word to = above_from(small);
    return to ? transfer(small, code, to + scratch_page, r) : aimless(r);
}
template <void (*code)()> bool above_flat(bool small, Report &r)
{
    const Word base = stage.above_base();
    return base ? transfer(small, code, base + scratch_page, r) : aimless(r);
}
template <void (*code)()> bool below(bool small, Report &r) { return transfer(small, code, 0 - slot_size / 2, r); }
template <void (*code)()> bool over_4gb(bool small, Report &r) { return transfer(small, code, 0u - 8, r); }
template <void (*code)()> bool kernel(bool small, Report &r)
{
    return transfer(small, code, kernel_text - base_of(small), r);
}
template <void (*code)()> bool kernel_flat(bool small, Report &r) { return transfer(small, code, kernel_text, r); }

} // namespace

const Trial string_trials[] = {
    {"string.send_over_limit", over_limit<send>, false},
    {"string.send_above", above<send>, false},
    {"string.send_above_flat", above_flat<send>, false},
    {"string.send_below", below<send>, false},
    {"string.send_over_4gb", over_4gb<send>, false},
    {"string.send_kernel", kernel<send>, false},
    {"string.send_kernel_flat", kernel_flat<send>, false},
    {"string.fetch_over_limit", over_limit<fetch>, false},
    {"string.fetch_above", above<fetch>, false},
    {"string.fetch_above_flat", above_flat<fetch>, false},
    {"string.fetch_below", below<fetch>, false},
    {"string.fetch_over_4gb", over_4gb<fetch>, false},
    {"string.fetch_kernel", kernel<fetch>, false},
    {"string.fetch_kernel_flat", kernel_flat<fetch>, false},
    {nullptr, nullptr, false},
};

} // namespace attack
