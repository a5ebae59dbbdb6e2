// SPDX-License-Identifier: BSD-2-Clause
#include "oracle.h"

namespace compose {

constinit Word area_mb = 512;

namespace {

constexpr Word kernel_base = 0xF0000000, user_limit_most = 0xC0000000;

Word large_limit()
{
    const Word area = kernel_base - area_mb * mega;
    return area < user_limit_most ? area : user_limit_most;
}
Word size_of(cobnut::Tag tag) { return tag.size_mb ? tag.size_mb * mega : large_limit(); }
bool same(cobnut::Tag a, cobnut::Tag b)
{
    return a.offset_mb == b.offset_mb && a.size_mb == b.size_mb && a.bound == b.bound;
}

/// A slot's size, or a large space's.
bool is_size(Word bytes)
{
    return bytes == large_limit() || (bytes >= mega && bytes <= 512 * mega && !(bytes & (bytes - 1)));
}

/// The thread's own segment, of which it can reach what lies between two offsets.
const char *judge_tls(Word g, Word last)
{
    constexpr Word expand_down = 1u << 10;
    const Word rights = block(g, BLOCK_TLS_RIGHTS), limit = block(g, BLOCK_TLS_LIMIT), base = thread[g].tls;
    if (!rights) return nullptr;
    if (base == ~Word{0}) return "a thread has a segment that nobody asked for";
    if (base > last) return "a thread's own segment begins past its space";
    if (rights & expand_down) return limit < ~base ? "a thread's own segment begins before its space" : nullptr;
    return limit > last - base ? "a thread's own segment ends past its space" : nullptr;
}

/// What only the full probe looks at: which selectors there are, what the registers hold.
const char *judge_registers(Word g)
{
    constexpr Word standard =
        1u << (AGENT_USER_CODE >> 3) | 1u << (AGENT_USER_DATA >> 3) | 1u << (AGENT_UTCB_WORD >> 3);
    const Word named = block(g, BLOCK_NAMED);
    if (!named) return nullptr;
    if ((named & ~(1u << (AGENT_TLS >> 3))) != standard) return "a user can name a selector that is not its own";
    if (block(g, BLOCK_GS_LIMIT) != sizeof(Word) - 1) return "more than one word can be seen behind GS";
    const auto selector = [g](Word n) { return block(g, BLOCK_SELECTORS + n * 4) & 0xFFFF; };
    const bool own_fs = selector(2) == AGENT_USER_DATA || selector(2) == AGENT_TLS;
    const bool own_gs = selector(3) == AGENT_UTCB_WORD || selector(3) == AGENT_TLS;
    if (selector(0) != AGENT_USER_DATA || selector(1) != AGENT_USER_DATA || selector(4) != AGENT_USER_DATA || !own_fs ||
        !own_gs)
        return "a segment register holds a foreign selector";
    return block(g, BLOCK_FOREIGN) ? "a segment register shows another space" : nullptr;
}

/// A tag that SpaceControl has asked for stays, unless something past it was needed.
const char *judge_tag(Word s)
{
    const cobnut::Tag before = space[s].before;
    if (!before.pinned || !before.size_mb || space[s].asked || before.bound) return nullptr;
    for (Word g = 0; g < threads; g++)
        if (thread[g].space == s && thread[g].state == State::lost) note_going_on(g); // at any time
    const cobnut::Tag now = cobnut::tag_of(thread[keeper_of(s)].id);
    return !same(before, now) && space[s].reach < size_of(before) ? "a slot is lost and nothing was needed past it"
                                                                  : nullptr;
}

/// The keeper's probe fits the tag. The rules may change that of a space that is not pinned at any time: then once
/// more.
const char *judge_space(Word s)
{
    constexpr Word tries = 4;
    const char *found = nullptr;
    for (Word i = 0; i < tries; i++) {
        const Word g = keeper_of(s);
        const cobnut::Tag before = cobnut::tag_of(thread[g].id);
        if (send_to(g, entry(keeper_page, agent_probe)) != Heard::report) return nullptr;
        if ((found = judge_probe(g))) return found;
        const cobnut::Tag now = cobnut::tag_of(thread[g].id);
        if (!same(before, now) || block(g, BLOCK_CS_LIMIT) + 1 == size_of(now)) return nullptr;
        found = "code and data do not end with the slot";
    }
    return found;
}

} // namespace

void note_tags()
{
    for (Word s = 0; s < attackers; s++) {
        space[s].reach = 0;
        space[s].asked = false;
        space[s].before = alive(s) ? cobnut::tag_of(thread[keeper_of(s)].id) : cobnut::Tag{};
    }
}

const char *judge_probe(Word g)
{
    const Word last = block(g, BLOCK_CS_LIMIT);
    if (last != block(g, BLOCK_CS_AGAIN)) return nullptr; // the space has become another under way
    if (!is_size(last + 1)) return "code ends where no slot does";
    if (block(g, BLOCK_DS_LIMIT) != last) return "data do not end with the code";
    const char *found = judge_tls(g, last);
    return found ? found : judge_registers(g);
}

const char *judge_step(Word s)
{
    for (Word other = 0; other < attackers; other++)
        if (const char *found = alive(other) ? judge_tag(other) : nullptr) return found;
    if (const char *found = alive(s) ? judge_space(s) : nullptr) return found;
    return harmed_victim();
}

} // namespace compose
