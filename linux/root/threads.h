// SPDX-License-Identifier: BSD-2-Clause
// Threads: the server's first two, root's own that waits for the console, and those of the server's processes.
#pragma once

#include <init/program.h>
#include <l4/thread.h>

#include <server.h>

namespace linux_root {

class Threads {
public:
    static constexpr L4_Word_t servers = 2; ///< that the server begins with

    /// Makes the server's space and threads, those of the program `server`, says in `boot` what they are, and starts
    /// them. Returns what is wrong, or null. `slot`: MB of a small space; `small_processes`: theirs may be small, too.
    /// After `end` it can be started again.
    const char *start(const init::Program &server, server_boot &boot, L4_Word_t entry, L4_Word_t stack, unsigned slot,
                      bool small_processes);
    /// Where the UTCBs of the server's threads are.
    static L4_Fpage_t utcbs();

    /// Ends the server's processes: their threads and spaces go.
    void end();

    L4_ThreadId_t main() const { return main_; }
    L4_ThreadId_t events() const { return events_; }

    // Calls of the server's, for threads whose numbers are its own; they return an ErrorCode.

    /// A space with a first thread; the server is its redirector, and controls it (docs/controlled-spaces.md).
    /// `small`: it may be small, and has its areas where they are in such spaces.
    L4_Word_t make_space(L4_ThreadId_t first, bool small);
    L4_Word_t make(L4_ThreadId_t id, L4_ThreadId_t space, L4_Word_t utcb, bool small);
    L4_Word_t remove(L4_ThreadId_t id);

private:
    static constexpr L4_Word_t most_threads = 4096;

    /// Behind those of the system's programs.
    L4_Word_t console_number() const { return L4_ThreadNo(root_) + 1 + init::most_programs * init::most_threads; }
    bool is_servers(L4_ThreadId_t id) const;
    const char *make_server(unsigned slot);
    const char *start_console();
    L4_Fpage_t utcb_area(bool small) const;
    L4_Word_t activate(L4_ThreadId_t id, L4_ThreadId_t space, L4_Word_t utcb, bool small);

    L4_ThreadId_t root_ = {}, main_ = {}, events_ = {};
    L4_Word_t first_ = 0, user_end_ = 0;
    bool has_console_ = false;
    L4_ThreadId_t made_[most_threads] = {}; // by number from first_ on: those that there are
};

} // namespace linux_root
