// SPDX-License-Identifier: BSD-2-Clause
// The driver of a network card, but for the card: it carries frames between that and the rings of its one client.
//
//   struct Card {
//       bool begin(const init::Device &, NicMemory &, Word handle);   // finds itself, with the rings and their handle
//       void address(unsigned char *bytes);                           // six of them
//       void acknowledge();                                           // its interrupt ends
//       void work(FrameSink &received, FrameSource &sent);            // carries what there is, as far as there is room
//   };
//   int cobnut_main(const char *) { return cobnut::drive(card); }
//
// A processor whose caches know virtual addresses only has to clean them whenever a page is used at another address.
// Drivers there say at which one both sides are to have the rings: drive(card, at).
#pragma once

#include <interfaces/nic.h>
#include <system/memory.h>
#include <system/server.h>

namespace cobnut {

template <typename Card> class NicDriver {
    using Client = rpc::Client;
    using Word = rpc::Word;

public:
    constexpr NicDriver(Card &card, Word at) : card_(card), at_(at) {}

    /// False if the card does not answer, or there is no memory.
    bool begin()
    {
        const auto device = ask_init<init::FindDevice>();
        const auto made = make_memory(NicMemory::pages, at_);
        if (!device || !made) return false;
        handle_ = made.value.handle;
        auto &memory = *reinterpret_cast<NicMemory *>(made.value.address);
        received_.begin(memory.received);
        sent_.begin(memory.sent);
        if (!card_.begin(device.value, memory, handle_)) return false;
        if (!ask_init<init::TakeInterrupt>(device.value.line)) return false;
        return true;
    }

    rpc::Result<Nic::Card> handle(Nic::Begin, Client &client)
    {
        if (owned_ && owner_ != client.program) return rpc::Error::full;
        const auto passed = ask_init<init::Pass>(handle_, client.thread.raw, Word{1});
        if (!passed) return passed.error;
        owned_ = true;
        owner_ = client.program;
        waiting_ = {};
        Nic::Card card = {};
        card_.address(card.address);
        card.handle = handle_;
        card.at = at_;
        return card;
    }

    rpc::Result<rpc::Nothing> handle(Nic::Wait, Client &client)
    {
        if (!owned_ || owner_ != client.program || !L4_IsNilThread(waiting_.thread)) return rpc::Error::full;
        card_.work(received_, sent_);
        if (is_news()) return rpc::Nothing{};
        waiting_ = client;
        return rpc::Error::later;
    }

    rpc::Result<rpc::Nothing> handle(Nic::Kick, Client &client)
    {
        if (!owned_ || owner_ != client.program) return rpc::Error::later;
        card_.work(received_, sent_);
        tell();
        return rpc::Error::later;
    }

    void interrupted(Word)
    {
        card_.acknowledge();
        card_.work(received_, sent_);
        tell();
    }

    void left(Word program)
    {
        if (!owned_ || owner_ != program) return;
        owned_ = false;
        waiting_ = {};
    }

private:
    bool is_news() { return !received_.empty() || sent_.owes_room(); }
    /// Answers the client's thread that waits for news, if there is some.
    void tell()
    {
        if (L4_IsNilThread(waiting_.thread) || !is_news()) return;
        rpc::answer<Nic::Wait>(waiting_.thread, rpc::Nothing{});
        waiting_ = {};
    }

    Card &card_;
    Word at_; ///< of the rings; 0: anywhere
    Word handle_ = 0; ///< of the rings
    bool owned_ = false; ///< there is a client
    Word owner_ = 0;
    FrameSink received_;
    FrameSource sent_;
    Client waiting_ = {};
};

/// Serves for ever, or returns what a program ends with if it cannot begin. The rings are at that address, or anywhere.
template <typename Card> int drive(Card &card, rpc::Word at = 0)
{
    NicDriver<Card> driver(card, at);
    if (!driver.begin()) return 1;
    serve(driver, Nic::Operations{});
}

} // namespace cobnut
