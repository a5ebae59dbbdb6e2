// SPDX-License-Identifier: BSD-2-Clause
// Messages, items, acceptors, buffers, and the virtual registers that they are loaded to (manual 5.1 to 5.5, A.1).
#include "check.h"
#include "fake_kernel.h"

namespace {

const L4_Fpage_t page = L4_FpageLog2(0x400000, 12) + L4_FullyAccessible;

void items() // 5.2, 5.3
{
    const L4_MapItem_t m = L4_MapItem(page, 0x12345678);
    EXPECT(m.raw[0], 0x12345400u | 8);
    EXPECT(m.raw[1], page.raw);
    EXPECT(L4_IsMapItem(m) && L4_MapItem(m), 1);
    EXPECT(L4_SndBase(m), 0x12345400);
    EXPECT(L4_SndFpage(m).raw, page.raw);
    const L4_GrantItem_t g = L4_GrantItem(page, 0x400);
    EXPECT(g.raw[0], 0x40A);
    EXPECT(L4_IsGrantItem(g) && L4_GrantItem(g) && L4_SndBase(g) == 0x400 && L4_SndFpage(g).raw == page.raw, 1);
    EXPECT(L4_IsMapItem({.raw = {0xA, 0}}), 0);
    EXPECT(L4_IsGrantItem({.raw = {0x8, 0}}), 0);
    EXPECT(L4_IsMapItem({.raw = {0x9, 0}}), 1); // C does not count
}

union Room { // for compound strings
    L4_StringItem_t item;
    L4_Word_t words[16];
};

void strings() // 5.4, A.6
{
    char *const at = reinterpret_cast<char *>(0x1000);
    Room r = {.item = L4_StringItem(300, at)};
    EXPECT(r.words[0], 300 << 10);
    EXPECT(r.words[1], 0x1000);
    EXPECT(L4_IsStringItem(&r.item) && L4_StringItem(r.item), 1);
    EXPECT(L4_CompoundString(&r.item), 0);
    EXPECT(L4_Substrings(&r.item), 1);
    L4_AddSubstringAddressTo(&r.item, at + 0x1000); // two pieces, one length
    EXPECT(r.words[0], 300 << 10 | 1 << 4);
    EXPECT(L4_Substrings(r.item), 2);
    EXPECT(L4_CompoundString(r.item), 0);
    r.item += L4_StringItem(7, at + 0x2000); // a length of its own
    EXPECT(L4_CompoundString(r.item) != 0, 1);
    EXPECT(L4_Substrings(r.item), 3);
    const L4_Word_t expected[] = {300 << 10 | 1 << 9 | 1 << 4, 0x1000, 0x2000, 7 << 10, 0x3000};
    for (int i = 0; i < 5; i++) EXPECT(r.words[i], expected[i]);
    for (L4_Word_t i = 0; i < 3; i++) EXPECT(reinterpret_cast<L4_Word_t>(L4_Substring(&r.item, i)), 0x1000 * (i + 1));
    EXPECT(L4_Substring(r.item, 3) == nullptr, 1);
    EXPECT((L4_StringItem(1, at) + L4_AllocateOnlyNewL1CacheLines).raw[0], 1 << 10 | 3 << 1);
    r.item += L4_DoNotAllocateNewCacheLines;
    EXPECT(L4_CacheAllocationHint(r.item).raw, 2);
    EXPECT(L4_CacheAllocationHint(r.item) == L4_DoNotAllocateNewCacheLines, 1);
    EXPECT(L4_CacheAllocationHint(r.item) != L4_UseDefaultCacheLineAllocation, 1);
    EXPECT(L4_AddCacheAllocationHintTo(&r.item, L4_AllocateNewCacheLines).raw[0], expected[0] | 1 << 1);
}

void messages() // 5.1: the manual's last example
{
    L4_Msg_t msg;
    L4_MsgClear(&msg);
    EXPECT(msg.raw[0], 0);
    L4_Append(&msg, 11u);
    L4_Append(msg, L4_MapItem(page, 0));
    L4_MsgAppendWord(&msg, 12); // moves the item up
    L4_Append(msg, L4_GrantItem(page, 0x800));
    L4_Append(msg, L4_StringItem(5, &msg));
    L4_MsgAppendWord(&msg, 13);
    L4_Set_MsgLabel(&msg, 0xBEEF);
    const L4_Word_t expected[] = {0xBEEF0000u | 6 << 6 | 3,         11, 12, 13, 8, page.raw, 0x80A, page.raw, 5 << 10,
                                  reinterpret_cast<L4_Word_t>(&msg)};
    for (int i = 0; i < 10; i++) EXPECT(msg.raw[i], expected[i]);
    EXPECT(L4_MsgLabel(&msg), 0xBEEF);
    EXPECT(L4_Label(msg), 0xBEEF);
    EXPECT(L4_MsgWord(&msg, 1), 12);
    L4_Word_t word = 0;
    L4_Get(msg, 2, word);
    EXPECT(word, 13);
    L4_MapItem_t m;
    L4_GrantItem_t g;
    Room s;
    EXPECT(L4_Get(msg, 0, m), 2);
    EXPECT(m.raw[0] == 8 && m.raw[1] == page.raw, 1);
    EXPECT(L4_Get(msg, 2, g), 2);
    EXPECT(g.raw[0], 0x80A);
    EXPECT(L4_Get(msg, 4, s.item), 2);
    EXPECT(s.words[0], 5 << 10);
    L4_Put(msg, 0u, 99u);
    L4_Put(msg, 2, L4_MapItem(page, 0xC00));
    EXPECT(msg.raw[1] == 99 && msg.raw[6] == 0xC08, 1);

    const L4_Word_t untyped[] = {1, 2}, typed[] = {8, page.raw};
    L4_MsgPut(&msg, 3, 2, untyped, 2, typed);
    EXPECT(msg.raw[0], 3u << 16 | 2 << 6 | 2);
    L4_Word_t u[2] = {}, t[2] = {};
    L4_MsgGet(&msg, u, t);
    EXPECT(u[0] == 1 && u[1] == 2 && t[0] == 8 && t[1] == page.raw, 1);

    // a compound string by reference keeps its shape, by value it is simple
    Room compound = {.item = L4_StringItem(4, &s)};
    compound.item += static_cast<void *>(&m);
    L4_MsgClear(&msg);
    L4_Append(&msg, &compound.item);
    EXPECT(msg.raw[0], 3 << 6);
    EXPECT(L4_MsgGetStringItem(&msg, 0, &s.item), 3);
    L4_MsgClear(&msg);
    L4_Append(&msg, compound.item);
    EXPECT(msg.raw[0], 2 << 6);
    EXPECT(msg.raw[1], 4 << 10);
}

void acceptors() // 5.5
{
    const L4_Fpage_t window = L4_FpageLog2(0x800000, 22), other = L4_FpageLog2(0xC00000, 12);
    const L4_Acceptor_t maps = L4_MapGrantItems(window + L4_FullyAccessible);
    EXPECT(maps.raw, window.raw);
    EXPECT(L4_RcvWindow(maps).raw, window.raw);
    EXPECT(L4_HasMapGrantItems(maps) && L4_MapGrantItems(maps) && !L4_HasStringItems(maps), 1);
    const L4_Acceptor_t both = maps + L4_StringItemsAcceptor;
    EXPECT(both.raw, window.raw | 1);
    EXPECT(L4_StringItems(both) != 0, 1);
    EXPECT((both + L4_MapGrantItems(other)).raw, other.raw | 1);
    EXPECT((both + L4_MapGrantItems(L4_Nilpage)).raw, both.raw);
    EXPECT((both - L4_MapGrantItems(other)).raw, 1); // whatever the window's size
    EXPECT((both - L4_StringItemsAcceptor).raw, maps.raw);
    EXPECT(L4_RcvWindow(both - maps).raw, 0);
    L4_Acceptor_t a = L4_UntypedWordsAcceptor;
    EXPECT((a += both).raw, both.raw);
    EXPECT((a -= L4_StringItemsAcceptor).raw, maps.raw);
    EXPECT(L4_RemoveAcceptorFrom(&a, maps).raw, 0);
    EXPECT(L4_AddAcceptorTo(&a, maps).raw, maps.raw);
}

void buffers() // 5.5: the last buffer has C = 0
{
    L4_MsgBuffer_t b;
    L4_Clear(b);
    EXPECT(b.raw[0] == 0 && b.raw[1] == 0, 1);
    L4_Append(b, L4_StringItem(100, &b));
    Room compound = {.item = L4_StringItem(4, &b)};
    compound.item += static_cast<void *>(&compound);
    L4_Append(&b, &compound.item);
    L4_Append(b, L4_StringItem(9, &b));
    EXPECT(b.raw[0], 100 << 10 | 1);
    EXPECT(b.raw[2], 4 << 10 | 1 << 4 | 1);
    EXPECT(b.raw[5], 9 << 10);
}

void registers() // 1.3, A.1
{
    L4_Msg_t msg, back;
    const L4_Word_t untyped[] = {21, 22, 23};
    L4_MsgPut(&msg, 0x77, 3, untyped, 0, nullptr);
    L4_MsgBuffer_t b;
    L4_Clear(b);
    L4_Append(b, L4_StringItem(100, &b));
    L4_Word_t words[3], one, br;
    L4_MsgTag_t tag;
    L4_Acceptor_t accepted;
    {
        fake::WithUtcb utcb;
        L4_MsgLoad(&msg);
        tag = L4_MsgTag();
        L4_StoreMRs(1, 3, words);
        L4_LoadMR(63, 63);
        L4_StoreMR(2, one);
        L4_MsgStore(tag, &back);
        L4_Accept(L4_StringItemsAcceptor, b);
        L4_StoreBR(1, &br);
        L4_LoadBR(32, 32);
        accepted = L4_Accepted();
    }
    EXPECT(tag.raw, 0x770003);
    EXPECT(words[0] == 21 && words[1] == 22 && words[2] == 23 && one == 22, 1);
    for (int i = 0; i < 4; i++) EXPECT(back.raw[i], msg.raw[i]);
    for (int i = 0; i < 4; i++) EXPECT(fake::utcb[i], msg.raw[i]);
    EXPECT(fake::utcb[63], 63);
    EXPECT(accepted.raw, 1);
    EXPECT(fake::utcb[-16], 1); // BR0 at -64, BR n below
    EXPECT(fake::utcb[-17], 100 << 10);
    EXPECT(br, 100 << 10);
    EXPECT(fake::utcb[-16 - 32], 32);
}

} // namespace

void test_messages()
{
    items();
    strings();
    messages();
    acceptors();
    buffers();
    registers();
}
