// SPDX-License-Identifier: BSD-2-Clause
#include "core/transfer.hpp"

#include "core/arch.hpp"
#include "core/check.hpp"
#include "core/mapping.hpp"
#include "core/string.hpp"
#include "core/string_transfer.hpp"

namespace {

using mappings::Mapped;
using namespace items;

constexpr Word item_continues = 1;

Word id_seen_by(const Thread& r, const Thread& t) { return t.space == r.space && t.utcb ? t.utcb_address : t.id.raw; }

// The part of its address space that the reader of a message opens to map items.
Fpage receive_window(const Thread& r) {
    switch (r.receive_role) {
    case Role::user: return {r.utcb->acceptor() & ~Word{0xf}};
    case Role::page_fault:
    case Role::exception: return Fpage::complete();
    case Role::port_fault: return Fpage::complete_io();
    default: return Fpage::nil();
    }
}

// Mapped::no_memory also means that the receiver does not accept it.
Mapped map_item(Thread& s, Thread& r, TypedItems& item, Word& budget) {
    Fpage window = item.window, send{item.second};
    Space& to = *r.space;
    bool grant = (item.first & item_type_mask) == item_grant;
    if (send.is_io()) {
        if (!window.is_io() && !window.is_complete()) return Mapped::no_memory;
        return arch::transfer_ports(*s.space, send, to, window, grant, item.progress, budget);
    }
    if (window.is_nil()) return Mapped::no_memory;
    if (send.is_nil()) return Mapped::all;
    Word base = item.first & ~Word{0x3ff};
    Mapped mapped = mappings::transfer(*s.space, send, to, window, base, grant, item.progress, budget);
    if (mapped != Mapped::part && !arch::mapped_up_to(to, item.progress.end, budget)) return Mapped::part;
    return mapped;
}

}  // namespace

void Arrival::report(Thread& r, Word error_code) const {
    if (tag & MsgTag::propagated_bit) r.utcb->virtual_sender() = actual_sender.raw;
    if (tag & MsgTag::redirected_bit) r.utcb->intended_receiver() = intended.raw;
    if (error_code) r.utcb->error_code() = error_code;
    arch::set_ipc_result(r, from, tag | (error_code ? MsgTag::error_bit : 0));
}

void TypedItems::show_first(Word words) const {
    if (out) out[at] = (first & ~item_continues) | (at + words < count ? item_continues : 0);
}

TypedItems::Next TypedItems::transfer(Thread& s, Thread& r, Word& budget) {
    check(at <= count && count < message_registers);
    for (; at < count; at += 2, progress = {}) {
        if (!progress.done && !progress.clearing) {
            first = words[at];
            if (StringCursor::is_string(first)) return Next::string;
            Word type = first & item_type_mask;
            if ((type != item_map && type != item_grant) || at + 1 == count) return Next::overflow;
            second = words[at + 1];
        }
        Mapped now = map_item(s, r, *this, budget);
        if (now != Mapped::all) return now == Mapped::part ? Next::more : Next::overflow;
        show_first(2);
        if (out) out[at + 1] = second;
    }
    return Next::done;
}

Moved transfer(Thread& s, Thread& r, Thread& apparent, Word& budget) {
    check(&s != &r && s.utcb != r.utcb);
    bool from_user = s.send_role == Role::user;
    MsgTag tag = from_user ? MsgTag{s.utcb->mr[0]} : s.message.tag;
    const Word* words = from_user ? s.utcb->mr + 1 : s.message.words;
    Word untyped = tag.untyped(), typed = tag.typed();
    bool to_user = r.receive_role == Role::user;
    bool fits = untyped + typed < message_registers;
    TypedItems items{words + untyped, typed, 0, 0, 0, nullptr, receive_window(r), {}};

    check(!to_user || r.utcb);
    Arrival arrival{};
    if (to_user) {
        if (fits) memcpy(r.utcb->mr + 1, words, untyped * sizeof(Word));
        items.out = r.utcb->mr + 1 + untyped;
        arrival = {{id_seen_by(r, apparent)}, {id_seen_by(r, s)}, s.intended, tag.delivered()};
        if (&apparent != &s) arrival.tag |= MsgTag::propagated_bit;
        if (!s.intended.is_nil()) arrival.tag |= MsgTag::redirected_bit;
    }
    TypedItems::Next end = fits ? items.transfer(s, r, budget) : TypedItems::Next::overflow;
    if (strings::begin(s, r, apparent, arrival, items, end)) return Moved::part;
    bool good = end == TypedItems::Next::done;
    if (to_user) {
        arrival.report(r, good ? 0 : ipc_error_code(IpcError::overflow, Phase::receive));
    } else if (good) {
        if (r.receive_role == Role::startup && untyped == 2) {
            arch::set_user_ip(r, words[0]);
            arch::set_user_sp(r, words[1]);
        }
        if (r.receive_role == Role::exception) arch::exception_reply(r, words, untyped);
    }
    return good ? Moved::whole : Moved::overflow;
}
