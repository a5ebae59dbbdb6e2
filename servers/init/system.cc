// SPDX-License-Identifier: BSD-2-Clause
#include "system.h"

#include "slot.h"

#include <cobnut/account.h>
#include <cobnut/format.h>
#include <cobnut/pager.h>
#include <cobnut/program.h>
#include <l4/schedule.h>
#include <l4/sigma0.h>
#include <l4/space.h>

namespace init {
namespace {

using rpc::Error;

constexpr Word most_ports_at_once = 4; // of an access

Word bit(Word n) { return 1u << n; }

void say(const Program &program, const char *text, ...) __attribute__((format(printf, 2, 3)));
void say(const Program &program, const char *text, ...)
{
    char message[160];
    va_list arguments;
    va_start(arguments, text);
    cobnut::format(message, sizeof message, text, arguments);
    va_end(arguments);
    const rpc::Name &name = program.description().name;
    cobnut::print("init: %.*s: %s\n", static_cast<int>(name.size), name.data, message);
}

} // namespace

bool System::add_file(const rpc::Name &name, const cobnut::Module &module)
{
    if (file_count_ == most_files) return false;
    const auto made = memory_.of_file(module.start, (module.size + page_size - 1) / page_size);
    if (!made) return false;
    files_[file_count_++] = {name, made.value, module.size};
    return true;
}

bool System::add(const cobnut::Module &module)
{
    if (!cobnut::map_physical(module.start, module.size)) return false;
    const rpc::Name file = file_name(module.command_line);
    if (file.size) return add_file(file, module);
    if (count_ == most_programs || !programs_[count_].describe(module, count_, services_)) return false;
    count_++;
    return true;
}

Program &System::adopt(const char *description)
{
    Program &program = programs_[count_];
    program.describe({0, 0, description}, count_, services_);
    count_++;
    return program;
}

bool System::start_outside(Program &program, L4_Fpage_t utcbs, Word threads)
{
    return program.start_outside(memory_, utcbs, threads);
}

bool System::resolve(Program &program, Word address, bool write, L4_MapItem_t &item)
{
    return program.resolve(memory_, address, write, item);
}

bool System::begin(unsigned first_module, Word pages)
{
    control_ = bit(services_.number_of(cobnut::Text{"programs", 8}));
    spaces_ = bit(services_.number_of(cobnut::Text{"spaces", 6}));
    cobnut::Module module;
    for (unsigned i = first_module; cobnut::boot_module(i, module); i++)
        if (!add(module)) {
            cobnut::print("init: module %u is not what a system has: %s\n", i, module.command_line);
            return false;
        }
    for (Word i = 0; i < count_; i++) programs_[i].take_framebuffer();
    memory_.begin(pages);
    for (Word i = 0; i < count_; i++)
        if (programs_[i].description().start) start(programs_[i]);
    return count_ != 0;
}

/// False, after a line, if it has not been started. If that was for memory, and it is to be started again, it is tried
/// again.
bool System::start(Program &program)
{
    const Word number = program.number();
    bool again;
    started_[number] = L4_SystemClock().raw;
    const char *const wrong = program.start(memory_, again);
    if (!wrong) {
        lacking_ &= ~bit(number);
        journal_.note(Kind::started, number, 0, program.starts(), 0);
        return true;
    }
    if (!(lacking_ & bit(number))) say(program, "not started: %s", wrong);
    end(program, Program::failed);
    if (again) lacking_ |= bit(number);
    else restarts_ &= ~bit(number);
    return false;
}

template <typename Op> void System::answer(L4_ThreadId_t client, const rpc::Result<Word> &result)
{
    rpc::answer<Op>(client, result);
    const Program *const program = owner(client);
    if (program && client == program->main()) put_off_ &= ~bit(program->number());
}

void System::end(Program &program, int code)
{
    const Word number = program.number();
    const Description &d = program.description();
    identity_[number] = program.identity();
    journal_.note(Kind::ended, number, 0, static_cast<Word>(code), 0);
    program.end(memory_, code);
    for (Word i = 0; i < count_; i++)
        if (programs_[i].description().provides & d.uses) gone_[i] |= bit(number);
    gone_[number] = 0;
    copying_ &= ~bit(number);
    put_off_ &= ~bit(number);
    for (L4_ThreadId_t &waiting : awaiting_)
        if (Program::number_of(waiting) == number) waiting = L4_nilthread;
    if (!L4_IsNilThread(awaiting_[number])) {
        answer<Await>(awaiting_[number], static_cast<Word>(code));
        awaiting_[number] = L4_nilthread;
    }
    if (d.ends) {
        cobnut::print("init: the system ends with code %d\n", code);
        cobnut::machine_off(code);
    }
    if (d.restart) restarts_ |= bit(number);
}

/// Goes on with the copy that a program waits for.
void System::copy_on(Word program)
{
    auto &[copy, client] = copies_[program];
    const bool there = memory_.exists(copy.from) && memory_.exists(copy.to);
    if (there && !memory_.copy_on(copy)) return;
    copying_ &= ~bit(program);
    if (!there) memory_.close(copy.to, program, programs_[program].quota());
    answer<Copy>(client, there ? rpc::Result<Word>(copy.to) : Error::not_found);
}

void System::attend()
{
    const L4_Word64_t now = L4_SystemClock().raw;
    for (Word i = 0; i < count_; i++) {
        Program &p = programs_[i];
        p.raise(now);
        if (!p.waits_for_budget()) waits_for_budget_ &= ~bit(i);
        if (restarts_ & bit(i) && now - started_[i] >= restart_us) {
            restarts_ &= ~bit(i);
            if (start(p)) say(p, "started again");
        }
        if (p.state() != State::running) continue;
        if (copying_ & bit(i)) copy_on(i);
        for (Word rest = untold(i); rest; rest &= rest - 1) {
            const Word client = static_cast<Word>(__builtin_ctz(rest));
            L4_Set_MsgTag(L4_MsgTag_t{.raw = client_gone_label << 16 | 1});
            L4_LoadMR(1, identity_[client]);
            // a server that is at work is told later
            if (L4_IpcFailed(L4_Send_Timeout(p.main(), L4_ZeroTime))) break;
            gone_[i] &= ~bit(client);
        }
    }
}

Word System::untold(Word server) const
{
    return programs_[server].state() != State::running || put_off_ & bit(server) ? 0 : gone_[server];
}

bool System::is_busy_soon() const
{
    if (restarts_ || copying_) return true;
    for (Word i = 0; i < count_; i++)
        if (untold(i)) return true;
    return false;
}

L4_Word64_t System::patience_us() const
{
    constexpr L4_Word64_t soon_us = 1000;
    if (is_busy_soon()) return soon_us;
    const L4_Word64_t now = L4_SystemClock().raw;
    L4_Word64_t first = ~L4_Word64_t{0};
    for (Word i = 0; i < count_; i++)
        if (waits_for_budget_ & bit(i) && programs_[i].budget_end() < first) first = programs_[i].budget_end();
    return first > now ? first - now : 1;
}

Program *System::owner(L4_ThreadId_t thread)
{
    const Word number = Program::number_of(thread);
    return number < count_ && programs_[number].owns(thread) ? &programs_[number] : nullptr;
}

Program *System::named(const rpc::Name &name)
{
    for (Word i = 0; i < count_; i++)
        if (programs_[i].description().name == name) return &programs_[i];
    return nullptr;
}

/// Maps the ports at which the program has faulted, up to four of one access, if it may use them.
bool System::map_ports(const Program &program, L4_Fpage_t wanted)
{
    const Word first = L4_IoFpagePort(wanted), count = L4_IoFpageSize(wanted);
    if (count > most_ports_at_once) return false; // the program has sent it itself
    for (Word i = 0; i < count; i++) {
        if (!program.may_use_port(first + i)) return false;
        L4_Sigma0_GetPage(L4_nilthread, L4_IoFpageLog2(first + i, 0));
    }
    // one by one: an access need not be aligned, as an fpage is
    for (Word i = 0; i < count; i++) {
        const L4_MapItem_t item = L4_MapItem(L4_IoFpageLog2(first + i, 0) + L4_FullyAccessible, 0);
        L4_LoadMR(static_cast<int>(2 * i + 1), item.raw[0]);
        L4_LoadMR(static_cast<int>(2 * i + 2), item.raw[1]);
    }
    L4_Set_MsgTag(L4_MsgTag_t{.raw = 2 * count << 6});
    return true;
}

/// A fault or an exception, or the program's own end: true if there is an answer, otherwise the program has ended.
bool System::serve_kernel(Program &program, L4_ThreadId_t from, L4_MsgTag_t tag)
{
    Word mr[13] = {};
    L4_StoreMRs(1, 12, mr + 1);
    int code = Program::failed;
    const auto note = [&](Kind kind, Word what, Word ip) {
        journal_.note(kind, program.number(), program.thread_number(from), what, ip);
    };
    if (cobnut::is_page_fault(tag)) {
        note(Kind::page_fault, mr[1], mr[2]);
        const bool write = L4_Label(tag) & L4_Writable;
        L4_MapItem_t item;
        if (program.resolve(memory_, mr[1], write, item)) {
            cobnut::load_answer(item);
            return true;
        }
        say(program, "ended: %s at %08x without permission, ip %08x", write ? "write" : "read", mr[1], mr[2]);
    } else if (cobnut::is_port_fault(tag)) {
        const L4_Fpage_t ports = {.raw = mr[1]};
        note(Kind::port_fault, L4_IoFpagePort(ports), mr[2]);
        if (map_ports(program, ports)) return true;
        say(program, "ended: port %x without permission, ip %08x", L4_IoFpagePort(ports), mr[2]);
    } else if (cobnut::is_exception(tag)) {
        note(Kind::exception, mr[cobnut::exception_number], mr[1]);
        say(program, "ended: exception %u, error code %u, ip %08x", mr[cobnut::exception_number],
            mr[cobnut::exception_number + 1], mr[1]);
    } else {
        code = static_cast<int>(mr[1]);
    }
    end(program, code);
    return false;
}

bool System::serve(Program &program, L4_ThreadId_t from, L4_MsgTag_t tag)
{
    program.count_message();
    const Word number = program.number(), thread = program.thread_number(from), label = L4_Label(tag);
    if (label == quantum_label) {
        journal_.note(Kind::quantum, number, thread, 0, 0);
        program.spend(from, L4_SystemClock().raw); // which lets it run: it waits for no answer
        if (program.waits_for_budget()) waits_for_budget_ |= bit(number);
        return false;
    }
    const bool ends = label == cobnut::exit_label;
    if (ends || cobnut::is_page_fault(tag) || cobnut::is_port_fault(tag) || cobnut::is_exception(tag))
        return serve_kernel(program, from, tag);
    Client client{from, number};
    const Word answer = rpc::dispatch(*this, client, tag, Operations{});
    if (from == program.main()) put_off_ = (put_off_ & ~bit(number)) | (answer == rpc::tag_later ? bit(number) : 0);
    journal_.note(Kind::call, number, thread, label, answer >> 16);
    if (answer == rpc::tag_later || program.state() != State::running) return false;
    L4_Set_MsgTag(L4_MsgTag_t{.raw = answer});
    return true;
}

// -------------------------------------------------------------------------------------------------------- operations

rpc::Result<Word> System::handle(Open, Client &client, const rpc::Name &name)
{
    const Word service = services_.find(name);
    if (service == Services::most) return Error::not_found;
    if (!(programs_[client.program].description().uses & bit(service))) return Error::denied;
    for (Word i = 0; i < count_; i++)
        if (programs_[i].description().provides & bit(service))
            return programs_[i].state() == State::running ? rpc::Result<Word>(programs_[i].main().raw)
                                                          : Error::not_running;
    return Error::not_found;
}

rpc::Result<Word> System::handle(Admit, Client &server, Word thread)
{
    const Program *const client = owner(L4_ThreadId_t{.raw = thread});
    if (!client) return Error::denied;
    if (!(client->description().uses & programs_[server.program].description().provides)) return Error::denied;
    return client->identity();
}

rpc::Result<Nothing> System::handle(MayUse, Client &server, Word thread, const rpc::Name &name)
{
    const Word service = services_.find(name);
    if (service == Services::most || !(programs_[server.program].description().provides & bit(service)))
        return Error::not_found;
    const Program *const client = owner(L4_ThreadId_t{.raw = thread});
    if (!client || !(client->description().uses & bit(service))) return Error::denied;
    return Nothing{};
}

rpc::Result<Word> System::handle(Create, Client &client, Word pages)
{
    return memory_.create(client.program, programs_[client.program].quota(), pages);
}

rpc::Result<Word> System::handle(Copy, Client &client, Word handle)
{
    if (copying_ & bit(client.program)) return Error::full;
    rpc::Result<Copying> copy = memory_.copy(client.program, programs_[client.program].quota(), handle);
    if (!copy) return copy.error;
    if (memory_.copy_on(copy.value)) return copy.value.to;
    copies_[client.program] = {copy.value, client.thread};
    copying_ |= bit(client.program);
    return Error::later;
}

rpc::Result<Word> System::handle(Attach, Client &client, Word handle, Word address, Word writable)
{
    return programs_[client.program].attach(memory_, handle, address, writable);
}

rpc::Result<Nothing> System::handle(Detach, Client &client, Word address)
{
    return programs_[client.program].detach(memory_, address);
}

rpc::Result<Nothing> System::handle(Pass, Client &client, Word handle, Word thread, Word writable)
{
    const Program *const to = owner(L4_ThreadId_t{.raw = thread});
    if (!to) return Error::not_found;
    return memory_.pass(handle, client.program, to->number(), writable);
}

rpc::Result<Nothing> System::handle(Close, Client &client, Word handle)
{
    const Error error = memory_.close(handle, client.program, programs_[client.program].quota());
    if (error == Error::none) programs_[client.program].forget(handle);
    return error;
}

rpc::Result<File> System::handle(OpenFile, Client &client, const rpc::Name &name)
{
    for (size_t i = 0; i < file_count_; i++) {
        const BootFile &file = files_[i];
        if (!(file.name == name)) continue;
        if (!programs_[client.program].description().may_use_file(name)) return Error::denied;
        memory_.let_hold(file.handle, client.program);
        return File{file.handle, file.bytes};
    }
    return Error::not_found;
}

rpc::Result<Word> System::handle(Shared, Client &server, Word handle, Word thread, Word writable)
{
    const Program *const client = owner(L4_ThreadId_t{.raw = thread});
    if (!client) return Error::not_found;
    const Word holders[] = {server.program, client->number()};
    for (const Word program : holders) {
        if (!memory_.readable(handle, program)) return Error::not_found;
        if (writable && !memory_.writable(handle, program)) return Error::denied;
    }
    return memory_.pages(handle);
}

rpc::Result<Usage> System::handle(Memory, Client &client)
{
    const Quota &quota = programs_[client.program].quota();
    return Usage{quota.used, quota.limit, memory_.unreserved()};
}

rpc::Result<ProgramInfo> System::handle(Describe, Client &client, Word number)
{
    if (!may_control(client)) return Error::denied;
    if (number >= count_) return Error::not_found;
    Program &p = programs_[number];
    ProgramInfo info = {p.description().name,
                        restarts_ & bit(number) ? State::waiting : p.state(),
                        p.main().raw,
                        p.quota().used,
                        p.quota().limit,
                        p.description().priority,
                        p.starts(),
                        static_cast<Word>(p.code()),
                        p.threads(),
                        0,
                        0,
                        0,
                        0,
                        0,
                        p.messages()};
    if (p.state() == State::running) {
        info.used_ms = p.used_ms();
        info.kernel_pages = cobnut::kernel_memory_used(p.main());
        const Slot slot = slot_of(p.main());
        info.slot_offset_mb = slot.offset_mb;
        info.slot_size_mb = slot.size_mb;
        info.bound = slot.bound;
    }
    return info;
}

rpc::Result<Nothing> System::handle(Kill, Client &client, Word number)
{
    if (!may_control(client)) return Error::denied;
    if (number >= count_ || programs_[number].state() != State::running) return Error::not_found;
    say(programs_[number], "ended: killed");
    end(programs_[number], Program::failed);
    return Nothing{};
}

rpc::Result<Word> System::handle(Run, Client &client, const rpc::Name &name)
{
    if (!may_control(client)) return Error::denied;
    Program *const p = named(name);
    if (!p) return Error::not_found;
    if (p->state() == State::running) return Error::bad_value;
    restarts_ &= ~bit(p->number());
    started_[p->number()] = L4_SystemClock().raw;
    bool again;
    if (const char *wrong = p->start(memory_, again)) {
        say(*p, "not started: %s", wrong);
        return Error::no_memory;
    }
    return p->number();
}

rpc::Result<Word> System::handle(Await, Client &client, Word number)
{
    if (!may_control(client)) return Error::denied;
    if (number >= count_) return Error::not_found;
    const Program &p = programs_[number];
    if (p.state() != State::running) return static_cast<Word>(p.code());
    if (!L4_IsNilThread(awaiting_[number])) return Error::full;
    awaiting_[number] = client.thread;
    return Error::later;
}

rpc::Result<Nothing> System::handle(Trace, Client &client, Word on)
{
    if (!may_control(client)) return Error::denied;
    journal_.begin(on);
    return Nothing{};
}

rpc::Result<Events> System::handle(ReadTrace, Client &client, Word from)
{
    if (!may_control(client)) return Error::denied;
    return journal_.read(from);
}

rpc::Result<Word> System::handle(MakeThread, Client &client, Word ip, Word sp)
{
    return programs_[client.program].make_thread(ip, sp);
}

rpc::Result<Nothing> System::handle(TakeInterrupt, Client &client, Word line)
{
    if (!programs_[client.program].may_use_line(line)) return Error::denied;
    for (Word i = 0; i < count_; i++) // devices on a bus may share a line, and the kernel tells one thread
        if (i != client.program && programs_[i].state() == State::running && programs_[i].may_use_line(line))
            return Error::full;
    if (!L4_AssociateInterrupt(L4_GlobalId(line, 1), client.thread)) return Error::not_found;
    return Nothing{};
}

rpc::Result<Device> System::handle(FindDevice, Client &client)
{
    const FoundDevice &device = programs_[client.program].device();
    if (!device) return Error::not_found;
    return device.has;
}

rpc::Result<File> System::handle(OpenRange, Client &client, Word number)
{
    const FoundDevice &device = programs_[client.program].device();
    if (!device || number >= Device::most_ranges) return Error::not_found;
    const DeviceRange &range = device.has.ranges[number];
    if (range.is_ports || !range.size) return Error::not_found;
    const auto made = memory_.of_device(client.program, programs_[client.program].quota(), range.first, range.size);
    if (!made) return made.error;
    return File{made.value, range.size};
}

rpc::Result<Word> System::handle(Physical, Client &client, Word handle, Word page)
{
    if (!programs_[client.program].description().dma) return Error::denied;
    if (!memory_.readable(handle, client.program) || page >= memory_.pages(handle)) return Error::not_found;
    if (!memory_.writable(handle, client.program)) return Error::denied;
    for (Word i = 0; i < count_; i++)
        if (copying_ & bit(i) && copies_[i].copy.from == handle) return Error::denied;
    memory_.pin(handle);
    bool read_only;
    const Word frame = memory_.page(handle, page, true, read_only);
    return read_only ? rpc::Result<Word>(Error::denied) : frame;
}

rpc::Result<Nothing> System::handle(BusMaster, Client &client)
{
    const Program &program = programs_[client.program];
    if (!program.device()) return Error::not_found;
    if (!program.description().dma) return Error::denied;
    if (program.description().device) switch_device(program.device(), DeviceUse::masters);
    return Nothing{};
}

rpc::Result<Word> System::handle(MakeSpace, Client &client)
{
    Program &program = programs_[client.program];
    if (!(program.description().uses & spaces_)) return Error::denied;
    return program.make_space();
}

rpc::Result<Nothing> System::handle(EndSpace, Client &client, Word thread)
{
    Program &program = programs_[client.program];
    if (!(program.description().uses & spaces_)) return Error::denied;
    return program.end_space(L4_ThreadId_t{.raw = thread});
}

} // namespace init
