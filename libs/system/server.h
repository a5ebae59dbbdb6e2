// SPDX-License-Identifier: BSD-2-Clause
// The loop of a server: it waits for calls of its clients, whom init knows, and answers them.
//
//   struct Server {
//       rpc::Result<Word> handle(Adder::Add, rpc::Client &, Word a, Word b) { return a + b; }
//   };
//   cobnut::serve(server, Adder::Operations{});
//
// Optional members of a server: `left(Word program)`, a client's program has ended; `interrupted(Word line)`, for lines
// that it has taken (init::TakeInterrupt), which are acknowledged when it returns; `notified()`, another thread of the
// server's own has called, and goes on when it returns; `patience()`, called before each wait, says how long that may
// last, and does what is to be done by then; `before_answer()`, called before each answer, does what is to be
// done for others than the caller. A server has one of these two at most.
#pragma once

#include <system/system.h>

#include <cobnut/space.h>
#include <l4/kip.h>

namespace cobnut {

/// The programs that call a server, by thread. What init has said of a thread is kept; the table is direct-mapped, so
/// that a known client costs one comparison.
class Clients {
    using Word = L4_Word_t;

public:
    /// Of a thread that is known; nullptr if it is not.
    rpc::Client *find(L4_ThreadId_t thread)
    {
        rpc::Client &client = clients_[L4_ThreadNo(thread) % size];
        return client.thread.raw == thread.raw ? &client : nullptr;
    }

    /// Asks init for a thread; nullptr if its program may not use the server. `gone`: a program of which an earlier
    /// start was known.
    template <typename Gone> rpc::Client *admit(L4_ThreadId_t thread, Gone gone)
    {
        // the message must survive the question, and what the server does about the earlier start
        Word message[64];
        L4_StoreMRs(0, 64, message);
        const auto admitted = ask_init<init::Admit>(thread.raw);
        if (!admitted) return nullptr;
        const Word number = admitted.value & 0xFFFF, start = admitted.value >> 16;
        if (starts_[number] && starts_[number] != start) gone(number);
        L4_LoadMRs(0, 64, message);
        starts_[number] = start;
        rpc::Client &client = clients_[L4_ThreadNo(thread) % size];
        client = {thread, number};
        return &client;
    }

    /// Forgets a program one of whose starts has ended, this one or one before it; false if none is known, or a later
    /// one.
    bool forget(Word number, Word start)
    {
        if (number >= init::most_programs || !starts_[number] || starts_[number] > start) return false;
        starts_[number] = 0;
        for (rpc::Client &client : clients_)
            if (client.program == number) client = {};
        return true;
    }

private:
    static constexpr Word size = 64;
    rpc::Client clients_[size] = {};
    Word starts_[init::most_programs] = {};
};

namespace detail {

template <typename Server> void client_gone(Server &server, L4_Word_t program)
{
    if constexpr (requires { server.left(program); }) server.left(program);
}

/// An interrupt's message: from a thread with the number of a line.
inline bool is_interrupt(L4_ThreadId_t from)
{
    return L4_ThreadNo(from) < L4_ThreadIdSystemBase(reinterpret_cast<void *>(COBNUT_KIP_ADDRESS));
}

template <typename Server> inline L4_MsgTag_t first_wait(Server &server, L4_ThreadId_t *from)
{
    if constexpr (requires { server.patience(); }) return L4_Wait_Timeout(server.patience(), from);
    return L4_Wait(from);
}

/// An answer's message registers, while something else needs them.
class Kept {
public:
    explicit Kept(L4_Word_t answer) : words_(answer == rpc::tag_later ? 0 : answer & 0x3F)
    {
        for (L4_Word_t i = 0; i < words_; i++) kept_[i] = rpc::detail::registers()[i];
    }
    void put() const
    {
        for (L4_Word_t i = 0; i < words_; i++) rpc::detail::registers()[i] = kept_[i];
    }

private:
    L4_Word_t words_, kept_[64];
};

/// A message that is from no known client: the answer's tag.
template <typename Server, typename Operations> [[gnu::noinline]] L4_Word_t
meet(Server &server, Clients &clients, L4_ThreadId_t from, L4_MsgTag_t tag, Operations operations)
{
    if (L4_IpcFailed(tag)) return rpc::tag_later; // a client that did not wait for its answer
    const auto gone = [&](L4_Word_t program) { client_gone(server, program); };
    if (is_interrupt(from)) {
        if constexpr (requires { server.interrupted(0u); }) server.interrupted(L4_ThreadNo(from));
        return 0;
    }
    if (L4_IsLocalId(from)) {
        if constexpr (requires { server.notified(); }) server.notified();
        return 0;
    }
    if (from == L4_Pager()) {
        L4_Word_t who;
        L4_StoreMR(1, &who);
        if (L4_Label(tag) == init::client_gone_label && clients.forget(who & 0xFFFF, who >> 16)) gone(who & 0xFFFF);
        return rpc::tag_later;
    }
    rpc::Client *const client = clients.admit(from, gone);
    if (!client) return static_cast<L4_Word_t>(rpc::Error::denied) << 16;
    return rpc::dispatch(server, *client, tag, operations);
}

} // namespace detail

/// Serves for ever.
template <typename Server, typename Operations> [[noreturn]] void serve(Server &server, Operations operations)
{
    static constinit Clients clients;
    L4_Accept(L4_UntypedWordsAcceptor);
    L4_ThreadId_t from;
    L4_MsgTag_t tag = detail::first_wait(server, &from);
    for (;;) {
        rpc::Client *const client = clients.find(from);
        const L4_Word_t answer = client ? rpc::dispatch(server, *client, tag, operations)
                                        : detail::meet(server, clients, from, tag, operations);
        if constexpr (requires { server.patience(); }) {
            // what it does beside answering may need the message registers
            L4_Set_MsgTag(L4_MsgTag_t{.raw = answer});
            if (answer != rpc::tag_later) L4_Reply(from);
            tag = L4_Wait_Timeout(server.patience(), &from);
            continue;
        }
        if constexpr (requires { server.before_answer(); }) {
            const detail::Kept kept(answer);
            server.before_answer();
            kept.put();
            from = L4_GlobalIdOf(from); // the kernel's fast path knows no local ids
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
