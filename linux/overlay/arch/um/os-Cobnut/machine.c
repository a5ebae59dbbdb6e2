// SPDX-License-Identifier: GPL-2.0
/*
 * The end of the machine, as Linux or a fault of its own wants it, and the odd things that other
 * layers ask of a host.
 */
#include <linux/init.h>
#include <linux/kernel.h>
#include <linux/notifier.h>
#include <linux/panic_notifier.h>
#include <linux/reboot.h>
#include <linux/sched.h>
#include <linux/sched/debug.h>
#include <asm/ptrace.h>
#include <kern_util.h>
#include <os.h>
#include <skas.h>
#include "cobnut.h"

#define PANIC_STATUS	2

struct crash crash;

void (*pm_power_off)(void) = machine_power_off;
EXPORT_SYMBOL(pm_power_off);

/* What a fault or an exception of Linux's own comes to: a panic with what the registers were. */
void __noreturn main_thread_crashed(void)
{
	static struct pt_regs regs;
	unsigned long *gp = regs.regs.gp;

	signals_enabled = 0;
	gp[HOST_IP] = crash.registers.ip;
	gp[HOST_SP] = crash.registers.sp;
	gp[HOST_BP] = crash.registers.bp;
	gp[HOST_AX] = crash.registers.ax;
	gp[HOST_BX] = crash.registers.bx;
	gp[HOST_CX] = crash.registers.cx;
	gp[HOST_DX] = crash.registers.dx;
	gp[HOST_SI] = crash.registers.si;
	gp[HOST_DI] = crash.registers.di;
	gp[HOST_EFLAGS] = crash.registers.flags;
	bust_spinlocks(1);
	printk(KERN_EMERG "the kernel's %s %u, code %x, at %pS, address %08x\n",
	       crash.exception ? "exception" : "page fault", crash.number, crash.code,
	       (void *)crash.registers.ip, crash.address);
	current->thread.segv_regs = &regs;
	show_regs(&regs);
	show_stack(current, (unsigned long *)crash.registers.sp, KERN_EMERG);
	panic("fault of the kernel's own");
}

static int on_panic(struct notifier_block *self, unsigned long unused, void *text)
{
	bust_spinlocks(1);
	bust_spinlocks(0);
	root_off(PANIC_STATUS);
}

static struct notifier_block panic_notifier = {
	.notifier_call = on_panic,
	.priority = INT_MIN,
};

static int __init panic_init(void)
{
	atomic_notifier_chain_register(&panic_notifier_list, &panic_notifier);
	return 0;
}
early_initcall(panic_init);

void os_dump_core(void)
{
	root_off(PANIC_STATUS);
}

void machine_restart(char *command)
{
	root_off(0);
}

void machine_power_off(void)
{
	root_off(0);
}

void machine_halt(void)
{
	root_off(0);
}

int os_getpid(void)
{
	return 1;
}

int os_is_signal_stack(void)
{
	return 0;
}

void stack_protections(unsigned long address)
{
}

void set_sigstack(void *stack, int size)
{
}

void init_new_thread_signals(void)
{
}

void initial_thread_cb_skas(void (*proc)(void *), void *arg)
{
	proc(arg);
}

ssize_t os_getrandom(void *buffer, size_t length, unsigned int flags)
{
	return -1;
}
