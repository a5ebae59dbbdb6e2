// SPDX-License-Identifier: GPL-2.0
/*
 * Interrupts: what the events thread has noted, delivered where Linux enables them, and where a
 * process's thread was stopped for it.
 */
#include <linux/hardirq.h>
#include <linux/interrupt.h>
#include <linux/irq.h>
#include <linux/sched.h>
#include <asm/irq_regs.h>
#include <kern_util.h>
#include <os.h>
#include "cobnut.h"

static struct pt_regs kernel_regs;

unsigned int do_IRQ(int irq, struct uml_pt_regs *regs)
{
	struct pt_regs *old = set_irq_regs((struct pt_regs *)regs);

	irq_enter();
	generic_handle_irq(irq);
	irq_exit();
	set_irq_regs(old);
	return 1;
}

static void deliver(struct uml_pt_regs *regs)
{
	int pending;

	while ((pending = xchg(&signals_pending, 0))) {
		if (pending & PENDING_TIMER)
			timer_handler(0, NULL, regs);
		if (pending & PENDING_CONSOLE)
			do_IRQ(CONSOLE_IRQ, regs);
		if (pending & PENDING_BLOCK)
			do_IRQ(BLOCK_IRQ, regs);
		if (pending & PENDING_NET)
			do_IRQ(NET_IRQ, regs);
		if (pending & PENDING_SCREEN)
			do_IRQ(SCREEN_IRQ, regs);
		if (pending & PENDING_INPUT)
			do_IRQ(INPUT_IRQ, regs);
	}
}

/* From unblock_signals(): they are off still, and on when this is done. */
void deliver_signals(void)
{
	deliver(&kernel_regs.regs);
}
EXPORT_SYMBOL(deliver_signals);

/* What has interrupted a program's own instructions: a tick counts as its user time. */
void deliver_in_process(struct uml_pt_regs *regs)
{
	regs->is_user = 1;
	deliver(regs);
}

static void nothing(struct irq_data *d)
{
}

static struct irq_chip event_chip = {
	.name = "event",
	.irq_disable = nothing,
	.irq_enable = nothing,
	.irq_ack = nothing,
	.irq_mask = nothing,
	.irq_unmask = nothing,
};

void __init init_IRQ(void)
{
	int irq;

	for (irq = 0; irq < NR_IRQS; irq++)
		irq_set_chip_and_handler(irq, &event_chip, handle_edge_irq);
}

int arch_show_interrupts(struct seq_file *p, int prec)
{
	return 0;
}
