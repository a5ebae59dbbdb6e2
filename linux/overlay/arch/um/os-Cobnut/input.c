// SPDX-License-Identifier: GPL-2.0
/*
 * Keyboard and mouse, whose driver provides the service `input`, as two devices of Linux's: what a
 * person does is read from /dev/input/event0 and event1. The input's thread waits for the driver and
 * has the main thread take what has come before it waits again.
 *
 * A driver that dies is started again; what is held down meanwhile counts as released.
 */
#include <linux/init.h>
#include <linux/input.h>
#include <linux/interrupt.h>
#include "cobnut.h"

#define RESTART_US	10000

static unsigned char stack[4096] __aligned(16);
static L4_ThreadId_t thread;
static struct service input = { .name = SERVICE_INPUT };

/* From the input's thread: what has happened; all keys are up again, as the driver is another one. */
static struct input_events come;
static bool released;

/* the main thread's own */
static struct input_dev *keyboard, *mouse;

/* Linux numbers keys as scan code set 1 does, but for those that have E0 before them. */
#define LAST_PLAIN	KEY_F12
static const unsigned char extended[INPUT_EXTENDED] = {
	[0x1C] = KEY_KPENTER, [0x1D] = KEY_RIGHTCTRL, [0x35] = KEY_KPSLASH, [0x37] = KEY_SYSRQ,
	[0x38] = KEY_RIGHTALT, [0x46] = KEY_PAUSE, [0x47] = KEY_HOME, [0x48] = KEY_UP,
	[0x49] = KEY_PAGEUP, [0x4B] = KEY_LEFT, [0x4D] = KEY_RIGHT, [0x4F] = KEY_END,
	[0x50] = KEY_DOWN, [0x51] = KEY_PAGEDOWN, [0x52] = KEY_INSERT, [0x53] = KEY_DELETE,
	[0x5B] = KEY_LEFTMETA, [0x5C] = KEY_RIGHTMETA, [0x5D] = KEY_COMPOSE,
};
static const unsigned short buttons[] = { BTN_LEFT, BTN_RIGHT, BTN_MIDDLE };

static unsigned int key_of(unsigned int code)
{
	if (code <= LAST_PLAIN)
		return code;
	return code - INPUT_EXTENDED < INPUT_EXTENDED ? extended[code - INPUT_EXTENDED] : KEY_RESERVED;
}

static void tell_main(void)
{
	events_tell(PENDING_INPUT);
	L4_Receive(main_thread);
}

static void input_thread(void)
{
	L4_Accept(L4_UntypedWordsAcceptor);
	for (;;) {
		if (L4_IsNilThread(input.driver) && service_find(&input)) {
			L4_Sleep(L4_TimePeriod(RESTART_US));
			continue;
		}
		if (service_wait(&input, INPUT_READ, sizeof(come) / 4, (L4_Word_t *)&come)) {
			come.count = 0;
			released = true;
			input.driver = L4_nilthread;
			L4_Sleep(L4_TimePeriod(RESTART_US));
		}
		tell_main();
	}
}

static void move(unsigned int held, int x, int y)
{
	int i;

	for (i = 0; i < ARRAY_SIZE(buttons); i++)
		input_report_key(mouse, buttons[i], held >> i & 1);
	input_report_rel(mouse, REL_X, x);
	input_report_rel(mouse, REL_Y, y);
	input_sync(mouse);
}

static void release_keys(void)
{
	unsigned int key;

	for_each_set_bit(key, keyboard->key, KEY_CNT)
		input_report_key(keyboard, key, 0);
	input_sync(keyboard);
	move(0, 0, 0);
}

static irqreturn_t thread_has_called(int irq, void *unused)
{
	int i;

	if (released)
		release_keys();
	released = false;
	for (i = 0; i < come.count && i < INPUT_MOST; i++) {
		if (come.events[i].kind == INPUT_MOVED) {
			move(come.events[i].key, come.events[i].x, come.events[i].y);
			continue;
		}
		input_report_key(keyboard, key_of(come.events[i].key), come.events[i].kind == INPUT_PRESSED);
		input_sync(keyboard);
	}
	L4_Set_MsgTag((L4_MsgTag_t){ .raw = 0 });
	L4_Send(thread);
	return IRQ_HANDLED;
}

static struct input_dev *__init new_device(const char *name)
{
	struct input_dev *device = input_allocate_device();

	if (device) {
		device->name = name;
		device->id.bustype = BUS_I8042;
	}
	return device;
}

static int __init add_keyboard(void)
{
	int i;

	keyboard = new_device("Cobnut keyboard");
	if (!keyboard)
		return -ENOMEM;
	__set_bit(EV_REP, keyboard->evbit);	/* by Linux: the keyboard's own repetitions change nothing */
	for (i = 1; i <= LAST_PLAIN; i++)
		input_set_capability(keyboard, EV_KEY, i);
	for (i = 0; i < ARRAY_SIZE(extended); i++)
		if (extended[i])
			input_set_capability(keyboard, EV_KEY, extended[i]);
	return input_register_device(keyboard);
}

static int __init add_mouse(void)
{
	int i;

	mouse = new_device("Cobnut mouse");
	if (!mouse)
		return -ENOMEM;
	for (i = 0; i < ARRAY_SIZE(buttons); i++)
		input_set_capability(mouse, EV_KEY, buttons[i]);
	input_set_capability(mouse, EV_REL, REL_X);
	input_set_capability(mouse, EV_REL, REL_Y);
	return input_register_device(mouse);
}

static int __init input_start(void)
{
	int err;

	if (!service_exists(SERVICE_INPUT))
		return 0;
	err = add_keyboard();
	if (!err)
		err = add_mouse();
	if (!err)
		err = request_irq(INPUT_IRQ, thread_has_called, 0, "input", NULL);
	if (err)
		return err;
	return service_thread(input_thread, stack, sizeof(stack), &thread) ? -ENOMEM : 0;
}
device_initcall(input_start);
