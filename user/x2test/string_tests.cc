// SPDX-License-Identifier: BSD-2-Clause
// Strings (manual 5.4, 5.5): what arrives, where, and what does not fit. Their page faults: string_fault_tests.cc.
#include "machine.h"
#include "strings.h"

namespace x2test {
namespace {

using namespace strings;

constexpr Word map_window = free_area;

/// Sizes around words and pages, from and to odd places.
void simple(Kind from, Kind to)
{
    Agent *s = agent(from), *r = agent(to);
    if (!s || !r) return;
    const Word sizes[] = {0, 1, 3, 4, 5, 64, 4095, 4096, 4097, 3 * 4096 + 1, half - 7};
    for (Word n : sizes)
        for (Word shift = 0; shift < 2; shift++) {
            clear(), fill();
            send(source(3 * shift), n);
            accept(target(7 * shift), half - 7);
            expect(7 * shift, 3 * shift, n);
            transfer(s, r);
            CHECK(arrived());
            CHECK(target_as_expected());
        }
}
void simple_here() { simple(Kind::here, Kind::here); }
void simple_large_large() { simple(Kind::large, Kind::large); }
void simple_small_small() { simple(Kind::small, Kind::small); }
void simple_large_small() { simple(Kind::large, Kind::small); }
void simple_small_large() { simple(Kind::small, Kind::large); }
void simple_from_here() { simple(Kind::here, Kind::other); }
void simple_to_here() { simple(Kind::other, Kind::here); }

/// Between two threads of one space other than main's.
void simple_mates()
{
    Agent *s = agent(Kind::other), *r = s ? agent_beside(s) : nullptr;
    if (!r) return;
    clear(), fill();
    send(source(1), 10000);
    accept(target(), half);
    expect(0, 1, 10000);
    transfer(s, r);
    CHECK(arrived());
    CHECK_EQUAL(message.from, s->local.raw);
    CHECK(target_as_expected());
}

/// The item words arrive as they were sent, but that the kernel sets C where another item follows.
void words_of_items()
{
    Agent *s = agent(Kind::other), *r = agent(Kind::other);
    if (!s || !r) return;
    clear(), fill();
    L4_MsgAppendWord(&message.msg, 0x11111111);
    L4_MsgAppendWord(&message.msg, 0x22222222);
    send(source(), 5);
    Word compound[5] = {};
    auto *item = reinterpret_cast<L4_StringItem_t *>(compound);
    *item = L4_StringItem(3, bytes_at(source(100)));
    *item += bytes_at(source(200));
    *item += L4_StringItem(9, bytes_at(source(300)));
    CHECK(L4_StringItem(item) && L4_CompoundString(item));
    CHECK_EQUAL(L4_Substrings(item), 3);
    CHECK(L4_Substring(item, 2) == bytes_at(source(300)) && !L4_Substring(item, 3));
    L4_MsgAppendStringItem(&message.msg, item);
    send(source(400), 2);
    L4_Set_MsgLabel(&message.msg, 0xABCD);
    message.msg.raw[3] &= ~1u;                  // C of the first: ignored
    message.msg.raw[3 + 2 + 5] |= 1;            // C of the last: ignored, too
    for (Word i = 0; i < 3; i++) accept(target(i * 1000), 50);
    expect(0, 0, 5), expect(1000, 100, 3), expect(1003, 200, 3), expect(1006, 300, 9), expect(2000, 400, 2);
    transfer(s, r);
    CHECK(arrived());
    CHECK(target_as_expected());
    CHECK_EQUAL(message.from, s->id.raw);
    message.msg.raw[3] |= 1;
    message.msg.raw[5] |= 1;
    message.msg.raw[10] &= ~1u;
    for (Word i = 1; i <= 2 + 9; i++) CHECK_EQUAL(message.mr[i], message.msg.raw[i]);
}

/// Every hint means the same here: none.
void caching_hints()
{
    Agent *s = agent(Kind::other), *r = agent(Kind::other);
    if (!s || !r) return;
    clear(), fill();
    for (Word hint = 0; hint < 4; hint++) {
        const L4_CacheAllocationHint_t h{.raw = hint};
        L4_MsgAppendSimpleStringItem(&message.msg, L4_StringItem(10, bytes_at(source(hint * 100))) + h);
        L4_MsgBufferAppendSimpleRcvString(&message.buffers, L4_StringItem(10, bytes_at(target(hint * 100))) + h);
        expect(hint * 100, hint * 100, 10);
    }
    transfer(s, r);
    CHECK(arrived());
    CHECK(target_as_expected());
}

/// The n-th string goes to the n-th buffer, what is left of a buffer is skipped; strings and fpages mix.
void buffers_in_order()
{
    Agent *s = agent(Kind::other), *r = agent(Kind::other);
    if (!s || !r) return;
    clear(), fill();
    message.acceptor |= L4_MapGrantItems(L4_FpageLog2(map_window, 12)).raw;
    const L4_MapItem_t page = L4_MapItem(page_at(source(page_size), L4_FullyAccessible), 0);
    const Word sizes[] = {4000, 0, 1, 5000};
    for (Word i = 0; i < 4; i++) {
        send(source(i * 5000), sizes[i]);
        accept(target(i * 6000), 6000);
        expect(i * 6000, i * 5000, sizes[i]);
        if (i == 1) L4_MsgAppendMapItem(&message.msg, page);
    }
    transfer(s, r);
    CHECK(arrived());
    CHECK(target_as_expected());
    Word word;
    __builtin_memcpy(&word, bytes_at(source(page_size + 8)), 4);
    CHECK_EQUAL(ask(r, do_read, map_window + 8).value, word);
    CHECK_EQUAL(r->out.faults, 0);
    CHECK_EQUAL(message.mr[5] & 0xF, 0x9); // the map item, and another after it
}

struct Piece {
    Word at, bytes;
};

/// Cuts a half of the arena into pieces that do not overlap, in random order; writes them as a compound item of at
/// most `room` words. Returns the number of pieces.
Word shape(Random &random, Word *item, Word room, Word base, Piece *pieces)
{
    Word count = 0, at = random.below(50), words = 0, *length = nullptr;
    while (count < 24) {
        const bool same = length && random.below(3) == 0 && (*length >> 4 & 0x1F) < 31;
        if (words + (same ? 1 : 2) > room) break;
        const Word page = random.below(4) == 0 ? 4096 : 0;
        const Word bytes = same ? *length >> 10 : page + random.below(random.below(2) ? 9 : 900);
        if (at + bytes > half) break;
        if (same) {
            *length += 0x10;
        } else {
            if (length) *length |= 0x200;
            length = item + words++;
            *length = bytes << 10;
        }
        item[words++] = base + at;
        pieces[count++] = {at, bytes};
        at += bytes + random.below(100);
    }
    return count;
}

Word total(const Piece *p, Word count)
{
    Word sum = 0;
    for (Word i = 0; i < count; i++) sum += p[i].bytes;
    return sum;
}

/// Lays the bytes of one list of pieces into the other, as far as both go.
void expect_pieces(const Piece *from, Word from_count, const Piece *to, Word to_count)
{
    Word f = 0, t = 0, f_done = 0, t_done = 0;
    while (f < from_count && t < to_count) {
        if (f_done == from[f].bytes) {
            f++, f_done = 0;
            continue;
        }
        if (t_done == to[t].bytes) {
            t++, t_done = 0;
            continue;
        }
        expect(to[t].at + t_done++, from[f].at + f_done++, 1);
    }
}

/// Gather and scatter in random shapes, against a copy byte by byte.
void random_shapes(Kind from, Kind to)
{
    Agent *s = agent(from), *r = agent(to);
    if (!s || !r) return;
    Random random(wish.seed);
    for (int round = 0; round < 60; round++) {
        clear(), fill();
        Piece out[24], in[24];
        const Word out_count = shape(random, message.msg.raw + 1, 63, source(), out);
        const Word in_count = shape(random, message.buffers.raw, 32, target(), in);
        if (!out_count || !in_count) continue;
        message.msg.raw[0] = 0x00010000 | L4_Substrings(reinterpret_cast<L4_StringItem_t *>(message.msg.raw + 1)) << 6;
        const auto *item = reinterpret_cast<L4_StringItem_t *>(message.msg.raw + 1);
        CHECK_EQUAL(L4_Substrings(item), out_count);
        message.msg.raw[0] = 0x00010000 | __L4_StringWords(message.msg.raw + 1) << 6;
        expect_pieces(out, out_count, in, in_count);
        transfer(s, r);
        const Word sent = total(out, out_count), room = total(in, in_count);
        CHECK(sent <= room ? arrived() : strings::failed(overflow, overflow, room));
        CHECK(target_as_expected());
    }
}
void random_large_large() { random_shapes(Kind::large, Kind::large); }
void random_small_small() { random_shapes(Kind::small, Kind::small); }
void random_large_small() { random_shapes(Kind::large, Kind::small); }
void random_small_large() { random_shapes(Kind::small, Kind::large); }
void random_here() { random_shapes(Kind::here, Kind::here); }

/// A buffer that is too short takes what fits, and the sum of what was transferred is the offset.
void buffer_too_short()
{
    Agent *s = agent(Kind::other), *r = agent(Kind::other);
    if (!s || !r) return;
    clear(), fill();
    L4_MsgAppendWord(&message.msg, 77);
    send(source(), 100), send(source(1000), 6000), send(source(9000), 1);
    accept(target(), 200), accept(target(1000), 5999), accept(target(9000), 50);
    expect(0, 0, 100), expect(1000, 1000, 5999);
    transfer(s, r);
    CHECK(strings::failed(overflow, overflow, 6099));
    CHECK(target_as_expected());
    CHECK_EQUAL(message.mr[1], 77);
    CHECK_EQUAL(message.mr[2], message.msg.raw[2] | 1);
    CHECK_EQUAL(message.mr[3], message.msg.raw[3]);
}

void too_few_buffers()
{
    Agent *s = agent(Kind::other), *r = agent(Kind::other);
    if (!s || !r) return;
    clear(), fill();
    send(source(), 10), send(source(100), 10);
    accept(target(), 10);
    expect(0, 0, 10);
    transfer(s, r);
    CHECK(strings::failed(overflow, overflow, 10));
    CHECK(target_as_expected());
}

/// Without the s bit there are no buffers, whatever the registers hold; nor for an empty string.
void strings_not_accepted()
{
    Agent *s = agent(Kind::other), *r = agent(Kind::other);
    if (!s || !r) return;
    for (Word n = 0; n < 2; n++) {
        clear(), fill();
        message.acceptor = L4_UntypedWordsAcceptor.raw;
        send(source(), n);
        accept(target(), 10);
        transfer(s, r);
        CHECK(strings::failed(overflow, overflow, 0));
        CHECK(target_as_expected());
    }
}

void empty_buffer()
{
    Agent *s = agent(Kind::other), *r = agent(Kind::other);
    if (!s || !r) return;
    clear(), fill();
    send(source(), 0); // the cleared buffer list holds one empty buffer
    transfer(s, r);
    CHECK(arrived());
    send(source(), 1);
    clear(), send(source(), 1);
    transfer(s, r);
    CHECK(strings::failed(overflow, overflow, 0));
    CHECK(target_as_expected());
}

/// An item, its words, the buffers it is sent to, and how many bytes go before the overflow.
struct Garbage {
    Word words;
    Word item[6];
    Word buffer[6];
    Word offset;
};

void garbage(const Garbage &g)
{
    Agent *s = agent(Kind::other), *r = agent(Kind::other);
    if (!s || !r) return;
    clear(), fill();
    for (Word i = 0; i < 6; i++) {
        message.msg.raw[1 + i] = g.item[i];
        message.buffers.raw[i] = g.buffer[i];
    }
    message.msg.raw[0] = 0x00010000 | g.words << 6;
    transfer(s, r);
    CHECK(strings::failed(overflow, overflow, g.offset));
    remove(s), remove(r);
}

constexpr Word length(Word bytes, Word more = 0) { return bytes << 10 | more; }
constexpr Word compound = 0x200, two = 0x10;

void bad_sources()
{
    const Word t = target(), p = source();
    const Word good[2] = {length(half), t};
    const Garbage cases[] = {
        {2, {length(16), 0xF0100000}, {good[0], good[1]}, 0},              // the kernel's
        {2, {length(16), 0xFFFFFFF8}, {good[0], good[1]}, 0},              // around the end of memory
        {2, {length(0x3FFFFF), machine::kernel_area - 1}, {good[0], good[1]}, 0},        // out of user memory
        {2, {length(0x3FFFFF), 0xFFFFFFFF}, {good[0], good[1]}, 0},
        {1, {length(16), p}, {good[0], good[1]}, 0},                       // no room for its pointer
        {2, {length(16, two), p, p}, {good[0], good[1]}, 16},              // second pointer cut off
        {2, {length(16, compound), p, length(4), p}, {good[0], good[1]}, 16}, // second part cut off
        {3, {length(16, compound), p, length(4), p}, {good[0], good[1]}, 16}, // its pointer cut off
        {4, {length(16, compound), p, length(4), 0xFFFF0000}, {good[0], good[1]}, 16},
        {4, {length(16), p, 0xC, p}, {good[0], good[1]}, 16},              // a reserved item
        {4, {length(16), p, 0xE, p}, {good[0], good[1]}, 16},
        {3, {length(16), p, 0x8}, {good[0], good[1]}, 16},                 // half a map item
        {4, {length(16), p, 0x8, 0}, {good[0], good[1]}, 16},              // a map item without a window
    };
    for (const Garbage &g : cases) garbage(g);
}

void bad_buffers()
{
    const Word t = target(), p = source();
    const Word good[2] = {length(100), p};
    const Garbage cases[] = {
        {2, {good[0], good[1]}, {length(200), 0xF0100000}, 0},
        {2, {good[0], good[1]}, {length(200), 0xFFFFFFF8}, 0},
        {2, {good[0], good[1]}, {length(0x3FFFFF), machine::kernel_area - 1}, 0},
        {2, {good[0], good[1]}, {0x8, t}, 0},                              // not a string
        {2, {good[0], good[1]}, {length(60, two), t, 0xFFFF0000}, 60},
        {2, {good[0], good[1]}, {length(60, compound), t, length(60), 0xF0000000}, 60},
        {4, {good[0], good[1], good[0], good[1]}, {length(100, 1), t, 0xA, t}, 100},
    };
    for (const Garbage &g : cases) garbage(g);
}

/// Whatever stands in the registers, both sides come back. Only the buffers' shapes are kept in bounds: what is written
/// has to stay in the second half of the arena.
void random_garbage()
{
    Agent *s = agent(Kind::other), *r = agent(Kind::other);
    if (!s || !r) return;
    Random random(wish.seed);
    const Word nowhere[] = {free_area, kip_area, machine::kernel_area, 0xF0100000, 0xFFFFFFF0};
    for (Word round = 0; round < wish.calls / 4; round++) {
        clear();
        message.send_xfer = message.receive_xfer = L4_Timeouts(L4_ZeroTime, L4_ZeroTime);
        for (Word i = 1; i < 64; i++) {
            const Word length = random.below(3) ? random.below(2000) << 10 | (random.next() & 0x3F7) : random.next();
            message.msg.raw[i] = random.below(2)   ? length
                                 : random.below(4) ? source(random.below(half))
                                                   : random.next();
        }
        for (Word i = 0; i < 32;) {
            const Word pointers = 1 + random.below(5);
            message.buffers.raw[i++] =
                random.below(2000) << 10 | random.below(2) << 9 | (pointers - 1) << 4 | random.below(8);
            for (Word p = 0; p < pointers && i < 32; p++)
                message.buffers.raw[i++] =
                    random.below(6) ? target(random.below(half - 2000)) : nowhere[random.below(5)];
        }
        message.msg.raw[0] = random.next() & 0xFFFF0FFF;
        transfer(s, r);
        CHECK(s->out.done && r->out.done);
        CHECK(!((message.sent ^ message.got) & 0x8000)); // both sides agree
    }
}

/// The last buffer register is BR32: a buffer that would go on behind it ends there.
void buffers_end_with_registers()
{
    Agent *s = agent(Kind::other), *r = agent(Kind::other);
    if (!s || !r) return;
    clear(), fill();
    send(source(), 32);
    message.buffers.raw[0] = length(1, 0x1F0); // 32 substrings, of which 31 have a register
    for (Word i = 0; i < 31; i++) {
        message.buffers.raw[1 + i] = target(2 * i);
        expect(2 * i, i, 1);
    }
    transfer(s, r);
    CHECK(strings::failed(overflow, overflow, 31));
    CHECK(target_as_expected());
    // As one buffer of 31 it is what the manual gives as an example.
    clear(), fill();
    send(source(), 31);
    message.buffers.raw[0] = length(1, 0x1E0);
    for (Word i = 0; i < 31; i++) {
        message.buffers.raw[1 + i] = target(2 * i);
        expect(2 * i, i, 1);
    }
    transfer(s, r);
    CHECK(arrived());
    CHECK(target_as_expected());
}

/// Typed and untyped words together are more than there are registers.
void more_words_than_registers()
{
    Agent *s = agent(Kind::other), *r = agent(Kind::other);
    if (!s || !r) return;
    clear(), fill();
    message.msg.raw[0] = 0x00010000 | 4u << 6 | 60;
    message.msg.raw[61] = length(4), message.msg.raw[62] = source();
    accept(target(), 100);
    transfer(s, r);
    CHECK(strings::failed(overflow, overflow, 0));
    CHECK(target_as_expected());
    // One word less, and it fits to the last register.
    clear(), fill();
    message.msg.raw[0] = 0x00010000 | 2u << 6 | 61;
    message.msg.raw[62] = length(4), message.msg.raw[63] = source();
    accept(target(), 100);
    expect(0, 0, 4);
    transfer(s, r);
    CHECK(arrived());
    CHECK(target_as_expected());
}

/// Many small strings in one message: 16 buffers are all there can be.
void sixteen_strings()
{
    Agent *s = agent(Kind::other), *r = agent(Kind::other);
    if (!s || !r) return;
    clear(), fill();
    for (Word i = 0; i < 16; i++) {
        send(source(i * 100), i);
        accept(target(i * 50), i);
        expect(i * 50, i * 100, i);
    }
    transfer(s, r);
    CHECK(arrived());
    CHECK(target_as_expected());
}

/// A thread can send to where it reads from; it may not care what arrives, but nothing else is touched.
void overlapping()
{
    Agent *s = agent(Kind::here), *r = agent(Kind::here);
    if (!s || !r) return;
    clear(), fill();
    send(target(100), 10000);
    accept(target(5000), 10000);
    transfer(s, r);
    CHECK(arrived());
    for (Word i = 0; i < 5000; i++) CHECK_EQUAL(arena[half + i], expected[i]);
    for (Word i = 15000; i < half; i++) CHECK_EQUAL(arena[half + i], expected[i]);
}

/// The interface page can be read like any other; writing to it is a fault for ever.
void kernel_pages()
{
    Agent *s = agent(Kind::other), *r = agent(Kind::other);
    if (!s || !r) return;
    clear(), fill();
    send(kip_area, 0x100);
    accept(target(), 0x100);
    transfer(s, r);
    CHECK(arrived());
    CHECK_EQUAL(*reinterpret_cast<Word *>(target()), 0x4BE6344C);
    clear(), fill();
    send(source(), 0x100);
    accept(kip_area + 0x10, 0x100);
    message.receive_xfer = L4_Timeouts(L4_Never, L4_ZeroTime);
    transfer(s, r);
    CHECK(strings::failed(partners, mine, 0));
}

/// A propagated message brings its strings along.
void propagated()
{
    Agent *s = agent(Kind::other), *r = agent(Kind::other), *v = s ? agent_beside(s) : nullptr;
    if (!r || !v) return;
    clear(), fill();
    send(source(), 9000);
    accept(target(), half);
    expect(0, 0, 9000);
    message.msg.raw[0] |= 0x1000;
    begin(r, do_receive, v->id.raw, second.raw);
    begin(s, [](Word to, Word as, Word) {
        L4_Set_VirtualSender(L4_ThreadId_t{.raw = as});
        return do_send(to, second.raw, 0);
    }, r->id.raw, v->id.raw);
    wait(s, r);
    CHECK_EQUAL(message.got, message.msg.raw[0]);
    CHECK_EQUAL(message.from, v->id.raw);
    CHECK_EQUAL(message.actual_sender, s->id.raw);
    CHECK(target_as_expected());
}

/// A sender that came first and waits, with the same result.
void sender_first()
{
    Agent *s = agent(Kind::other), *r = agent(Kind::other);
    if (!s || !r) return;
    clear(), fill();
    send(source(5), 12345);
    accept(target(1), half - 1);
    expect(1, 5, 12345);
    begin(s, do_send, r->id.raw, second.raw);
    pause(3000);
    begin(r, do_receive, L4_anythread.raw, second.raw);
    wait(s, r);
    CHECK(arrived());
    CHECK_EQUAL(message.from, s->id.raw);
    CHECK(target_as_expected());
}

/// Question and answer are strings; the answer goes to where the question came from, bytes turned around.
Word do_turn(Word partner, Word at, Word)
{
    L4_MsgBuffer_t buffers;
    L4_MsgBufferClear(&buffers);
    L4_MsgBufferAppendSimpleRcvString(&buffers, L4_StringItem(5000, bytes_at(at)));
    L4_AcceptStrings(L4_StringItemsAcceptor, &buffers);
    const L4_ThreadId_t to{.raw = partner};
    if (L4_IpcFailed(L4_Receive_Timeout(to, second))) return L4_ErrorCode();
    auto *p = reinterpret_cast<unsigned char *>(at);
    for (Word i = 0; i < 5000; i++) p[i] = static_cast<unsigned char>(~p[i]);
    L4_Msg_t answer;
    L4_MsgClear(&answer);
    L4_MsgAppendSimpleStringItem(&answer, L4_StringItem(5000, p));
    L4_MsgLoad(&answer);
    L4_LoadMR(0, answer.raw[0]);
    const L4_MsgTag_t tag = L4_Send_Timeout(to, second);
    L4_Accept(L4_UntypedWordsAcceptor);
    return tag.raw;
}
Word do_question(Word partner, Word from, Word to)
{
    L4_MsgBuffer_t buffers;
    L4_MsgBufferClear(&buffers);
    L4_MsgBufferAppendSimpleRcvString(&buffers, L4_StringItem(5000, bytes_at(to)));
    L4_AcceptStrings(L4_StringItemsAcceptor, &buffers);
    L4_Msg_t question;
    L4_MsgClear(&question);
    L4_MsgAppendSimpleStringItem(&question, L4_StringItem(5000, bytes_at(from)));
    L4_MsgLoad(&question);
    L4_LoadMR(0, question.raw[0]);
    const L4_MsgTag_t tag = L4_Call_Timeouts(L4_ThreadId_t{.raw = partner}, second, second);
    L4_Accept(L4_UntypedWordsAcceptor);
    return tag.raw;
}
void call_and_answer()
{
    Agent *client = agent(Kind::other), *server = agent(Kind::other);
    if (!client || !server) return;
    for (Word round = 0; round < 4; round++) {
        fill();
        begin(server, do_turn, client->id.raw, target(10000));
        begin(client, do_question, server->id.raw, source(round), target(3));
        CHECK_EQUAL(finish(client).value, 2u << 6);
        CHECK_EQUAL(finish(server).value, 0);
        expect(10000, round, 5000);
        for (Word i = 0; i < 5000; i++) expected[10000 + i] = static_cast<unsigned char>(~expected[10000 + i]);
        __builtin_memcpy(expected + 3, expected + 10000, 5000);
        CHECK(target_as_expected());
    }
}

} // namespace

const Test string_tests[] = {
    {"string.buffer_too_short", buffer_too_short},
    {"string.too_few_buffers", too_few_buffers},
    {"string.strings_not_accepted", strings_not_accepted},
    {"string.empty_buffer", empty_buffer},
    {"string.bad_sources", bad_sources},
    {"string.bad_buffers", bad_buffers},
    {"string.buffers_end_with_registers", buffers_end_with_registers},
    {"string.more_words_than_registers", more_words_than_registers},
    {"string.kernel_pages", kernel_pages},
    {"string.simple_here", simple_here},
    {"string.simple_large_large", simple_large_large},
    {"string.simple_small_small", simple_small_small},
    {"string.simple_large_small", simple_large_small},
    {"string.simple_small_large", simple_small_large},
    {"string.simple_from_here", simple_from_here},
    {"string.simple_to_here", simple_to_here},
    {"string.simple_mates", simple_mates},
    {"string.words_of_items", words_of_items},
    {"string.caching_hints", caching_hints},
    {"string.buffers_in_order", buffers_in_order},
    {"string.random_here", random_here},
    {"string.random_large_large", random_large_large},
    {"string.random_small_small", random_small_small},
    {"string.random_large_small", random_large_small},
    {"string.random_small_large", random_small_large},
    {"string.random_garbage", random_garbage},
    {"string.sixteen_strings", sixteen_strings},
    {"string.overlapping", overlapping},
    {"string.propagated", propagated},
    {"string.sender_first", sender_first},
    {"string.call_and_answer", call_and_answer},
    {nullptr, nullptr},
};

} // namespace x2test
