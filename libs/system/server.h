// SPDX-License-Identifier: BSD-2-Clause
// The loop of a server: it waits for calls of its clients, whom init knows, and answers them.
//
//   struct Server {
//       rpc::Result<Word> handle(Adder::Add, rpc::Client &, Word a, Word b) { return a + b; }
//   };
//   cobnut::serve(server, Adder::Operations{});
//
// Optional members of a server: `left(Word program)`, a client's program has ended; `interrupted(Word line)`, for lines
// that it has taken (init::TakeInterrupt), which are acknowledged when it returns.
#pragma once

#include <system/system.h>

namespace cobnut {

/// The programs that call a server, by thread. What init has said of a thread is kept; the table is direct-mapped, so
/// that a known client costs one comparison.
class Clients {
    using Word = L4_Word_t;

public:
    /// False if the thread's program may not use the server. `gone`: a program of which an earlier start was known.
    template <typename Gone> bool admit(L4_ThreadId_t thread, Word &program, Gone gone)
    {
        Entry &entry = entries_[L4_ThreadNo(thread) % size];
        if (entry.thread != thread) {
            // the message must survive the question to init
            Word message[64];
            L4_StoreMRs(0, 64, message);
            const auto admitted = ask_init<init::Admit>(thread.raw);
            L4_LoadMRs(0, 64, message);
            if (!admitted) return false;
            const Word number = admitted.value & 0xFFFF, start = admitted.value >> 16;
            if (starts_[number] && starts_[number] != start) gone(number);
            starts_[number] = start;
            entry = {thread, number};
        }
        program = entry.program;
        return true;
    }

    /// Forgets a start of a program; false if it is known to have been succeeded by another one.
    bool forget(Word number, Word start)
    {
        if (number >= init::most_programs || starts_[number] != start) return false;
        starts_[number] = 0;
        for (Entry &entry : entries_)
            if (entry.program == number) entry = {};
        return true;
    }

private:
    static constexpr Word size = 64;
    struct Entry {
        L4_ThreadId_t thread = {};
        Word program = ~0u;
    };
    Entry entries_[size];
    Word starts_[init::most_programs] = {};
};

namespace detail {

template <typename Server> void client_gone(Server &server, L4_Word_t program)
{
    if constexpr (requires { server.left(program); }) server.left(program);
}

/// An interrupt's message: from a thread with the number of a line.
inline bool is_interrupt(L4_ThreadId_t from) { return L4_ThreadNo(from) < 16; }

} // namespace detail

/// Serves for ever.
template <typename Server, typename Operations> [[noreturn]] void serve(Server &server, Operations operations)
{
    static constinit Clients clients;
    L4_Accept(L4_UntypedWordsAcceptor);
    L4_ThreadId_t from;
    L4_MsgTag_t tag = L4_Wait(&from);
    for (;;) {
        L4_Word_t answer = rpc::tag_later;
        const auto gone = [&](L4_Word_t program) { detail::client_gone(server, program); };
        if (L4_IpcFailed(tag)) {
            // a client has not waited for its answer
        } else if (detail::is_interrupt(from)) {
            if constexpr (requires { server.interrupted(0u); }) server.interrupted(L4_ThreadNo(from));
            answer = 0;
        } else if (from == L4_Pager()) {
            L4_Word_t who;
            L4_StoreMR(1, &who);
            if (L4_Label(tag) == init::client_gone_label && clients.forget(who & 0xFFFF, who >> 16)) gone(who & 0xFFFF);
        } else {
            rpc::Client client{from, 0};
            answer = static_cast<L4_Word_t>(rpc::Error::denied) << 16;
            if (clients.admit(from, client.program, gone)) answer = rpc::dispatch(server, client, tag, operations);
        }
        if (answer == rpc::tag_later) {
            tag = L4_Wait(&from);
            continue;
        }
        L4_Set_MsgTag(L4_MsgTag_t{.raw = answer});
        tag = L4_ReplyWait(from, &from);
    }
}

} // namespace cobnut
