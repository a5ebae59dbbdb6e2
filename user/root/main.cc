// SPDX-License-Identifier: BSD-2-Clause
// The root task: starts every payload module in a space of its own and is its pager and exception handler.
//
// Own options: off=1 ends the machine when all programs have finished, with the code of the first one, in the order
// of the modules, that did not end with 0. Options of a payload: small=MB[@SLOT] asks for a small space; name=NAME is
// what others find it by (cobnut_find) in place of the file's name; server=1: the end of the others is not put off
// for it. A payload that cannot be started or misbehaves costs one line; the others go on.
#include "program.h"

#include <cobnut/pager.h>
#include <cobnut/program.h>
#include <l4/kip.h>
#include <l4/schedule.h>
#include <l4/space.h>

namespace {

#ifdef __arm__
constexpr L4_Word_t swi_words = 13;    // the message of a system call that is another system's
constexpr size_t swi_instruction = 12;
#endif
constexpr size_t max_programs = 16;
constinit root::Program programs[max_programs];
constinit size_t program_count = 0;
constinit bool all_loaded = true;

void load_all()
{
    const L4_Word_t own_number = L4_ThreadNo(L4_Myself());
    cobnut::Module module;
    for (unsigned i = 0; cobnut::boot_module(i, module); i++) {
        if (program_count == max_programs) {
            cobnut::print("root: more than %u programs: the rest is not started\n",
                          static_cast<unsigned>(max_programs));
            all_loaded = false;
            return;
        }
        if (programs[program_count].load(module, L4_GlobalId(own_number + 1 + i, 1))) program_count++;
        else all_loaded = false;
    }
}

root::Program *find(L4_ThreadId_t tid)
{
    for (size_t i = 0; i < program_count; i++)
        if (programs[i].running() && programs[i].tid() == tid) return &programs[i];
    return nullptr;
}

bool any_running()
{
    for (size_t i = 0; i < program_count; i++)
        if (programs[i].running() && !programs[i].server()) return true;
    return false;
}

/// Loads the answer to cobnut_find: `words` of the message are the name.
void load_found(const L4_Word_t *name, L4_Word_t words)
{
    char text[COBNUT_NAME_WORDS * sizeof(L4_Word_t) + 1] = {};
    for (L4_Word_t i = 0; i < words * sizeof(L4_Word_t) && i + 1 < sizeof text; i++)
        text[i] = static_cast<char>(name[i / sizeof(L4_Word_t)] >> i % sizeof(L4_Word_t) * 8);
    L4_ThreadId_t found = L4_nilthread;
    for (size_t i = 0; i < program_count && L4_IsNilThread(found); i++)
        if (programs[i].running() && programs[i].name() == text) found = programs[i].tid();
    L4_Set_MsgTag(L4_MsgTag_t{.raw = 1});
    L4_LoadMR(1, found.raw);
}

/// Serves one message of a payload; true if the MRs hold the answer.
bool serve(root::Program &program, L4_MsgTag_t tag)
{
    L4_Word_t mr[13] = {};
    L4_StoreMRs(1, 12, mr + 1);
    const L4_Word_t label = L4_Label(tag), thread = L4_ThreadNo(program.tid());
    if (cobnut::is_page_fault(tag)) {
        L4_MapItem_t item;
        if (program.resolve(mr[1], label & L4_Writable, item)) {
            cobnut::load_answer(item);
            return true;
        }
        program.say("ended: %s%s at %08x without permission, ip %08x, thread %u",
                    root::below_stack(mr[1]) ? "stack overflow: " : "", label & L4_Writable ? "write" : "read", mr[1],
                    mr[2], thread);
        program.end(root::Program::failed);
    } else if (cobnut::is_port_fault(tag)) {
        program.say("ended: port %x without permission, ip %08x, thread %u", L4_IoFpagePort(L4_Fpage_t{.raw = mr[1]}),
                    mr[2], thread);
        program.end(root::Program::failed);
#ifdef __arm__
    } else if (cobnut::is_exception(tag) && L4_UntypedWords(tag) == swi_words) {
        program.say("ended: a system call of another system, %08x, ip %08x, thread %u", mr[swi_instruction], mr[1],
                    thread);
        program.end(root::Program::failed);
#endif
    } else if (cobnut::is_exception(tag)) {
        program.say("ended: exception %u, error code %u, ip %08x, thread %u", mr[cobnut::exception_number],
                    mr[cobnut::exception_number + 1], mr[1], thread);
        program.end(root::Program::failed);
    } else if (label == cobnut::exit_label) {
        program.say("finished with code %d", static_cast<int>(mr[1]));
        program.end(static_cast<int>(mr[1]));
    } else if (label == COBNUT_FIND_LABEL) {
        load_found(mr + 1, L4_UntypedWords(tag));
        return true;
    }
    return false;
}

/// A thread that raises an exception before it has named a handler is stopped by the kernel, and no thread is told.
void end_stopped()
{
    for (size_t i = 0; i < program_count; i++) {
        root::Program &p = programs[i];
        if (!p.running() || L4_Schedule(p.tid(), ~0u, ~0u, ~0u, ~0u, nullptr) > L4_SCHEDRESULT_INACTIVE) continue;
        p.say("ended: stopped by an exception that it does not handle");
        p.end(root::Program::failed);
    }
}

void serve_until_finished()
{
    L4_Accept(L4_UntypedWordsAcceptor);
    while (any_running()) {
        L4_ThreadId_t from;
        L4_MsgTag_t tag = L4_Wait_Timeout(L4_TimePeriod(200000), &from);
        if (L4_IpcFailed(tag)) end_stopped();
        while (L4_IpcSucceeded(tag)) {
            root::Program *program = find(from);
            if (!program || !serve(*program, tag)) break;
            tag = L4_ReplyWait(from, &from);
        }
    }
}

/// The code of the first program that did not end with 0; servers that run on have none. Emulators take 0 to 127.
int status()
{
    for (size_t i = 0; i < program_count; i++) {
        if (programs[i].running()) continue;
        if (const int code = programs[i].code()) return code > 0 && code < 128 ? code : root::Program::failed;
    }
    return all_loaded ? 0 : root::Program::failed;
}

} // namespace

int cobnut_main(const char *command_line)
{
    load_all();
    for (size_t i = 0; i < program_count; i++) programs[i].start();
    serve_until_finished();
    cobnut::print("root: all programs finished\n");
    if (cobnut::Options(command_line).number("off", 0)) cobnut::machine_off(status());
    for (;;) L4_Sleep(L4_Never);
}
