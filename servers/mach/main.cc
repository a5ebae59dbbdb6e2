// SPDX-License-Identifier: BSD-2-Clause
// mach: Mach's objects as a server (interfaces/mach.h). It is the pager of its tasks, and answers what they call for.
#include "kernel.h"

#include <cobnut/pager.h>
#include <cobnut/payload.h>
#include <system/system.h>

namespace {

using rpc::Word;

constinit mach::Kernel kernel;

/// What a task has sent, as itself or as the kernel does for it: true if the message registers hold the answer.
bool serve_task(mach::Task &task, Word number, L4_MsgTag_t tag)
{
    if (task.state != mach::Task::State::running) kernel.interrupted(task);
    Word mr[4] = {};
    L4_StoreMRs(1, 3, mr + 1);
    if (!task.program && cobnut::is_page_fault(tag)) return kernel.fault(task, mr[1], L4_Label(tag) & L4_Writable);
    if (!task.program && cobnut::is_exception(tag)) {
        kernel.crash(task, "an exception", mr[1]);
        return false;
    }
    rpc::Client client{task.thread, number};
    const Word answer = rpc::dispatch(kernel, client, tag, mach::Operations{});
    if (answer != rpc::tag_later) L4_Set_MsgTag(L4_MsgTag_t{.raw = answer});
    return answer != rpc::tag_later;
}

/// Programs of init's boot the first task, or join.
bool serve_program(L4_ThreadId_t from, L4_MsgTag_t tag)
{
    Word message[64];
    L4_StoreMRs(0, 64, message);
    const auto admitted = cobnut::ask_init<init::Admit>(from.raw);
    L4_LoadMRs(0, 64, message);
    rpc::Client client{from, admitted.value};
    const Word answer = admitted ? rpc::dispatch(kernel, client, tag, mach::ProgramOperations{})
                                 : static_cast<Word>(rpc::Error::denied) << 16;
    if (answer != rpc::tag_later) L4_Set_MsgTag(L4_MsgTag_t{.raw = answer});
    return answer != rpc::tag_later;
}

} // namespace

int cobnut_main(const char *)
{
    if (!kernel.begin()) return 1;
    L4_Accept(L4_UntypedWordsAcceptor);
    L4_ThreadId_t from = L4_nilthread;
    for (bool answer = false;;) {
        L4_Time_t patience = kernel.patience();
        if (patience == L4_ZeroTime) {
            if (answer) L4_Reply(from);
            answer = false;
            kernel.end_overdue();
            patience = kernel.patience();
        }
        const L4_MsgTag_t tag = answer ? L4_ReplyWait_Timeout(from, patience, &from) : L4_Wait_Timeout(patience, &from);
        answer = false;
        if (L4_IpcFailed(tag)) continue;
        if (from == L4_Pager()) {
            Word program;
            L4_StoreMR(1, &program);
            if (L4_Label(tag) == init::client_gone_label) kernel.program_ended(program);
            continue;
        }
        mach::Task *const task = kernel.task_of(from);
        answer = task ? serve_task(*task, kernel.number_of(*task), tag) : serve_program(from, tag);
        if (const L4_ThreadId_t other = kernel.take_loaded(); other != L4_nilthread) {
            from = other;
            answer = true;
        }
    }
}
