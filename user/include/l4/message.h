// SPDX-License-Identifier: BSD-2-Clause
// Messages: tag, typed items, the Msg object, message registers (manual 5.1 to 5.4). Strings: l4/string.h.
#ifndef L4_MESSAGE_H
#define L4_MESSAGE_H
#include <l4/arch.h>

typedef union {
    L4_Word_t raw;
    struct {
        L4_Word_t u : 6;     ///< untyped words
        L4_Word_t t : 6;     ///< words of typed items
        L4_Word_t flags : 4; ///< p 1, r 2, X 4, E 8
        L4_Word_t label : 16;
    } X;
} L4_MsgTag_t;

typedef union {
    L4_Word_t raw[2];
    struct {
        L4_Word_t C : 1;
        L4_Word_t __type : 3; ///< 4
        L4_Word_t __zeros : 6;
        L4_Word_t snd_base : 22;
        L4_Fpage_t snd_fpage;
    } X;
} L4_MapItem_t;

typedef union {
    L4_Word_t raw[2];
    struct {
        L4_Word_t C : 1;
        L4_Word_t __type : 3; ///< 5
        L4_Word_t __zeros : 6;
        L4_Word_t snd_base : 22;
        L4_Fpage_t snd_fpage;
    } X;
} L4_GrantItem_t;

/// Room for a whole message: tag, then untyped words, then typed items.
typedef union {
    L4_Word_t raw[64];
    L4_Word_t msg[64];
    L4_MsgTag_t tag;
} L4_Msg_t;

#define L4_Niltag L4_RAW_(L4_MsgTag_t, 0u)

// ------------------------------------------------------------------------------------- message registers (5.1)
// MRs are read-once: a receive overwrites them, and system calls other than Ipc may overwrite MR0.
/// Copies MR i to *w, w to MR i; the plural forms k registers from MR i on.
L4_INLINE void L4_StoreMR(int i, L4_Word_t *w) { *w = __L4_Utcb()[i]; }
L4_INLINE void L4_LoadMR(int i, L4_Word_t w) { __L4_Utcb()[i] = w; }
L4_INLINE void L4_StoreMRs(int i, int k, L4_Word_t *w)
{
    volatile L4_Word_t *utcb = __L4_Utcb();
    for (int n = 0; n < k; n++) w[n] = utcb[i + n];
}
L4_INLINE void L4_LoadMRs(int i, int k, const L4_Word_t *w)
{
    volatile L4_Word_t *utcb = __L4_Utcb();
    for (int n = 0; n < k; n++) utcb[i + n] = w[n];
}

// --------------------------------------------------------------------------------------------- message tag (5.1)
/// The fields of a tag: label (16 bits), untyped words, words of typed items.
L4_INLINE L4_Word_t L4_Label(L4_MsgTag_t t) { return t.raw >> 16; }
L4_INLINE L4_Word_t L4_UntypedWords(L4_MsgTag_t t) { return t.raw & 0x3Fu; }
L4_INLINE L4_Word_t L4_TypedWords(L4_MsgTag_t t) { return (t.raw >> 6) & 0x3Fu; }
/// Replaces the label; the ...To form returns the new tag, too.
L4_INLINE void L4_Set_Label(L4_MsgTag_t *t, L4_Word_t label) { t->raw = (t->raw & 0xFFFFu) | (label << 16); }
L4_INLINE L4_MsgTag_t L4_MsgTagAddLabel(L4_MsgTag_t t, L4_Word_t label)
{
    L4_Set_Label(&t, label);
    return t;
}
L4_INLINE L4_MsgTag_t L4_MsgTagAddLabelTo(L4_MsgTag_t *t, L4_Word_t label) { return *t = L4_MsgTagAddLabel(*t, label); }
/// Compare all fields.
L4_INLINE L4_Bool_t L4_IsMsgTagEqual(L4_MsgTag_t a, L4_MsgTag_t b) { return a.raw == b.raw; }
L4_INLINE L4_Bool_t L4_IsMsgTagNotEqual(L4_MsgTag_t a, L4_MsgTag_t b) { return a.raw != b.raw; }
/// Reads and writes MR0.
L4_INLINE L4_MsgTag_t L4_MsgTag(void) { return L4_RAW_(L4_MsgTag_t, __L4_Utcb()[0]); }
L4_INLINE void L4_Set_MsgTag(L4_MsgTag_t t) { __L4_Utcb()[0] = t.raw; }

// ------------------------------------------------------------------------------------ map and grant items (5.2, 5.3)
/// Item that maps f (with its rights); `base` says which part, or where in the receive window (5.2).
L4_INLINE L4_MapItem_t L4_MapItem(L4_Fpage_t f, L4_Word_t base)
{
    L4_MapItem_t item;
    item.raw[0] = (base & ~0x3FFu) | 0x8u;
    item.raw[1] = f.raw;
    return item;
}
/// Item that gives f away.
L4_INLINE L4_GrantItem_t L4_GrantItem(L4_Fpage_t f, L4_Word_t base)
{
    L4_GrantItem_t item;
    item.raw[0] = (base & ~0x3FFu) | 0xAu;
    item.raw[1] = f.raw;
    return item;
}
/// Whether the item's type bits are right; its fpage; its send base.
L4_INLINE L4_Bool_t L4_IsMapItem(L4_MapItem_t m) { return (m.raw[0] & 0xEu) == 0x8u; }
L4_INLINE L4_Bool_t L4_IsGrantItem(L4_GrantItem_t g) { return (g.raw[0] & 0xEu) == 0xAu; }
L4_INLINE L4_Fpage_t L4_MapItemSndFpage(L4_MapItem_t m) { return m.X.snd_fpage; }
L4_INLINE L4_Word_t L4_MapItemSndBase(L4_MapItem_t m) { return m.raw[0] & ~0x3FFu; }
L4_INLINE L4_Fpage_t L4_GrantItemSndFpage(L4_GrantItem_t g) { return g.X.snd_fpage; }
L4_INLINE L4_Word_t L4_GrantItemSndBase(L4_GrantItem_t g) { return g.raw[0] & ~0x3FFu; }

// --------------------------------------------------------------------------------------------- Msg objects (5.1)
/// Fills msg with a label, u untyped words and t words of typed items.
L4_INLINE void L4_MsgPut(L4_Msg_t *msg, L4_Word_t label, int u, const L4_Word_t *untyped, int t, const void *items)
{
    const L4_Word_t *typed = (const L4_Word_t *)items;
    for (int i = 0; i < u; i++) msg->raw[1 + i] = untyped[i];
    for (int i = 0; i < t; i++) msg->raw[1 + u + i] = typed[i];
    msg->raw[0] = (label << 16) | ((L4_Word_t)t << 6) | (L4_Word_t)u;
}
/// Takes msg apart; the receiving arrays must be large enough.
L4_INLINE void L4_MsgGet(const L4_Msg_t *msg, L4_Word_t *untyped, void *items)
{
    L4_Word_t u = L4_UntypedWords(msg->tag), t = L4_TypedWords(msg->tag);
    L4_Word_t *typed = (L4_Word_t *)items;
    for (L4_Word_t i = 0; i < u; i++) untyped[i] = msg->raw[1 + i];
    for (L4_Word_t i = 0; i < t; i++) typed[i] = msg->raw[1 + u + i];
}
/// Tag and label of msg.
L4_INLINE L4_MsgTag_t L4_MsgMsgTag(const L4_Msg_t *msg) { return msg->tag; }
L4_INLINE void L4_Set_MsgMsgTag(L4_Msg_t *msg, L4_MsgTag_t t) { msg->tag = t; }
L4_INLINE L4_Word_t L4_MsgLabel(const L4_Msg_t *msg) { return L4_Label(msg->tag); }
L4_INLINE void L4_Set_MsgLabel(L4_Msg_t *msg, L4_Word_t label) { L4_Set_Label(&msg->tag, label); }
/// Words of a message including its tag, at most 64 whatever the tag says.
L4_INLINE int __L4_MsgWords(L4_MsgTag_t t)
{
    L4_Word_t n = 1 + L4_UntypedWords(t) + L4_TypedWords(t);
    return n > 64 ? 64 : (int)n;
}
/// Copies msg to MR0..MR(u+t).
L4_INLINE void L4_MsgLoad(const L4_Msg_t *msg) { L4_LoadMRs(0, __L4_MsgWords(msg->tag), msg->raw); }
/// Copies tag and MR1..MR(u+t) to msg.
L4_INLINE void L4_MsgStore(L4_MsgTag_t t, L4_Msg_t *msg)
{
    msg->tag = t;
    L4_StoreMRs(1, __L4_MsgWords(t) - 1, msg->raw + 1);
}
/// Empties msg: its tag is zero afterwards.
L4_INLINE void L4_MsgClear(L4_Msg_t *msg) { msg->raw[0] = 0; }

/// Appends an untyped word; typed items that are already there move up by one.
L4_INLINE void L4_MsgAppendWord(L4_Msg_t *msg, L4_Word_t w)
{
    L4_Word_t u = msg->tag.X.u, t = msg->tag.X.t;
    for (L4_Word_t i = u + t; i > u; i--) msg->raw[i + 1] = msg->raw[i];
    msg->raw[u + 1] = w;
    msg->tag.X.u = (u + 1) & 0x3Fu;
}
/// Appends n words of a typed item.
L4_INLINE void __L4_MsgAppendTyped(L4_Msg_t *msg, const L4_Word_t *words, L4_Word_t n)
{
    L4_Word_t at = 1 + msg->tag.X.u + msg->tag.X.t;
    for (L4_Word_t i = 0; i < n; i++) msg->raw[at + i] = words[i];
    msg->tag.X.t = (msg->tag.X.t + n) & 0x3Fu;
}
L4_INLINE void L4_MsgAppendMapItem(L4_Msg_t *msg, L4_MapItem_t m) { __L4_MsgAppendTyped(msg, m.raw, 2); }
L4_INLINE void L4_MsgAppendGrantItem(L4_Msg_t *msg, L4_GrantItem_t g) { __L4_MsgAppendTyped(msg, g.raw, 2); }

/// Positions count from 0, among the untyped words or among the typed words.
L4_INLINE void L4_MsgPutWord(L4_Msg_t *msg, L4_Word_t u, L4_Word_t w) { msg->raw[1 + u] = w; }
L4_INLINE L4_Word_t *__L4_MsgTyped(L4_Msg_t *msg, L4_Word_t t) { return msg->raw + 1 + msg->tag.X.u + t; }
L4_INLINE void L4_MsgPutMapItem(L4_Msg_t *msg, L4_Word_t t, L4_MapItem_t m)
{
    __L4_MsgTyped(msg, t)[0] = m.raw[0];
    __L4_MsgTyped(msg, t)[1] = m.raw[1];
}
L4_INLINE void L4_MsgPutGrantItem(L4_Msg_t *msg, L4_Word_t t, L4_GrantItem_t g)
{
    __L4_MsgTyped(msg, t)[0] = g.raw[0];
    __L4_MsgTyped(msg, t)[1] = g.raw[1];
}
/// Untyped word u of msg, from 0.
L4_INLINE L4_Word_t L4_MsgWord(const L4_Msg_t *msg, L4_Word_t u) { return msg->raw[1 + u]; }
L4_INLINE void L4_MsgGetWord(const L4_Msg_t *msg, L4_Word_t u, L4_Word_t *w) { *w = msg->raw[1 + u]; }
/// Deliver the typed item at typed word t; return its size in words.
L4_INLINE L4_Word_t L4_MsgGetMapItem(L4_Msg_t *msg, L4_Word_t t, L4_MapItem_t *m)
{
    m->raw[0] = __L4_MsgTyped(msg, t)[0];
    m->raw[1] = __L4_MsgTyped(msg, t)[1];
    return 2;
}
L4_INLINE L4_Word_t L4_MsgGetGrantItem(L4_Msg_t *msg, L4_Word_t t, L4_GrantItem_t *g)
{
    g->raw[0] = __L4_MsgTyped(msg, t)[0];
    g->raw[1] = __L4_MsgTyped(msg, t)[1];
    return 2;
}

#ifdef __cplusplus
L4_INLINE bool operator==(L4_MsgTag_t a, L4_MsgTag_t b) { return a.raw == b.raw; }
L4_INLINE bool operator!=(L4_MsgTag_t a, L4_MsgTag_t b) { return a.raw != b.raw; }
L4_INLINE L4_MsgTag_t operator+(L4_MsgTag_t t, L4_Word_t label) { return L4_MsgTagAddLabel(t, label); }
L4_INLINE L4_MsgTag_t operator+=(L4_MsgTag_t &t, L4_Word_t label) { return t = t + label; }
L4_INLINE L4_Bool_t L4_MapItem(L4_MapItem_t m) { return L4_IsMapItem(m); }
L4_INLINE L4_Bool_t L4_GrantItem(L4_GrantItem_t g) { return L4_IsGrantItem(g); }
L4_INLINE L4_Fpage_t L4_SndFpage(L4_MapItem_t m) { return L4_MapItemSndFpage(m); }
L4_INLINE L4_Word_t L4_SndBase(L4_MapItem_t m) { return L4_MapItemSndBase(m); }
L4_INLINE L4_Fpage_t L4_SndFpage(L4_GrantItem_t g) { return L4_GrantItemSndFpage(g); }
L4_INLINE L4_Word_t L4_SndBase(L4_GrantItem_t g) { return L4_GrantItemSndBase(g); }
L4_INLINE void L4_Put(L4_Msg_t *msg, L4_Word_t label, int u, const L4_Word_t *untyped, int t, const void *items)
{
    L4_MsgPut(msg, label, u, untyped, t, items);
}
L4_INLINE void L4_Get(const L4_Msg_t *msg, L4_Word_t *untyped, void *items) { L4_MsgGet(msg, untyped, items); }
L4_INLINE L4_MsgTag_t L4_MsgTag(const L4_Msg_t *msg) { return msg->tag; }
L4_INLINE void L4_Set_MsgTag(L4_Msg_t *msg, L4_MsgTag_t t) { msg->tag = t; }
L4_INLINE L4_Word_t L4_Label(const L4_Msg_t *msg) { return L4_MsgLabel(msg); }
L4_INLINE void L4_Set_Label(L4_Msg_t *msg, L4_Word_t label) { L4_Set_MsgLabel(msg, label); }
L4_INLINE void L4_Load(const L4_Msg_t *msg) { L4_MsgLoad(msg); }
L4_INLINE void L4_Store(L4_MsgTag_t t, L4_Msg_t *msg) { L4_MsgStore(t, msg); }
L4_INLINE void L4_Clear(L4_Msg_t *msg) { L4_MsgClear(msg); }
L4_INLINE void L4_Append(L4_Msg_t *msg, L4_Word_t w) { L4_MsgAppendWord(msg, w); }
L4_INLINE void L4_Append(L4_Msg_t *msg, int w) { L4_MsgAppendWord(msg, (L4_Word_t)w); }
L4_INLINE void L4_Append(L4_Msg_t *msg, L4_MapItem_t m) { L4_MsgAppendMapItem(msg, m); }
L4_INLINE void L4_Append(L4_Msg_t *msg, L4_GrantItem_t g) { L4_MsgAppendGrantItem(msg, g); }
L4_INLINE void L4_Put(L4_Msg_t *msg, L4_Word_t u, L4_Word_t w) { L4_MsgPutWord(msg, u, w); }
L4_INLINE void L4_Put(L4_Msg_t *msg, L4_Word_t t, L4_MapItem_t m) { L4_MsgPutMapItem(msg, t, m); }
L4_INLINE void L4_Put(L4_Msg_t *msg, L4_Word_t t, L4_GrantItem_t g) { L4_MsgPutGrantItem(msg, t, g); }
L4_INLINE L4_Word_t L4_Get(const L4_Msg_t *msg, L4_Word_t u) { return L4_MsgWord(msg, u); }
L4_INLINE void L4_Get(const L4_Msg_t *msg, L4_Word_t u, L4_Word_t *w) { L4_MsgGetWord(msg, u, w); }
L4_INLINE L4_Word_t L4_Get(L4_Msg_t *msg, L4_Word_t t, L4_MapItem_t *m) { return L4_MsgGetMapItem(msg, t, m); }
L4_INLINE L4_Word_t L4_Get(L4_Msg_t *msg, L4_Word_t t, L4_GrantItem_t *g) { return L4_MsgGetGrantItem(msg, t, g); }

// The manual's references.
L4_INLINE void L4_StoreMR(int i, L4_Word_t &w) { L4_StoreMR(i, &w); }
L4_INLINE void L4_Set_Label(L4_MsgTag_t &t, L4_Word_t label) { L4_Set_Label(&t, label); }
L4_INLINE void L4_Put(L4_Msg_t &msg, L4_Word_t label, int u, const L4_Word_t *untyped, int t, const void *items)
{
    L4_MsgPut(&msg, label, u, untyped, t, items);
}
L4_INLINE void L4_Get(const L4_Msg_t &msg, L4_Word_t *untyped, void *items) { L4_MsgGet(&msg, untyped, items); }
L4_INLINE L4_MsgTag_t L4_MsgTag(const L4_Msg_t &msg) { return msg.tag; }
L4_INLINE void L4_Set_MsgTag(L4_Msg_t &msg, L4_MsgTag_t t) { msg.tag = t; }
L4_INLINE L4_Word_t L4_Label(const L4_Msg_t &msg) { return L4_MsgLabel(&msg); }
L4_INLINE void L4_Set_Label(L4_Msg_t &msg, L4_Word_t label) { L4_Set_MsgLabel(&msg, label); }
L4_INLINE void L4_Load(const L4_Msg_t &msg) { L4_MsgLoad(&msg); }
L4_INLINE void L4_Store(L4_MsgTag_t t, L4_Msg_t &msg) { L4_MsgStore(t, &msg); }
L4_INLINE void L4_Clear(L4_Msg_t &msg) { L4_MsgClear(&msg); }
L4_INLINE void L4_Append(L4_Msg_t &msg, L4_Word_t w) { L4_MsgAppendWord(&msg, w); }
L4_INLINE void L4_Append(L4_Msg_t &msg, int w) { L4_MsgAppendWord(&msg, (L4_Word_t)w); }
L4_INLINE void L4_Append(L4_Msg_t &msg, L4_MapItem_t m) { L4_MsgAppendMapItem(&msg, m); }
L4_INLINE void L4_Append(L4_Msg_t &msg, L4_GrantItem_t g) { L4_MsgAppendGrantItem(&msg, g); }
L4_INLINE void L4_Put(L4_Msg_t &msg, L4_Word_t u, L4_Word_t w) { L4_MsgPutWord(&msg, u, w); }
L4_INLINE void L4_Put(L4_Msg_t &msg, L4_Word_t t, L4_MapItem_t m) { L4_MsgPutMapItem(&msg, t, m); }
L4_INLINE void L4_Put(L4_Msg_t &msg, L4_Word_t t, L4_GrantItem_t g) { L4_MsgPutGrantItem(&msg, t, g); }
L4_INLINE L4_Word_t L4_Get(const L4_Msg_t &msg, L4_Word_t u) { return L4_MsgWord(&msg, u); }
L4_INLINE void L4_Get(const L4_Msg_t &msg, L4_Word_t u, L4_Word_t &w) { L4_MsgGetWord(&msg, u, &w); }
L4_INLINE L4_Word_t L4_Get(L4_Msg_t &msg, L4_Word_t t, L4_MapItem_t &m) { return L4_MsgGetMapItem(&msg, t, &m); }
L4_INLINE L4_Word_t L4_Get(L4_Msg_t &msg, L4_Word_t t, L4_GrantItem_t &g) { return L4_MsgGetGrantItem(&msg, t, &g); }
#endif

#include <l4/string.h>
#endif
