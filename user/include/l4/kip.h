// SPDX-License-Identifier: BSD-2-Clause
// The kernel interface page: layout, system call and accessors (manual 1.1, 1.2).
#ifndef L4_KIP_H
#define L4_KIP_H
#include <l4/arch.h>

typedef union {
    L4_Word_t raw;
    struct {
        L4_Word_t pad : 16, subversion : 8, version : 8;
    } x;
} L4_ApiVersion_t;
typedef union {
    L4_Word_t raw;
    struct {
        L4_Word_t ee : 2, ww : 2, pad : 28; ///< byte order (0 little), word width (0 = 32 bits)
    } X;
} L4_ApiFlags_t;
typedef union {
    L4_Word_t raw;
    struct {
        L4_Word_t pad : 16, subid : 8, id : 8;
    } x;
} L4_KernelId_t;

/// Areas and start values of an initial server.
typedef struct {
    L4_Word_t SP, IP, low, high;
} L4_KernelRootServer_t;

typedef union {
    L4_Word_t raw[2];
    struct {
        L4_Word_t type : 4, t : 4, pad1 : 1, v : 1, low : 22;
        L4_Word_t pad2 : 10, high : 22;
    } x;
} L4_MemoryDesc_t;

typedef union {
    L4_Word_t raw[4];
    struct {
        L4_Word_t ExternalFreq, InternalFreq; ///< kHz
        L4_Word_t pad[2];
    } X;
} L4_ProcDesc_t;

typedef union {
    L4_Word_t raw[4];
    struct {
        L4_KernelId_t KernelId;
        L4_Word_t KernelGenDate; ///< 15..9 year - 2000, 8..5 month, 4..0 day
        L4_Word_t KernelVer;     ///< 31..24 version, 23..16 subversion, 15..0 subsubversion
        L4_Word_t Supplier;      ///< four characters, first one lowest
        // the version string follows, then feature strings, then an empty string
    } X;
} L4_KernelDesc_t;

typedef struct {
    L4_Word_t magic; ///< bytes 'L' '4' 0xE6 'K'
    L4_ApiVersion_t ApiVersion;
    L4_ApiFlags_t ApiFlags;
    L4_Word_t KernDescPtr;
    struct {
        L4_Word_t init, entry, low, high;
    } Kdebug;
    L4_KernelRootServer_t sigma0, sigma1, root_server;
    L4_Word_t reserved0;
    struct {
        L4_Word_t n : 16, MemDescPtr : 16;
    } MemoryInfo;
    L4_Word_t KdebugConfig[2];
    L4_Word_t undefined0[18];
    union {
        L4_Word_t raw;
        struct {
            L4_Word_t m : 10, a : 6, s : 6, pad : 10;
        } X;
    } UtcbAreaInfo; ///< UTCB size m * 2^a, alignment 2^a, least area 2^s
    union {
        L4_Word_t raw;
        struct {
            L4_Word_t s : 6, pad : 26;
        } X;
    } KipAreaInfo;
    L4_Word_t undefined1[2];
    L4_Word_t BootInfo;
    L4_Word_t ProcDescPtr;
    union {
        L4_Word_t raw;
        struct {
            L4_Word_t ReadPrecision : 16, SchedulePrecision : 16; ///< L4_Time_t periods
        } X;
    } ClockInfo;
    union {
        L4_Word_t raw;
        struct {
            L4_Word_t t : 8, SystemBase : 12, UserBase : 12;
        } X;
    } ThreadInfo;
    union {
        L4_Word_t raw;
        struct {
            L4_Word_t rwx : 3, pad : 7, page_size_mask : 22; ///< mask: bit k of the raw word means 2^k bytes
        } X;
    } PageInfo;
    union {
        L4_Word_t raw;
        struct {
            L4_Word_t processors : 16, pad : 12, s : 4; ///< number of processors - 1; descriptor size 2^s
        } X;
    } ProcessorInfo;
    L4_Word_t SpaceControl, ThreadControl, ProcessorControl, MemoryControl, Ipc, Lipc, Unmap, ExchangeRegisters,
        SystemClock, ThreadSwitch, Schedule; ///< entry offsets from the page's base
    L4_Word_t reserved1[5];
    L4_Word_t ArchSyscall[4];
} L4_KernelInterfacePage_t;

#define L4_UndefinedMemoryType 0u
#define L4_ConventionalMemoryType 1u
#define L4_ReservedMemoryType 2u
#define L4_DedicatedMemoryType 3u
#define L4_SharedMemoryType 4u
#define L4_BootLoaderSpecificMemoryType 14u
#define L4_ArchitectureSpecificMemoryType 15u
#define L4_KernelMagic 0x4BE6344Cu

/// The page's address in this space; each pointer may be null and gets the copies in registers.
L4_INLINE void *L4_KernelInterface(L4_Word_t *ApiVersion, L4_Word_t *ApiFlags, L4_Word_t *KernelId)
{
    L4_Word_t version, flags, id;
    void *base = __L4_Raw_KernelInterface(&version, &flags, &id);
    if (ApiVersion) *ApiVersion = version;
    if (ApiFlags) *ApiFlags = flags;
    if (KernelId) *KernelId = id;
    return base;
}
L4_INLINE void *L4_GetKernelInterface(void) { return L4_KernelInterface(0, 0, 0); }

/// What KernelInterface delivers in registers: version, word width and byte order, kernel.
L4_INLINE L4_Word_t L4_ApiVersion(void)
{
    L4_Word_t version;
    (void)L4_KernelInterface(&version, 0, 0);
    return version;
}
L4_INLINE L4_Word_t L4_ApiFlags(void)
{
    L4_Word_t flags;
    (void)L4_KernelInterface(0, &flags, 0);
    return flags;
}
L4_INLINE L4_Word_t L4_KernelId(void)
{
    L4_Word_t id;
    (void)L4_KernelInterface(0, 0, &id);
    return id;
}

// All other accessors take the page's address, where a program finds it or a copy of it.
#define L4_KIP_(k) ((const L4_KernelInterfacePage_t *)(k))
L4_INLINE const L4_Word_t *__L4_KernDesc(void *k) { return (const L4_Word_t *)((char *)k + L4_KIP_(k)->KernDescPtr); }
/// The day the kernel was made.
L4_INLINE void L4_KernelGenDate(void *k, L4_Word_t *year, L4_Word_t *month, L4_Word_t *day)
{
    L4_Word_t date = __L4_KernDesc(k)[1];
    *year = ((date >> 9) & 0x7Fu) + 2000;
    *month = (date >> 5) & 0xFu;
    *day = date & 0x1Fu;
}
/// version << 24 | subversion << 16 | subsubversion; the supplier's four characters, first one lowest.
L4_INLINE L4_Word_t L4_KernelVersion(void *k) { return __L4_KernDesc(k)[2]; }
L4_INLINE L4_Word_t L4_KernelSupplier(void *k) { return __L4_KernDesc(k)[3]; }
L4_INLINE L4_Word_t L4_NumProcessors(void *k) { return L4_KIP_(k)->ProcessorInfo.X.processors + 1u; }
L4_INLINE L4_Word_t L4_NumMemoryDescriptors(void *k) { return L4_KIP_(k)->MemoryInfo.n; }
/// Bit n: pages of 2^n bytes. The rights that can be given and taken each for itself.
L4_INLINE L4_Word_t L4_PageSizeMask(void *k) { return L4_KIP_(k)->PageInfo.raw & ~0x3FFu; }
L4_INLINE L4_Word_t L4_PageRights(void *k) { return L4_KIP_(k)->PageInfo.raw & 7u; }
/// Bits of a thread number; the first number of the kernel's threads (interrupts are below) and of users' threads.
L4_INLINE L4_Word_t L4_ThreadIdBits(void *k) { return L4_KIP_(k)->ThreadInfo.X.t; }
L4_INLINE L4_Word_t L4_ThreadIdSystemBase(void *k) { return L4_KIP_(k)->ThreadInfo.X.SystemBase; }
L4_INLINE L4_Word_t L4_ThreadIdUserBase(void *k) { return L4_KIP_(k)->ThreadInfo.X.UserBase; }
/// Microseconds: the least step that the clock shows, and how far off a wake-up may be.
L4_INLINE L4_Word_t L4_ReadPrecision(void *k)
{
    return (L4_Word_t)L4_PeriodUsec(L4_TIME_(L4_KIP_(k)->ClockInfo.X.ReadPrecision));
}
L4_INLINE L4_Word_t L4_SchedulePrecision(void *k)
{
    return (L4_Word_t)L4_PeriodUsec(L4_TIME_(L4_KIP_(k)->ClockInfo.X.SchedulePrecision));
}
/// The least UTCB area, the alignment of a UTCB in it, the bytes of a UTCB.
L4_INLINE L4_Word_t L4_UtcbAreaSizeLog2(void *k) { return L4_KIP_(k)->UtcbAreaInfo.X.s; }
L4_INLINE L4_Word_t L4_UtcbAlignmentLog2(void *k) { return L4_KIP_(k)->UtcbAreaInfo.X.a; }
L4_INLINE L4_Word_t L4_UtcbSize(void *k)
{
    return (L4_Word_t)L4_KIP_(k)->UtcbAreaInfo.X.m << L4_KIP_(k)->UtcbAreaInfo.X.a;
}
L4_INLINE L4_Word_t L4_KipAreaSizeLog2(void *k) { return L4_KIP_(k)->KipAreaInfo.X.s; }
/// The boot loader's word: the physical address of the BootInfo (l4/bootinfo.h).
L4_INLINE L4_Word_t L4_BootInfo(void *k) { return L4_KIP_(k)->BootInfo; }
/// The kernel's name and version, NUL-terminated.
L4_INLINE char *L4_KernelVersionString(void *k) { return (char *)(__L4_KernDesc(k) + 4); }

/// Feature string n (from 0), null past the last.
L4_INLINE char *L4_Feature(void *k, L4_Word_t n)
{
    char *s = L4_KernelVersionString(k);
    for (L4_Word_t i = 0; i <= n; i++) {
        while (*s++) {}
        if (*s == 0) return 0;
    }
    return s;
}
/// Whether one of the feature strings is `name`.
L4_INLINE L4_Bool_t L4_HasFeature(const char *name)
{
    void *k = L4_GetKernelInterface();
    for (L4_Word_t n = 0;; n++) {
        const char *a = L4_Feature(k, n), *b = name;
        if (!a) return 0;
        while (*a && *a == *b) a++, b++;
        if (*a == *b) return 1;
    }
}

/// Memory descriptor n, null past the last. Later descriptors override earlier ones.
L4_INLINE L4_MemoryDesc_t *L4_MemoryDesc(void *k, L4_Word_t n)
{
    if (n >= L4_NumMemoryDescriptors(k)) return 0;
    return (L4_MemoryDesc_t *)((char *)k + L4_KIP_(k)->MemoryInfo.MemDescPtr) + n;
}
/// One of the types above; for boot loader and architecture specific memory subtype * 16 + type.
L4_INLINE L4_Word_t L4_MemoryDescType(L4_MemoryDesc_t *m)
{
    L4_Word_t type = m->raw[0] & 0xFu;
    return type >= 14 ? m->raw[0] & 0xFFu : type;
}
/// Whether the region is one of virtual addresses (else of physical ones).
L4_INLINE L4_Bool_t L4_IsMemoryDescVirtual(L4_MemoryDesc_t *m) { return (m->raw[0] >> 9) & 1u; }
/// First and last byte.
L4_INLINE L4_Word_t L4_MemoryDescLow(L4_MemoryDesc_t *m) { return m->raw[0] & ~0x3FFu; }
L4_INLINE L4_Word_t L4_MemoryDescHigh(L4_MemoryDesc_t *m) { return m->raw[1] | 0x3FFu; }

/// Processor descriptor n, null past the last.
L4_INLINE L4_ProcDesc_t *L4_ProcDesc(void *k, L4_Word_t n)
{
    if (n >= L4_NumProcessors(k)) return 0;
    return (L4_ProcDesc_t *)((char *)k + L4_KIP_(k)->ProcDescPtr + (n << L4_KIP_(k)->ProcessorInfo.X.s));
}
/// Bus and processor frequency in kHz.
L4_INLINE L4_Word_t L4_ProcDescExternalFreq(L4_ProcDesc_t *p) { return p->X.ExternalFreq; }
L4_INLINE L4_Word_t L4_ProcDescInternalFreq(L4_ProcDesc_t *p) { return p->X.InternalFreq; }

#ifdef __cplusplus
static_assert(sizeof(L4_KernelInterfacePage_t) == 0x120 && sizeof(L4_MemoryDesc_t) == 8 && sizeof(L4_ProcDesc_t) == 16);
static_assert(__builtin_offsetof(L4_KernelInterfacePage_t, UtcbAreaInfo) == 0xA8);
static_assert(__builtin_offsetof(L4_KernelInterfacePage_t, BootInfo) == 0xB8);
static_assert(__builtin_offsetof(L4_KernelInterfacePage_t, SpaceControl) == L4_KIP_SPACE_CONTROL);
static_assert(__builtin_offsetof(L4_KernelInterfacePage_t, Schedule) == L4_KIP_SCHEDULE);
L4_INLINE void *L4_KernelInterface(void) { return L4_GetKernelInterface(); }
L4_INLINE void *L4_KernelInterface(L4_Word_t &ApiVersion, L4_Word_t &ApiFlags, L4_Word_t &KernelId)
{
    return L4_KernelInterface(&ApiVersion, &ApiFlags, &KernelId);
}
L4_INLINE void L4_KernelGenDate(void *k, L4_Word_t &year, L4_Word_t &month, L4_Word_t &day)
{
    L4_KernelGenDate(k, &year, &month, &day);
}
L4_INLINE L4_Bool_t L4_IsVirtual(L4_MemoryDesc_t &m) { return L4_IsMemoryDescVirtual(&m); }
L4_INLINE L4_Word_t L4_Type(L4_MemoryDesc_t &m) { return L4_MemoryDescType(&m); }
L4_INLINE L4_Word_t L4_Low(L4_MemoryDesc_t &m) { return L4_MemoryDescLow(&m); }
L4_INLINE L4_Word_t L4_High(L4_MemoryDesc_t &m) { return L4_MemoryDescHigh(&m); }
L4_INLINE L4_Word_t L4_ExternalFreq(L4_ProcDesc_t &p) { return L4_ProcDescExternalFreq(&p); }
L4_INLINE L4_Word_t L4_InternalFreq(L4_ProcDesc_t &p) { return L4_ProcDescInternalFreq(&p); }
#endif

#endif
