// SPDX-License-Identifier: BSD-2-Clause
// A boot loader as other X.2 kernels have one (docs/x2-ia32.md, 6.8): multiboot starts it, its modules are the kernel,
// sigma0, the root server and the rest. It loads the first three and patches the kernel interface page in the kernel's
// image. Its command line is for itself, and stands in BootInfo for whom it may concern.
typedef unsigned Word;

struct Info {
    Word flags, lower_kb, upper_kb, boot_device, command_line, modules, module_list;
};
struct Module {
    Word start, end, command_line, reserved;
};
struct Elf {
    unsigned char ident[16];
    unsigned short type, machine;
    Word version, entry, headers, sections, flags;
    unsigned short size, header_size, header_count;
};
struct Segment {
    Word type, offset, vaddr, paddr, file_size, memory_size, flags, align;
};

__attribute__((section(".multiboot"), used)) static const Word multiboot_header[] = {0x1badb002, 3, -(0x1badb002 + 3)};

enum { mb = 1 << 20, pool = 16 * mb, boot_info_at = 0x700000, modules_at = 16 * mb, page_magic = 0x4be6344c };

static Word *page, descriptors, *record_at, *boot_info = (Word *)boot_info_at;

static void describe(Word type, Word first, Word last)
{
    Word *d = (Word *)((char *)page + (page[0x54 / 4] >> 16)) + 2 * descriptors++;
    d[0] = (first & ~0x3ffu) | type;
    d[1] = last & ~0x3ffu;
}

static Word load(const struct Module *m, Word *low, Word *high)
{
    const struct Elf *elf = (const struct Elf *)m->start;
    *low = ~0u, *high = 0;
    for (Word i = 0; i < elf->header_count; i++) {
        const struct Segment *s = (const struct Segment *)(m->start + elf->headers + i * elf->header_size);
        if (s->type != 1) continue;
        for (Word n = 0; n < s->memory_size; n++)
            *(volatile char *)(s->paddr + n) = n < s->file_size ? *(const char *)(m->start + s->offset + n) : 0;
        if (s->paddr < *low) *low = s->paddr;
        if (s->paddr + s->memory_size > *high) *high = s->paddr + s->memory_size;
    }
    return elf->entry;
}

static Word *record(Word type, Word words, const char *text)
{
    Word *r = record_at, length = 0;
    char *copy = (char *)(r + words);
    do copy[length] = text ? text[length] : 0;
    while (copy[length++]);
    for (Word i = 0; i < words; i++) r[i] = 0;
    record_at = r + words + (length + 3) / 4;
    r[0] = type, r[1] = 1, r[2] = (Word)record_at - (Word)r;
    boot_info[4]++;
    return r;
}

// What multiboot left may lie where the kernel or a server belongs: it is moved before anything is loaded.
static struct Info own;
static struct Module own_modules[8];
static char texts[9][128];

static Word kept(Word text, Word number)
{
    for (Word i = 0; text && i < sizeof texts[0] - 1 && ((char *)text)[i]; i++) texts[number][i] = ((char *)text)[i];
    return (Word)texts[number];
}

__attribute__((used)) static void start(const struct Info *given)
{
    own = *given;
    own.command_line = kept(own.command_line, 8);
    for (Word i = 0, to = modules_at; i < own.modules; i++) {
        const struct Module *from = (const struct Module *)own.module_list + i;
        own_modules[i].start = to;
        own_modules[i].command_line = kept(from->command_line, i);
        for (Word n = from->start; n < from->end; n++, to++) *(volatile char *)to = *(const char *)n;
        own_modules[i].end = to;
        to = (to + 4095) & ~4095u;
    }
    own.module_list = (Word)own_modules;
    const struct Info *info = &own;
    const struct Module *m = own_modules;
    Word low, high, top = mb + info->upper_kb * 1024;
    const Word entry = load(&m[0], &low, &high);
    for (page = (Word *)low; *page != page_magic || !page[3]; page += 1024) {}
    describe(4, 0, ~0u);
    describe(1, 0, info->lower_kb * 1024 - 1);
    describe(1, mb, top - 1);
    describe(2, top - pool, top - 1);
    describe(4, 0xa0000, 0xfffff);
    boot_info[0] = 0x14b0021d, boot_info[1] = 1, boot_info[3] = 32, boot_info[4] = 0;
    record_at = boot_info + 8;
    for (Word i = 1; i < info->modules; i++) {
        if (i > 2) {
            Word *r = record(1, 6, (const char *)m[i].command_line);
            r[3] = m[i].start, r[4] = m[i].end - m[i].start, r[5] = 24;
            describe(0xe | 3 << 4, m[i].start, m[i].end - 1);
            continue;
        }
        Word *server = page + (i == 1 ? 0x20 : 0x40) / 4, *r = record(2, 16, (const char *)m[i].command_line);
        server[1] = load(&m[i], &server[2], &server[3]);
        r[12] = server[1], r[15] = 64;
        r[3] = server[2], r[5] = server[3] - server[2];
        describe(0xe | 2 << 4, server[2], server[3] - 1);
    }
    record(0x102, 4, 0)[3] = (Word)info;
    boot_info[2] = (Word)record_at - boot_info_at;
    describe(0xe | 1 << 4, boot_info_at, boot_info_at + 4095);
    describe(0xe | 1 << 4, 0x800000, 0x80ffff);
    page[0x54 / 4] = (page[0x54 / 4] & 0xffff0000) | descriptors;
    page[0xb8 / 4] = boot_info_at;
    __asm__ volatile("xor %%eax, %%eax; xor %%ebx, %%ebx; jmp *%0" : : "c"(entry) : "memory");
}

__asm__(".globl _start; _start: mov $stack + 4096, %esp; push %ebx; call start; .lcomm stack, 4096");
