// SPDX-License-Identifier: BSD-2-Clause
// String items, acceptors and buffer registers (manual 5.4, 5.5, A.6). Included by l4/message.h.
#ifndef L4_STRING_H
#define L4_STRING_H
#include <l4/message.h>

/// A simple string takes two words. A compound string goes on: j pointers, and if c is set a further length word.
/// The object then has to be followed by room for those words.
typedef union {
    L4_Word_t raw[2];
    struct {
        L4_Word_t C : 1;
        L4_Word_t __type : 3;         ///< 0hh: cache allocation hint
        L4_Word_t j : 5;              ///< pointers that follow, minus one
        L4_Word_t c : 1;              ///< another length word follows
        L4_Word_t string_length : 22; ///< bytes of each substring
        union {
            void *string_ptr;
            void *substring_ptr[1];
        } str;
    } X;
} L4_StringItem_t;

#define L4_UseDefaultCacheLineAllocation L4_RAW_(L4_CacheAllocationHint_t, 0u)
#define L4_AllocateNewCacheLines L4_RAW_(L4_CacheAllocationHint_t, 1u)
#define L4_DoNotAllocateNewCacheLines L4_RAW_(L4_CacheAllocationHint_t, 2u)
#define L4_AllocateOnlyNewL1CacheLines L4_RAW_(L4_CacheAllocationHint_t, 3u)

/// Simple string of `size` bytes, at most 4 MB - 1.
L4_INLINE L4_StringItem_t L4_StringItem(int size, void *address)
{
    L4_StringItem_t s;
    s.raw[0] = (L4_Word_t)size << 10;
    s.raw[1] = (L4_Word_t)address;
    return s;
}
/// Whether the item's type bits are those of a string.
L4_INLINE L4_Bool_t L4_IsStringItem(const L4_StringItem_t *s) { return (s->raw[0] & 0x8u) == 0; }

/// The words of the item at w: sum of (1 + j) over its length words.
L4_INLINE L4_Word_t __L4_StringWords(const L4_Word_t *w)
{
    L4_Word_t n = 0, head;
    do {
        head = w[n];
        n += 2 + ((head >> 4) & 0x1Fu);
    } while (head & 0x200u);
    return n;
}
/// The item's c flag: whether a further length word follows. (A string can have several substrings without.)
L4_INLINE L4_Bool_t L4_CompoundString(const L4_StringItem_t *s) { return (s->raw[0] & 0x200u) != 0; }
/// Number of substrings.
L4_INLINE L4_Word_t L4_Substrings(const L4_StringItem_t *s)
{
    const L4_Word_t *w = (const L4_Word_t *)s;
    L4_Word_t count = 0, head;
    do {
        head = *w;
        L4_Word_t pointers = ((head >> 4) & 0x1Fu) + 1;
        count += pointers;
        w += 1 + pointers;
    } while (head & 0x200u);
    return count;
}
/// Address of substring n (from 0), null if there is none.
L4_INLINE void *L4_Substring(const L4_StringItem_t *s, L4_Word_t n)
{
    const L4_Word_t *w = (const L4_Word_t *)s;
    for (;;) {
        L4_Word_t head = *w, pointers = ((head >> 4) & 0x1Fu) + 1;
        if (n < pointers) return (void *)w[1 + n];
        if (!(head & 0x200u)) return 0;
        n -= pointers;
        w += 1 + pointers;
    }
}
/// The last length word of the item.
L4_INLINE L4_Word_t *__L4_LastDescriptor(L4_StringItem_t *s)
{
    L4_Word_t *w = (L4_Word_t *)s;
    while (*w & 0x200u) w += 2 + ((*w >> 4) & 0x1Fu);
    return w;
}
/// Adds the simple string `sub` as a further substring of its own length; dest needs two more words.
L4_INLINE L4_StringItem_t *L4_AddSubstringTo(L4_StringItem_t *dest, L4_StringItem_t sub)
{
    L4_Word_t *last = __L4_LastDescriptor(dest);
    L4_Word_t *next = last + 2 + ((*last >> 4) & 0x1Fu);
    *last |= 0x200u;
    next[0] = sub.raw[0] & ~0x3FFu;
    next[1] = sub.raw[1];
    return dest;
}
/// Adds a substring at `address` of the same length as the last one; dest needs one more word.
L4_INLINE L4_StringItem_t *L4_AddSubstringAddressTo(L4_StringItem_t *dest, void *address)
{
    L4_Word_t *last = __L4_LastDescriptor(dest);
    last[2 + ((*last >> 4) & 0x1Fu)] = (L4_Word_t)address;
    *last += 0x10u;
    return dest;
}
/// Compare two hints; read the hint of an item; the item with another hint.
L4_INLINE L4_Bool_t L4_IsCacheAllocationHintEqual(L4_CacheAllocationHint_t a, L4_CacheAllocationHint_t b)
{
    return a.raw == b.raw;
}
L4_INLINE L4_Bool_t L4_IsCacheAllocationHintNotEqual(L4_CacheAllocationHint_t a, L4_CacheAllocationHint_t b)
{
    return a.raw != b.raw;
}
L4_INLINE L4_CacheAllocationHint_t L4_CacheAllocationHint(L4_StringItem_t s)
{
    return L4_RAW_(L4_CacheAllocationHint_t, (s.raw[0] >> 1) & 3u);
}
L4_INLINE L4_StringItem_t L4_AddCacheAllocationHint(L4_StringItem_t s, L4_CacheAllocationHint_t h)
{
    s.raw[0] = (s.raw[0] & ~6u) | ((h.raw & 3u) << 1);
    return s;
}
/// Replaces the hint of *s. The result is the item's first two words.
L4_INLINE L4_StringItem_t L4_AddCacheAllocationHintTo(L4_StringItem_t *s, L4_CacheAllocationHint_t h)
{
    return *s = L4_AddCacheAllocationHint(*s, h);
}

/// Append an item, put one at typed word t (from 0), or take one out of there and return its size in words.
/// The simple forms treat s as one pointer and length whatever it says; the others take compound strings.
L4_INLINE void L4_MsgAppendSimpleStringItem(L4_Msg_t *msg, L4_StringItem_t s)
{
    s.raw[0] &= ~0x3F0u;
    __L4_MsgAppendTyped(msg, s.raw, 2);
}
L4_INLINE void L4_MsgAppendStringItem(L4_Msg_t *msg, L4_StringItem_t *s)
{
    __L4_MsgAppendTyped(msg, (const L4_Word_t *)s, __L4_StringWords((const L4_Word_t *)s));
}
L4_INLINE void L4_MsgPutSimpleStringItem(L4_Msg_t *msg, L4_Word_t t, L4_StringItem_t s)
{
    __L4_MsgTyped(msg, t)[0] = s.raw[0] & ~0x3F0u;
    __L4_MsgTyped(msg, t)[1] = s.raw[1];
}
L4_INLINE void L4_MsgPutStringItem(L4_Msg_t *msg, L4_Word_t t, L4_StringItem_t *s)
{
    const L4_Word_t *w = (const L4_Word_t *)s;
    L4_Word_t n = __L4_StringWords(w);
    for (L4_Word_t i = 0; i < n; i++) __L4_MsgTyped(msg, t)[i] = w[i];
}
L4_INLINE L4_Word_t L4_MsgGetStringItem(L4_Msg_t *msg, L4_Word_t t, L4_StringItem_t *s)
{
    L4_Word_t *w = (L4_Word_t *)s, n = __L4_StringWords(__L4_MsgTyped(msg, t));
    for (L4_Word_t i = 0; i < n; i++) w[i] = __L4_MsgTyped(msg, t)[i];
    return n;
}

// ------------------------------------------------------------------------ acceptor and buffer registers (5.5)
typedef union {
    L4_Word_t raw;
    struct {
        L4_Word_t s : 1; ///< strings accepted
        L4_Word_t c : 1; ///< 0
        L4_Word_t __zeros : 2;
        L4_Word_t RcvWindow : 28; ///< fpage bits 31..4
    } X;
} L4_Acceptor_t;

#define L4_UntypedWordsAcceptor L4_RAW_(L4_Acceptor_t, 0u)
#define L4_StringItemsAcceptor L4_RAW_(L4_Acceptor_t, 1u)

/// Buffers for received strings: what goes into BR1 and on.
typedef union {
    L4_Word_t raw[32];
    L4_StringItem_t string[16];
} L4_MsgBuffer_t;

/// Copies BR i to *w, w to BR i; the plural forms k registers from BR i on.
L4_INLINE void L4_StoreBR(int i, L4_Word_t *w) { *w = __L4_Utcb()[L4_UTCB_BR0 - i]; }
L4_INLINE void L4_LoadBR(int i, L4_Word_t w) { __L4_Utcb()[L4_UTCB_BR0 - i] = w; }
L4_INLINE void L4_StoreBRs(int i, int k, L4_Word_t *w)
{
    for (int n = 0; n < k; n++) w[n] = __L4_Utcb()[L4_UTCB_BR0 - i - n];
}
L4_INLINE void L4_LoadBRs(int i, int k, const L4_Word_t *w)
{
    for (int n = 0; n < k; n++) __L4_Utcb()[L4_UTCB_BR0 - i - n] = w[n];
}

/// Acceptor for map and grant items into `window`; Nilpage refuses them.
L4_INLINE L4_Acceptor_t L4_MapGrantItems(L4_Fpage_t window) { return L4_RAW_(L4_Acceptor_t, window.raw & ~0xFu); }
/// l that accepts what r does, too; r's window, if it has one, replaces l's. The ...To and ...From forms change *l.
L4_INLINE L4_Acceptor_t L4_AddAcceptor(L4_Acceptor_t l, L4_Acceptor_t r)
{
    L4_Word_t window = (r.raw & ~0xFu) ? r.raw & ~0xFu : l.raw & ~0xFu;
    return L4_RAW_(L4_Acceptor_t, window | ((l.raw | r.raw) & 0xFu));
}
L4_INLINE L4_Acceptor_t L4_AddAcceptorTo(L4_Acceptor_t *l, L4_Acceptor_t r) { return *l = L4_AddAcceptor(*l, r); }
/// l without what r accepts; any window in r denies all mappings.
L4_INLINE L4_Acceptor_t L4_RemoveAcceptor(L4_Acceptor_t l, L4_Acceptor_t r)
{
    L4_Word_t window = (r.raw & ~0xFu) ? 0 : l.raw & ~0xFu;
    return L4_RAW_(L4_Acceptor_t, window | (l.raw & 0xFu & ~r.raw));
}
L4_INLINE L4_Acceptor_t L4_RemoveAcceptorFrom(L4_Acceptor_t *l, L4_Acceptor_t r)
{
    return *l = L4_RemoveAcceptor(*l, r);
}
/// What an acceptor accepts; the window is Nilpage if it takes no mappings.
L4_INLINE L4_Bool_t L4_HasStringItems(L4_Acceptor_t a) { return a.raw & 1u; }
L4_INLINE L4_Bool_t L4_HasMapGrantItems(L4_Acceptor_t a) { return (a.raw & ~0xFu) != 0; }
L4_INLINE L4_Fpage_t L4_RcvWindow(L4_Acceptor_t a) { return L4_RAW_(L4_Fpage_t, a.raw & ~0xFu); }
/// Sets BR0; AcceptStrings also loads the buffers.
L4_INLINE void L4_Accept(L4_Acceptor_t a) { L4_LoadBR(0, a.raw); }
L4_INLINE void L4_AcceptStrings(L4_Acceptor_t a, const L4_MsgBuffer_t *b)
{
    L4_LoadBR(0, a.raw);
    L4_LoadBRs(1, 32, b->raw);
}
/// BR0.
L4_INLINE L4_Acceptor_t L4_Accepted(void) { return L4_RAW_(L4_Acceptor_t, __L4_Utcb()[L4_UTCB_BR0]); }

/// A buffer list that holds one empty string.
L4_INLINE void L4_MsgBufferClear(L4_MsgBuffer_t *b) { b->raw[0] = b->raw[1] = 0; }
/// Appends a receive buffer: sets the C bit of the one before it. The initial empty string is replaced.
L4_INLINE void L4_MsgBufferAppendRcvString(L4_MsgBuffer_t *b, const L4_StringItem_t *s)
{
    const L4_Word_t *from = (const L4_Word_t *)s;
    L4_Word_t at = 0, n = __L4_StringWords(from);
    if (b->raw[0] != 0 || b->raw[1] != 0) {
        L4_Word_t last = 0;
        while (b->raw[last] & 1u) last += __L4_StringWords(b->raw + last);
        at = last + __L4_StringWords(b->raw + last);
        if (at + n > 32) return;
        b->raw[last] |= 1u;
    }
    for (L4_Word_t i = 0; i < n && at + i < 32; i++) b->raw[at + i] = from[i];
    b->raw[at] &= ~1u;
}
/// The same for one pointer and length, whatever s says.
L4_INLINE void L4_MsgBufferAppendSimpleRcvString(L4_MsgBuffer_t *b, L4_StringItem_t s)
{
    s.raw[0] &= ~0x3F0u;
    L4_MsgBufferAppendRcvString(b, &s);
}

#ifdef __cplusplus
L4_INLINE bool operator==(L4_CacheAllocationHint_t a, L4_CacheAllocationHint_t b) { return a.raw == b.raw; }
L4_INLINE bool operator!=(L4_CacheAllocationHint_t a, L4_CacheAllocationHint_t b) { return a.raw != b.raw; }
L4_INLINE L4_StringItem_t operator+(L4_StringItem_t s, L4_CacheAllocationHint_t h)
{
    return L4_AddCacheAllocationHint(s, h);
}
/// Whether the item is a string.
L4_INLINE L4_Bool_t L4_StringItem(const L4_StringItem_t *s) { return L4_IsStringItem(s); }
/// Further substrings, of their own length or of the last one's; room as for L4_AddSubstringTo and
/// L4_AddSubstringAddressTo.
L4_INLINE L4_StringItem_t &operator+=(L4_StringItem_t &dest, L4_StringItem_t sub)
{
    return *L4_AddSubstringTo(&dest, sub);
}
L4_INLINE L4_StringItem_t &operator+=(L4_StringItem_t &dest, void *address)
{
    return *L4_AddSubstringAddressTo(&dest, address);
}
L4_INLINE L4_StringItem_t &operator+=(L4_StringItem_t &s, L4_CacheAllocationHint_t h)
{
    L4_AddCacheAllocationHintTo(&s, h);
    return s;
}
L4_INLINE L4_Acceptor_t operator+(L4_Acceptor_t l, L4_Acceptor_t r) { return L4_AddAcceptor(l, r); }
L4_INLINE L4_Acceptor_t operator-(L4_Acceptor_t l, L4_Acceptor_t r) { return L4_RemoveAcceptor(l, r); }
L4_INLINE L4_Acceptor_t operator+=(L4_Acceptor_t &l, L4_Acceptor_t r) { return l = l + r; }
L4_INLINE L4_Acceptor_t operator-=(L4_Acceptor_t &l, L4_Acceptor_t r) { return l = l - r; }
L4_INLINE L4_Bool_t L4_StringItems(L4_Acceptor_t a) { return L4_HasStringItems(a); }
L4_INLINE L4_Bool_t L4_MapGrantItems(L4_Acceptor_t a) { return L4_HasMapGrantItems(a); }
L4_INLINE void L4_Accept(L4_Acceptor_t a, const L4_MsgBuffer_t *b) { L4_AcceptStrings(a, b); }
L4_INLINE void L4_Append(L4_Msg_t *msg, L4_StringItem_t s) { L4_MsgAppendSimpleStringItem(msg, s); }
L4_INLINE void L4_Append(L4_Msg_t *msg, L4_StringItem_t *s) { L4_MsgAppendStringItem(msg, s); }
L4_INLINE void L4_Put(L4_Msg_t *msg, L4_Word_t t, L4_StringItem_t s) { L4_MsgPutSimpleStringItem(msg, t, s); }
L4_INLINE void L4_Put(L4_Msg_t *msg, L4_Word_t t, L4_StringItem_t *s) { L4_MsgPutStringItem(msg, t, s); }
L4_INLINE L4_Word_t L4_Get(L4_Msg_t *msg, L4_Word_t t, L4_StringItem_t *s) { return L4_MsgGetStringItem(msg, t, s); }
L4_INLINE void L4_Clear(L4_MsgBuffer_t *b) { L4_MsgBufferClear(b); }
L4_INLINE void L4_Append(L4_MsgBuffer_t *b, L4_StringItem_t s) { L4_MsgBufferAppendSimpleRcvString(b, s); }
L4_INLINE void L4_Append(L4_MsgBuffer_t *b, L4_StringItem_t *s) { L4_MsgBufferAppendRcvString(b, s); }

// The manual's references. Appending and putting compound strings takes pointers: by reference would be ambiguous.
L4_INLINE L4_Bool_t L4_StringItem(const L4_StringItem_t &s) { return L4_IsStringItem(&s); }
L4_INLINE L4_Bool_t L4_CompoundString(const L4_StringItem_t &s) { return L4_CompoundString(&s); }
L4_INLINE L4_Word_t L4_Substrings(const L4_StringItem_t &s) { return L4_Substrings(&s); }
L4_INLINE void *L4_Substring(const L4_StringItem_t &s, L4_Word_t n) { return L4_Substring(&s, n); }
L4_INLINE void L4_StoreBR(int i, L4_Word_t &w) { L4_StoreBR(i, &w); }
L4_INLINE void L4_Accept(L4_Acceptor_t a, const L4_MsgBuffer_t &b) { L4_AcceptStrings(a, &b); }
L4_INLINE void L4_Append(L4_Msg_t &msg, L4_StringItem_t s) { L4_MsgAppendSimpleStringItem(&msg, s); }
L4_INLINE void L4_Append(L4_Msg_t &msg, L4_StringItem_t *s) { L4_MsgAppendStringItem(&msg, s); }
L4_INLINE void L4_Put(L4_Msg_t &msg, L4_Word_t t, L4_StringItem_t s) { L4_MsgPutSimpleStringItem(&msg, t, s); }
L4_INLINE void L4_Put(L4_Msg_t &msg, L4_Word_t t, L4_StringItem_t *s) { L4_MsgPutStringItem(&msg, t, s); }
L4_INLINE L4_Word_t L4_Get(L4_Msg_t &msg, L4_Word_t t, L4_StringItem_t &s) { return L4_MsgGetStringItem(&msg, t, &s); }
L4_INLINE void L4_Clear(L4_MsgBuffer_t &b) { L4_MsgBufferClear(&b); }
L4_INLINE void L4_Append(L4_MsgBuffer_t &b, L4_StringItem_t s) { L4_MsgBufferAppendSimpleRcvString(&b, s); }
L4_INLINE void L4_Append(L4_MsgBuffer_t &b, L4_StringItem_t *s) { L4_MsgBufferAppendRcvString(&b, s); }
#endif

#endif
