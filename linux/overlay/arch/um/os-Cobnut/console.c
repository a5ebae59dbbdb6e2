// SPDX-License-Identifier: GPL-2.0
/*
 * The console, /dev/hvc0: what is written goes to the microkernel's console, what is typed comes
 * from root by the events thread.
 */
#include <linux/console.h>
#include <linux/init.h>
#include <l4/kdebug.h>
#include <os.h>
#include "../../../drivers/tty/hvc/hvc_console.h"
#include "cobnut.h"

#define PIECE	128

/* The microkernel's console begins each line with a carriage return, as the terminal does. */
static int put_chars(uint32_t vtermno, const char *text, int count)
{
	char piece[PIECE];
	int n = 0, done = 0;

	for (; done < count && n < PIECE - 1; done++)
		if (text[done] && !(text[done] == '\r' && done + 1 < count && text[done + 1] == '\n'))
			piece[n++] = text[done];
	piece[n] = 0;
	L4_KDB_PrintString(piece);
	return done;
}

static int get_chars(uint32_t vtermno, char *buffer, int count)
{
	return console_take(buffer, count);
}

static const struct hv_ops ops = {
	.get_chars = get_chars,
	.put_chars = put_chars,
	.notifier_add = notifier_add_irq,
	.notifier_del = notifier_del_irq,
	.notifier_hangup = notifier_hangup_irq,
};

void um_early_printk(const char *text, unsigned int count)
{
	while (count) {
		int n = put_chars(0, text, count);

		text += n;
		count -= n;
	}
}

static int __init console_first(void)
{
	hvc_instantiate(0, 0, &ops);
	return 0;
}
console_initcall(console_first);

static int __init terminal_later(void)
{
	struct hvc_struct *hvc = hvc_alloc(0, CONSOLE_IRQ, &ops, PIECE);

	return IS_ERR(hvc) ? PTR_ERR(hvc) : 0;
}
device_initcall(terminal_later);
