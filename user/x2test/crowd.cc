// SPDX-License-Identifier: BSD-2-Clause
#include "crowd.h"

namespace x2test {
namespace {

constexpr Word first_number = 128, first_utcb = 32;    // behind those of main and the agents
constexpr Word stack_bytes = 512;
alignas(16) constinit unsigned char stacks[most_in_crowd][stack_bytes] = {};
constinit struct {
    L4_ThreadId_t to, from;
    Word timeouts;
    void (*prepare)();
} task = {};

const auto unchanged = reinterpret_cast<void *>(-1);

[[noreturn]] void wait_in_vain()
{
    if (task.prepare) task.prepare();
    L4_Set_MsgTag(L4_MsgTag_t{.raw = 0});
    L4_ThreadId_t from;
    L4_Ipc(task.to, task.from, task.timeouts, &from);
    for (;;) L4_Sleep(L4_Never);
}

bool start(Word n)
{
    const L4_ThreadId_t id = Crowd::id(n);
    if (!L4_ThreadControl(id, main_id, main_id, main_id, reinterpret_cast<void *>(Crowd::utcb(n)))) return false;
    L4_Set_MsgTag(L4_MsgTag_t{.raw = 2});
    L4_LoadMR(1, reinterpret_cast<Word>(wait_in_vain));
    L4_LoadMR(2, reinterpret_cast<Word>(stacks[n]) + stack_bytes - 16);
    return L4_IpcSucceeded(L4_Send_Timeout(id, second));
}

} // namespace

L4_ThreadId_t Crowd::id(Word n) { return L4_GlobalId(L4_ThreadNo(main_id) + first_number + n, 1); }
Word Crowd::utcb(Word n) { return (L4_MyLocalId().raw & ~0x1FFFFu) + (first_utcb + n) * 512; }

Crowd::Crowd(L4_ThreadId_t to, L4_ThreadId_t from, L4_Time_t send_timeout, L4_Time_t receive_timeout, void (*prepare)())
{
    task = {to, from, L4_Timeouts(send_timeout, receive_timeout), prepare};
    while (count_ < wish.threads && start(count_)) count_++;
    if (!complete()) fail("only %u threads in the crowd: error %u", count_, L4_ErrorCode());
    pause(20000);
}

Crowd::~Crowd()
{
    while (count_-- > 0) L4_ThreadControl(id(count_), L4_nilthread, L4_nilthread, L4_nilthread, unchanged);
}

bool make_spaces()
{
    const Word control = small_spaces() ? L4_SmallSpaceChange | L4_LargeSpace : 0; // slots are for those of the tests
    for (Word n = 0; n < wish.spaces; n++) {
        const L4_ThreadId_t id = Crowd::id(most_in_crowd + n);
        L4_Fpage_t area = L4_FpageLog2(utcb_area, 12);
        const bool made = L4_ThreadControl(id, id, main_id, L4_nilthread, unchanged) &&
                          Cobnut_SpaceControl(id, control, L4_FpageLog2(kip_area, 12), &area, L4_nilthread, nullptr) &&
                          L4_ThreadControl(id, id, main_id, main_id, reinterpret_cast<void *>(L4_Address(area)));
        if (!made) {
            fail("only %u spaces: error %u", n, L4_ErrorCode());
            return false;
        }
    }
    return true;
}

} // namespace x2test
