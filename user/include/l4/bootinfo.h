// SPDX-License-Identifier: BSD-2-Clause
// The generic boot information that a boot loader leaves in memory (manual J.1, J.2).
// The structure lies in boot-loader-specific memory: map it through sigma0 before looking at it.
#ifndef L4_BOOTINFO_H
#define L4_BOOTINFO_H
#include <l4/types.h>

/// What all records start with; the type says what follows.
typedef union {
    L4_Word_t raw[3];
    struct {
        L4_Word_t type, version, offset_next; ///< offset of the next record from this one
    } X;
} L4_BootRec_t;

#define L4_BOOTINFO_MAGIC 0x14B0021Du
#define L4_BootInfo_Module 0x0001u
#define L4_BootInfo_SimpleExec 0x0002u
#define L4_BootInfo_EFITables 0x0101u
#define L4_BootInfo_Multiboot 0x0102u

L4_INLINE L4_Word_t __L4_BootWord(const void *p, L4_Word_t offset)
{
    return *(const L4_Word_t *)((const char *)p + offset);
}
/// Whether magic and version are those of a BootInfo structure; the other functions expect that.
L4_INLINE L4_Bool_t L4_BootInfo_Valid(void *b)
{
    return __L4_BootWord(b, 0) == L4_BOOTINFO_MAGIC && __L4_BootWord(b, 4) == 1;
}
/// Bytes of the whole structure, strings included.
L4_INLINE L4_Word_t L4_BootInfo_Size(void *b) { return __L4_BootWord(b, 8); }
/// The first record, and how many there are.
L4_INLINE L4_BootRec_t *L4_BootInfo_FirstEntry(void *b) { return (L4_BootRec_t *)((char *)b + __L4_BootWord(b, 12)); }
L4_INLINE L4_Word_t L4_BootInfo_Entries(void *b) { return __L4_BootWord(b, 16); }

/// One of the types above; the record behind r (not to be asked of the last one).
L4_INLINE L4_Word_t L4_BootRec_Type(L4_BootRec_t *r) { return r->X.type; }
L4_INLINE L4_BootRec_t *L4_BootRec_Next(L4_BootRec_t *r) { return (L4_BootRec_t *)((char *)r + r->X.offset_next); }

/// Command line at the record offset held at `field`, null if there is none.
L4_INLINE char *__L4_BootCmdline(L4_BootRec_t *r, L4_Word_t field)
{
    L4_Word_t offset = __L4_BootWord(r, field);
    return offset ? (char *)r + offset : 0;
}
/// Module: physical start and size of the unchanged file.
L4_INLINE L4_Word_t L4_Module_Start(L4_BootRec_t *r) { return __L4_BootWord(r, 12); }
L4_INLINE L4_Word_t L4_Module_Size(L4_BootRec_t *r) { return __L4_BootWord(r, 16); }
L4_INLINE char *L4_Module_Cmdline(L4_BootRec_t *r) { return __L4_BootCmdline(r, 20); }
/// Simple executable: a program that the loader has put in place; addresses, sizes in bytes, free words.
L4_INLINE L4_Word_t L4_SimpleExec_TextPstart(L4_BootRec_t *r) { return __L4_BootWord(r, 12); }
L4_INLINE L4_Word_t L4_SimpleExec_TextVstart(L4_BootRec_t *r) { return __L4_BootWord(r, 16); }
L4_INLINE L4_Word_t L4_SimpleExec_TextSize(L4_BootRec_t *r) { return __L4_BootWord(r, 20); }
L4_INLINE L4_Word_t L4_SimpleExec_DataPstart(L4_BootRec_t *r) { return __L4_BootWord(r, 24); }
L4_INLINE L4_Word_t L4_SimpleExec_DataVstart(L4_BootRec_t *r) { return __L4_BootWord(r, 28); }
L4_INLINE L4_Word_t L4_SimpleExec_DataSize(L4_BootRec_t *r) { return __L4_BootWord(r, 32); }
L4_INLINE L4_Word_t L4_SimpleExec_BssPstart(L4_BootRec_t *r) { return __L4_BootWord(r, 36); }
L4_INLINE L4_Word_t L4_SimpleExec_BssVstart(L4_BootRec_t *r) { return __L4_BootWord(r, 40); }
L4_INLINE L4_Word_t L4_SimpleExec_BssSize(L4_BootRec_t *r) { return __L4_BootWord(r, 44); }
L4_INLINE L4_Word_t L4_SimpleExec_InitialIP(L4_BootRec_t *r) { return __L4_BootWord(r, 48); }
L4_INLINE L4_Word_t L4_SimpleExec_Flags(L4_BootRec_t *r) { return __L4_BootWord(r, 52); }
L4_INLINE void L4_SimpleExec_Set_Flags(L4_BootRec_t *r, L4_Word_t w) { *(L4_Word_t *)((char *)r + 52) = w; }
L4_INLINE L4_Word_t L4_SimpleExec_Label(L4_BootRec_t *r) { return __L4_BootWord(r, 56); }
L4_INLINE void L4_SimpleExec_Set_Label(L4_BootRec_t *r, L4_Word_t w) { *(L4_Word_t *)((char *)r + 56) = w; }
L4_INLINE char *L4_SimpleExec_Cmdline(L4_BootRec_t *r) { return __L4_BootCmdline(r, 60); }
/// EFI tables and the multiboot information structure: physical addresses.
L4_INLINE L4_Word_t L4_EFI_Systab(L4_BootRec_t *r) { return __L4_BootWord(r, 12); }
L4_INLINE L4_Word_t L4_EFI_Memmap(L4_BootRec_t *r) { return __L4_BootWord(r, 16); }
L4_INLINE L4_Word_t L4_EFI_MemmapSize(L4_BootRec_t *r) { return __L4_BootWord(r, 20); }
L4_INLINE L4_Word_t L4_EFI_MemdescSize(L4_BootRec_t *r) { return __L4_BootWord(r, 24); }
L4_INLINE L4_Word_t L4_EFI_MemdescVersion(L4_BootRec_t *r) { return __L4_BootWord(r, 28); }
L4_INLINE L4_Word_t L4_MBI_Address(L4_BootRec_t *r) { return __L4_BootWord(r, 12); }

#ifdef __cplusplus
L4_INLINE L4_Word_t L4_Type(L4_BootRec_t *r) { return r->X.type; }
L4_INLINE L4_BootRec_t *L4_Next(L4_BootRec_t *r) { return L4_BootRec_Next(r); }
#endif

#endif
