// SPDX-License-Identifier: BSD-2-Clause
// What init does for programs: the operations of interfaces/init.h, and the life of each program.
#pragma once

#include "journal.h"
#include "program.h"

namespace init {

inline constexpr Word quantum_label = 0xFFD0; ///< manual 3.5: a thread's total quantum is over

class System {
public:
    /// Reads the boot image and starts what its description starts. False, after a line, if something is wrong.
    bool begin() { return begin(0, Frames::most); }
    /// Likewise of a boot image whose modules from this one on are a system, with up to so many pages of memory.
    bool begin(unsigned first_module, Word pages);

    /// Before begin(): a program that the caller loads and pages, by what a module's command line would say of it.
    Program &adopt(const char *description);
    /// It begins (Program::start_outside).
    bool start_outside(Program &program, L4_Fpage_t utcbs, Word threads);
    /// A page that it has attached, for its fault.
    bool resolve(Program &program, Word address, bool write, L4_MapItem_t &item);
    /// Ends a program, as it does by itself or for a fault: those that wait for it are told.
    void end(Program &program, int code);

    /// The program that a thread belongs to, if it runs.
    Program *owner(L4_ThreadId_t thread);

    /// Answers a message of a program's thread: true if the message registers hold the answer.
    bool serve(Program &program, L4_ThreadId_t from, L4_MsgTag_t tag);

    /// What is to be done beside messages: programs to be started again, servers to be told of clients that are gone,
    /// drivers to be let run before others again.
    void attend();
    /// Whether attend() has more to do, and how long it can wait, in microseconds.
    bool busy() const { return waits_for_budget_ || is_busy_soon(); }
    L4_Word64_t patience_us() const;

    // The operations.
    using Client = rpc::Client;
    rpc::Result<Word> handle(Open, Client &, const rpc::Name &service);
    rpc::Result<Word> handle(Admit, Client &, Word thread);
    rpc::Result<Nothing> handle(MayUse, Client &, Word thread, const rpc::Name &service);
    rpc::Result<Word> handle(Create, Client &, Word pages);
    rpc::Result<Word> handle(Copy, Client &, Word handle);
    rpc::Result<Word> handle(Attach, Client &, Word handle, Word address, Word writable);
    rpc::Result<Nothing> handle(Detach, Client &, Word address);
    rpc::Result<Nothing> handle(Pass, Client &, Word handle, Word thread, Word writable);
    rpc::Result<Nothing> handle(Close, Client &, Word handle);
    rpc::Result<File> handle(OpenFile, Client &, const rpc::Name &name);
    rpc::Result<Word> handle(Shared, Client &, Word handle, Word thread, Word writable);
    rpc::Result<Usage> handle(Memory, Client &);
    rpc::Result<ProgramInfo> handle(Describe, Client &, Word number);
    rpc::Result<Nothing> handle(Kill, Client &, Word number);
    rpc::Result<Word> handle(Run, Client &, const rpc::Name &name);
    rpc::Result<Word> handle(Await, Client &, Word number);
    rpc::Result<Nothing> handle(Trace, Client &, Word on);
    rpc::Result<Events> handle(ReadTrace, Client &, Word from);
    rpc::Result<Word> handle(MakeThread, Client &, Word ip, Word sp);
    rpc::Result<Nothing> handle(TakeInterrupt, Client &, Word line);
    rpc::Result<Device> handle(FindDevice, Client &);
    rpc::Result<File> handle(OpenRange, Client &, Word range);
    rpc::Result<Word> handle(Physical, Client &, Word handle, Word page);
    rpc::Result<Nothing> handle(BusMaster, Client &);
    rpc::Result<Word> handle(MakeSpace, Client &);
    rpc::Result<Nothing> handle(EndSpace, Client &, Word thread);

private:
    struct BootFile {
        rpc::Name name;
        Word handle = 0, bytes = 0;
    };
    static constexpr size_t most_files = 16;
    static constexpr Word restart_us = 100'000; ///< between two starts of a program that ends at once

    bool add(const cobnut::Module &module);
    bool add_file(const rpc::Name &name, const cobnut::Module &module);
    bool map_ports(const Program &program, L4_Fpage_t wanted);
    bool serve_kernel(Program &program, L4_ThreadId_t from, L4_MsgTag_t tag);
    void copy_on(Word program);
    bool is_busy_soon() const;
    bool start(Program &program);
    /// Answers a call that was put off (Error::later).
    template <typename Op> void answer(L4_ThreadId_t client, const rpc::Result<Word> &result);
    /// The clients that are gone and of which a server can be told now, a bit each.
    Word untold(Word server) const;
    Program *named(const rpc::Name &name);
    bool may_control(const Client &client) { return programs_[client.program].description().uses & control_; }

    Dataspaces memory_;
    Journal journal_;
    Services services_;
    Program programs_[most_programs];
    Word count_ = 0;
    BootFile files_[most_files] = {};
    size_t file_count_ = 0;
    Word control_ = 0, spaces_ = 0; ///< the bits of the services `programs` and `spaces`, which are init's own
    Word gone_[most_programs] = {};     ///< for each server: clients that are gone and of which it has not been told
    Word identity_[most_programs] = {}; ///< of the start that has ended
    Word restarts_ = 0;                 ///< a bit a program that is to be started again
    Word lacking_ = 0;                  ///< likewise: its last start has failed for memory
    Word waits_for_budget_ = 0;         ///< likewise: a thread of it does
    L4_Word64_t started_[most_programs] = {};
    L4_ThreadId_t awaiting_[most_programs] = {}; ///< the thread that waits for the end of a program
    struct {
        Copying copy;
        L4_ThreadId_t client;
    } copies_[most_programs] = {}; ///< that programs wait for
    Word copying_ = 0;             ///< a bit a program
    /// Likewise: its main thread waits for an answer that was put off, and would take any other message of ours for it.
    Word put_off_ = 0;
};

} // namespace init
