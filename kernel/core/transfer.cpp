// SPDX-License-Identifier: BSD-2-Clause
#include "core/transfer.hpp"

#include "core/arch.hpp"
#include "core/mapping.hpp"
#include "core/string.hpp"

namespace {

// Typed items by the low nibble of their first word, without its continuation bit (manual 5.1).
constexpr Word item_type_mask = 0xe;
constexpr Word item_continues = 1;
constexpr Word item_map = 0x8;
constexpr Word item_grant = 0xa;

Word id_seen_by(const Thread& r, const Thread& t) { return t.space == r.space && t.utcb ? t.utcb_address : t.id.raw; }

// The part of its address space that the reader of a message opens to map items.
Fpage receive_window(const Thread& r) {
    switch (r.receive_role) {
    case Role::user: return {r.utcb->acceptor() & ~Word{0xf}};
    case Role::page_fault: return Fpage::complete();
    default: return Fpage::nil();
    }
}

bool map_item(Thread& s, Thread& r, Word base_word, Fpage send) {
    Fpage window = receive_window(r);
    if (window.is_nil()) return false;
    if (send.is_nil()) return true;         // I/O fpages, too
    Space& to = *r.space;
    Word base = base_word & ~Word{0x3ff};
    // A mapping that a tagged space could not reach takes the tag from it (manual A.5).
    if (VAddr limit = arch::tag_limit(to); limit && mappings::reaches(send, window, base, limit)) arch::promote(to);
    return mappings::transfer(*s.space, send, to, window, base, (base_word & item_type_mask) == item_grant);
}

// Transfers the typed items at words[0..count); writes them to `out` where the receiver sees them.
bool typed_items(Thread& s, Thread& r, const Word* words, Word count, Word* out) {
    for (Word i = 0; i < count; i += 2) {
        Word type = words[i] & item_type_mask;
        if (type != item_map && type != item_grant) return false;
        if (i + 1 == count) return false;
        Word first = words[i], second = words[i + 1];
        if (!map_item(s, r, first, {second})) return false;
        if (out) {
            out[i] = (first & ~item_continues) | (i + 2 < count ? item_continues : 0);
            out[i + 1] = second;
        }
    }
    return true;
}

}  // namespace

bool transfer(Thread& s, Thread& r, Thread& apparent) {
    bool from_user = s.send_role == Role::user;
    MsgTag tag = from_user ? MsgTag{s.utcb->mr[0]} : s.message.tag;
    const Word* words = from_user ? s.utcb->mr + 1 : s.message.words;
    Word untyped = tag.untyped(), typed = tag.typed();
    bool to_user = r.receive_role == Role::user;
    bool fits = untyped + typed < message_registers;

    if (to_user) {
        if (fits) memcpy(r.utcb->mr + 1, words, untyped * sizeof(Word));
        bool good = fits && typed_items(s, r, words + untyped, typed, r.utcb->mr + 1 + untyped);
        Word flags = 0;
        if (&apparent != &s) {
            flags |= MsgTag::propagated_bit;
            r.utcb->virtual_sender() = id_seen_by(r, s);
        }
        if (!s.intended.is_nil()) {
            flags |= MsgTag::redirected_bit;
            r.utcb->intended_receiver() = s.intended.raw;
        }
        if (!good) {
            flags |= MsgTag::error_bit;
            r.utcb->error_code() = ipc_error_code(IpcError::overflow, Phase::receive);
        }
        arch::set_ipc_result(r, {id_seen_by(r, apparent)}, tag.delivered() | flags);
        return good;
    }
    if (!fits || !typed_items(s, r, words + untyped, typed, nullptr)) return false;
    if (r.receive_role == Role::startup && untyped == 2) {
        arch::set_user_ip(r, words[0]);
        arch::set_user_sp(r, words[1]);
    }
    if (r.receive_role == Role::exception) arch::exception_reply(r, words, untyped);
    return true;
}
