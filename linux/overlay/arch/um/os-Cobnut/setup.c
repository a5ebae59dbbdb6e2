// SPDX-License-Identifier: GPL-2.0
/*
 * From the main thread's first instruction to start_kernel(), and what architectures tell about
 * the machine. The server's memory is one piece, mapped by root where it is first touched, with
 * the kernel's image at its start; behind it are addresses for vmalloc.
 */
#include <linux/cpu.h>
#include <linux/delay.h>
#include <linux/init.h>
#include <linux/initrd.h>
#include <linux/memblock.h>
#include <linux/mm.h>
#include <linux/seq_file.h>
#include <linux/utsname.h>
#include <asm/cpufeature.h>
#include <asm/sections.h>
#include <asm/setup.h>
#include <as-layout.h>
#include <init.h>
#include <kern_util.h>
#include <os.h>
#include <skas.h>
#include "cobnut.h"

const struct server_boot *server_boot;
L4_ThreadId_t main_thread;

unsigned long uml_physmem;
EXPORT_SYMBOL(uml_physmem);
unsigned long uml_reserved;
unsigned long high_physmem;
EXPORT_SYMBOL(high_physmem);
long long physmem_size;
unsigned long start_vm, end_vm;
unsigned long end_iomem;
EXPORT_SYMBOL(end_iomem);
unsigned long task_size;
EXPORT_SYMBOL(task_size);
unsigned long vsyscall_ehdr, vsyscall_end, __kernel_vsyscall;
char *elf_aux_platform = "i686";
int ncpus = 1;

static char __initdata command_line[COMMAND_LINE_SIZE];

struct cpuinfo_um boot_cpu_data = {
	.ipi_pipe = { -1, -1 },
	.cache_alignment = L1_CACHE_BYTES,
};
EXPORT_SYMBOL(boot_cpu_data);

union thread_union cpu0_irqstack
	__section(".data..init_irqstack") =
		{ .thread_info = INIT_THREAD_INFO(init_task) };

static char cpu_vendor[13], cpu_model[49];
static unsigned int cpu_signature;

static void __init cpuid(unsigned int leaf, unsigned int *r)
{
	asm("cpuid" : "=a" (r[0]), "=b" (r[1]), "=c" (r[2]), "=d" (r[3]) : "0" (leaf), "2" (0));
}

static void __init identify_processor(void)
{
	unsigned int r[4], i;

	cpuid(0, r);
	memcpy(cpu_vendor, &r[1], 4);
	memcpy(cpu_vendor + 4, &r[3], 4);
	memcpy(cpu_vendor + 8, &r[2], 4);
	cpuid(1, r);
	cpu_signature = r[0];
	boot_cpu_data.x86_capability[0] = r[3];
	boot_cpu_data.x86_capability[4] = r[2];
	cpuid(0x80000000, r);
	if (r[0] < 0x80000004 || r[0] >= 0x80010000)
		return;
	for (i = 0; i < 3; i++) {
		cpuid(0x80000002 + i, r);
		memcpy(cpu_model + i * 16, r, 16);
	}
}

static int show_cpuinfo(struct seq_file *m, void *v)
{
	int i;

	seq_printf(m, "processor\t: 0\nvendor_id\t: %s\n", cpu_vendor);
	seq_printf(m, "cpu family\t: %u\nmodel\t\t: %u\n", cpu_signature >> 8 & 15,
		   (cpu_signature >> 4 & 15) | (cpu_signature >> 12 & 0xF0));
	seq_printf(m, "model name\t: %s\nstepping\t: %u\n",
		   cpu_model[0] ? cpu_model : "unknown", cpu_signature & 15);
	seq_printf(m, "fpu\t\t: %s\nflags\t\t:",
		   cpu_has(&boot_cpu_data, X86_FEATURE_FPU) ? "yes" : "no");
	for (i = 0; i < 32 * NCAPINTS; i++)
		if (cpu_has(&boot_cpu_data, i) && x86_cap_flags[i])
			seq_printf(m, " %s", x86_cap_flags[i]);
	seq_printf(m, "\nbogomips\t: %lu.%02lu\n\n", loops_per_jiffy / (500000 / HZ),
		   loops_per_jiffy / (5000 / HZ) % 100);
	return 0;
}

static void *c_start(struct seq_file *m, loff_t *pos)
{
	return *pos ? NULL : &boot_cpu_data;
}

static void *c_next(struct seq_file *m, void *v, loff_t *pos)
{
	++*pos;
	return NULL;
}

static void c_stop(struct seq_file *m, void *v)
{
}

const struct seq_operations cpuinfo_op = {
	.start = c_start, .next = c_next, .stop = c_stop, .show = show_cpuinfo,
};

void uml_finishsetup(void)
{
	new_thread_handler();
}

/* From head.S: the first instructions in C, on root's stack. */
void __init cobnut_start(const struct server_boot *boot);
void __init cobnut_start(const struct server_boot *boot)
{
	server_boot = boot;
	x2_init();
	clock_start();
	main_thread = L4_Myself();
	L4_Accept(L4_UntypedWordsAcceptor);
	L4_Set_ExceptionHandler((L4_ThreadId_t){ .raw = boot->events });
	strscpy(command_line, boot->command_line, sizeof(command_line));
	task_size = boot->task_size;
	uml_physmem = SERVER_START;
	uml_reserved = PAGE_ALIGN((unsigned long)&_end);
	physmem_size = boot->memory_end - SERVER_START;
	high_physmem = boot->memory_end;
	end_iomem = boot->disk_end;
	high_memory = (void *)high_physmem;
	start_vm = VMALLOC_START;
	end_vm = boot->aliases_end;
	strcpy(init_utsname()->machine, "i686");
	events_start();
	start_uml();
}

void __init setup_arch(char **cmdline_p)
{
	const unsigned long reserved = uml_reserved - uml_physmem;

	memblock_add(__pa(uml_physmem), physmem_size);
	memblock_reserve(__pa(uml_physmem), reserved);
	min_low_pfn = PFN_UP(__pa(uml_reserved));
	max_low_pfn = PFN_DOWN(__pa(high_physmem));
	max_mapnr = physmem_size >> PAGE_SHIFT;
	if (server_boot->initrd_size) {
		initrd_start = server_boot->initrd_start;
		initrd_end = initrd_start + server_boot->initrd_size;
		memblock_reserve(__pa(initrd_start), PAGE_ALIGN(server_boot->initrd_size));
	}
	paging_init();
	identify_processor();
	cobnut_fpu_init();
	cobnut_tls_init();
	strscpy(boot_command_line, command_line, COMMAND_LINE_SIZE);
	*cmdline_p = command_line;
}

void free_initrd_mem(unsigned long start, unsigned long end)
{
	free_reserved_area((void *)start, (void *)end, -1, "initrd");
}

void __init arch_cpu_finalize_init(void)
{
}

void apply_ibt_endbr(s32 *start, s32 *end)
{
}

void apply_retpolines(s32 *start, s32 *end)
{
}

void apply_returns(s32 *start, s32 *end)
{
}

void apply_alternatives(struct alt_instr *start, struct alt_instr *end)
{
}

void *text_poke(void *addr, const void *opcode, size_t len)
{
	WARN_ON(1);
	return NULL;
}

/* Contexts of the kernel's own: stacks that setjmp() and longjmp() switch between. */
void new_thread(void *stack, jmp_buf *buf, void (*handler)(void))
{
	(*buf)[0].JB_IP = (unsigned long)handler;
	(*buf)[0].JB_SP = (unsigned long)stack + THREAD_SIZE - sizeof(void *);
}

void switch_threads(jmp_buf *me, jmp_buf *you)
{
	const int enabled = signals_enabled;

	if (!setjmp(*me))
		longjmp(*you, 1);
	signals_enabled = enabled;
}

int start_idle_thread(void *stack, jmp_buf *buf)
{
	new_thread(stack, buf, uml_finishsetup);
	longjmp(*buf, 1);
	return 0;
}

unsigned long get_thread_reg(int reg, jmp_buf *buf)
{
	switch (reg) {
	case HOST_IP:
		return (*buf)[0].__eip;
	case HOST_SP:
		return (*buf)[0].__esp;
	case HOST_BP:
		return (*buf)[0].__ebp;
	default:
		return 0;
	}
}

/* What a program begins with: the selectors are what it sees in signal frames and by ptrace. */
void get_safe_registers(unsigned long *gp, unsigned long *fp)
{
	memset(gp, 0, MAX_REG_NR * sizeof(*gp));
	gp[HOST_EFLAGS] = 0x202;
	gp[HOST_CS] = 0x1B;
	gp[HOST_DS] = gp[HOST_ES] = gp[HOST_SS] = 0x23;
}
