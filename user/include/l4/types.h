// SPDX-License-Identifier: BSD-2-Clause
// L4 X.2 basic types: words, fpages, thread ids, clock, time (manual 2.1, 3.1, 3.3, 4.1).
//
// These headers are the manual's generic and convenience programming interfaces with the prefix L4_. Every function
// exists under its C name; where the manual gives a C++ overload or operator, that is declared too, below
// `#ifdef __cplusplus`. What the manual writes as a reference is a pointer in C; C++ has both forms.
// Bit-field members list low bits first and are part of the interface: programs use them directly.
// docs/user-library.md says how to build a program.
#ifndef L4_TYPES_H
#define L4_TYPES_H

#define L4_INLINE static inline __attribute__((unused))

typedef unsigned int L4_Word_t;       ///< machine word, 32 bits
typedef unsigned short L4_Word16_t;   ///< 16 bits
typedef unsigned long long L4_Word64_t; ///< 64 bits
typedef unsigned int L4_Word32_t;     ///< 32 bits
typedef signed int L4_SignedWord_t;
typedef L4_Word_t L4_Bool_t;          ///< 0 is false, anything else true

// ---------------------------------------------------------------------------------------------- ErrorCode values
// Contents of the ErrorCode TCR after a system call other than Ipc has failed.
enum {
    L4_ERROR_OK = 0,
    L4_ErrOk = 0,
    L4_ERROR_NO_PRIVILEGE = 1,
    L4_ErrNoPrivilege = 1,
    L4_ERROR_INVALID_THREAD = 2,
    L4_ErrInvalidThread = 2,
    L4_ERROR_INVALID_SPACE = 3,
    L4_ErrInvalidSpace = 3,
    L4_ERROR_INVALID_SCHEDULER = 4,
    L4_ErrInvalidScheduler = 4,
    L4_ERROR_INVALID_PARAM = 5,
    L4_ErrInvalidParam = 5,
    L4_ERROR_UTCB_AREA = 6,
    L4_ErrUtcbArea = 6,
    L4_ERROR_KIP_AREA = 7,
    L4_ErrKipArea = 7,
    L4_ERROR_NO_MEM = 8,
    L4_ErrNoMem = 8,
};

// ---------------------------------------------------------------------------------------------- fpages (4.1)
typedef union {
    L4_Word_t raw;
    struct {
        L4_Word_t rwx : 3;      ///< rights: read 4, write 2, execute 1
        L4_Word_t extended : 1; ///< leave 0
        L4_Word_t s : 6;        ///< log2(size); 1 = complete address space
        L4_Word_t b : 22;       ///< base / 1024
    } X;
} L4_Fpage_t;

// Rights of an fpage and of what it maps (4.1).
#define L4_NoAccess 0x00
#define L4_eXecutable 0x01
#define L4_Writable 0x02
#define L4_Readable 0x04
#define L4_FullyAccessible 0x07
#define L4_ReadWriteOnly 0x06
#define L4_ReadeXecOnly 0x05

#ifdef __cplusplus
#define L4_RAW_(T, value) (T{.raw = (value)})
#else
#define L4_RAW_(T, value) ((T){.raw = (value)})
#endif

#define L4_Nilpage L4_RAW_(L4_Fpage_t, 0u)
#define L4_CompleteAddressSpace L4_RAW_(L4_Fpage_t, 0x10u)

/// True for Nilpage only.
L4_INLINE L4_Bool_t L4_IsNilFpage(L4_Fpage_t f) { return f.raw == 0; }

/// The rights bits of an fpage (L4_Readable | L4_Writable | L4_eXecutable).
L4_INLINE L4_Word_t L4_Rights(L4_Fpage_t f) { return f.raw & 7u; }

/// Replaces the rights bits.
L4_INLINE void L4_Set_Rights(L4_Fpage_t *f, L4_Word_t rights) { f->raw = (f->raw & ~7u) | (rights & 7u); }

/// Fpage of 2^log2size bytes at base, no rights. The base is stored in units of 1 KB and not aligned further.
L4_INLINE L4_Fpage_t L4_FpageLog2(L4_Word_t base, int log2size)
{
    return L4_RAW_(L4_Fpage_t, (base & ~0x3FFu) | (((L4_Word_t)log2size & 0x3Fu) << 4));
}

/// Fpage that holds at least `size` bytes: the size is rounded up to a power of two.
L4_INLINE L4_Fpage_t L4_Fpage(L4_Word_t base, L4_Word_t size)
{
    int log2 = 0;
    while (log2 < 31 && (1u << log2) < size) log2++;
    if ((1u << log2) < size) log2 = 32;
    return L4_FpageLog2(base, log2);
}

/// log2 of the size in bytes (32 for the complete address space).
L4_INLINE L4_Word_t L4_SizeLog2(L4_Fpage_t f)
{
    L4_Word_t s = (f.raw >> 4) & 0x3Fu;
    return (s == 1 && (f.raw >> 10) == 0) ? 32 : s;
}

/// Size in bytes; 0 for Nilpage and, by overflow of the word, for the complete address space.
L4_INLINE L4_Word_t L4_Size(L4_Fpage_t f)
{
    L4_Word_t s = L4_SizeLog2(f);
    return (L4_IsNilFpage(f) || s >= 32) ? 0 : 1u << s;
}

/// First address of the fpage, aligned down to its size.
L4_INLINE L4_Word_t L4_Address(L4_Fpage_t f)
{
    L4_Word_t s = L4_SizeLog2(f);
    return s >= 32 ? 0 : (f.raw & ~0x3FFu) & ~((1u << s) - 1u);
}

/// The fpage with these rights, too, and without them. The ...To and ...From forms change *f and return it.
L4_INLINE L4_Fpage_t L4_FpageAddRights(L4_Fpage_t f, L4_Word_t rights)
{
    f.raw |= rights & 7u;
    return f;
}
L4_INLINE L4_Fpage_t L4_FpageRemoveRights(L4_Fpage_t f, L4_Word_t rights)
{
    f.raw &= ~(rights & 7u);
    return f;
}
L4_INLINE L4_Fpage_t L4_FpageAddRightsTo(L4_Fpage_t *f, L4_Word_t rights) { return *f = L4_FpageAddRights(*f, rights); }
L4_INLINE L4_Fpage_t L4_FpageRemoveRightsFrom(L4_Fpage_t *f, L4_Word_t rights)
{
    return *f = L4_FpageRemoveRights(*f, rights);
}

#ifdef __cplusplus
L4_INLINE L4_Fpage_t operator+(L4_Fpage_t f, L4_Word_t rights) { return L4_FpageAddRights(f, rights); }
L4_INLINE L4_Fpage_t operator-(L4_Fpage_t f, L4_Word_t rights) { return L4_FpageRemoveRights(f, rights); }
L4_INLINE L4_Fpage_t operator+=(L4_Fpage_t &f, L4_Word_t rights) { return f = f + rights; }
L4_INLINE L4_Fpage_t operator-=(L4_Fpage_t &f, L4_Word_t rights) { return f = f - rights; }
L4_INLINE void L4_Set_Rights(L4_Fpage_t &f, L4_Word_t rights) { L4_Set_Rights(&f, rights); }
#endif

// ---------------------------------------------------------------------------------------------- thread ids (2.1)
typedef union {
    L4_Word_t raw;
    struct {
        struct {
            L4_Word_t version : 14; ///< version mod 64 is never 0
            L4_Word_t thread_no : 18;
        } X;
    } global;
    struct {
        struct {
            L4_Word_t __zeros : 6;
            L4_Word_t local_id : 26; ///< UTCB address / 64
        } X;
    } local;
} L4_ThreadId_t;

#define L4_nilthread L4_RAW_(L4_ThreadId_t, 0u)
#define L4_anythread L4_RAW_(L4_ThreadId_t, 0xFFFFFFFFu)
#define L4_anylocalthread L4_RAW_(L4_ThreadId_t, 0xFFFFFFC0u)

/// True for nilthread only.
L4_INLINE L4_Bool_t L4_IsNilThread(L4_ThreadId_t t) { return t.raw == 0; }

/// nilthread passes this test too: ask for nil first.
L4_INLINE L4_Bool_t L4_IsLocalId(L4_ThreadId_t t) { return (t.raw & 0x3Fu) == 0; }
L4_INLINE L4_Bool_t L4_IsGlobalId(L4_ThreadId_t t) { return (t.raw & 0x3Fu) != 0; }

/// Global id from thread number (18 bits) and version (14 bits, version mod 64 != 0).
L4_INLINE L4_ThreadId_t L4_GlobalId(L4_Word_t number, L4_Word_t version)
{
    return L4_RAW_(L4_ThreadId_t, (number << 14) | (version & 0x3FFFu));
}
/// Version and thread number of a global id.
L4_INLINE L4_Word_t L4_Version(L4_ThreadId_t t) { return t.raw & 0x3FFFu; }
L4_INLINE L4_Word_t L4_ThreadNo(L4_ThreadId_t t) { return t.raw >> 14; }

/// Compares the words: a local and a global id of one thread are not equal; see L4_SameThreads.
L4_INLINE L4_Bool_t L4_IsThreadEqual(L4_ThreadId_t a, L4_ThreadId_t b) { return a.raw == b.raw; }
L4_INLINE L4_Bool_t L4_IsThreadNotEqual(L4_ThreadId_t a, L4_ThreadId_t b) { return a.raw != b.raw; }

#ifdef __cplusplus
L4_INLINE bool operator==(L4_ThreadId_t a, L4_ThreadId_t b) { return a.raw == b.raw; }
L4_INLINE bool operator!=(L4_ThreadId_t a, L4_ThreadId_t b) { return a.raw != b.raw; }
#endif

/// Caching advice of a string item: 0 default, 1 allocate in all levels, 2 don't allocate, 3 first level only.
typedef struct {
    L4_Word_t raw;
} L4_CacheAllocationHint_t;

/// What L4_Stop and its relatives saw: bit 0 halted, bit 1 receiving, bit 2 sending.
typedef struct {
    L4_Word_t raw;
} L4_ThreadState_t;

#include <l4/time.h>
#endif
