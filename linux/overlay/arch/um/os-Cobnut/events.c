// SPDX-License-Identifier: GPL-2.0
/*
 * The events thread: sleeps until the deadline that Linux has set, or until root has something for
 * Linux. It runs in the server's space and above the main thread; it waits for that thread only
 * where the main thread waits itself, or is about to.
 */
#include <linux/kernel.h>
#include <linux/irqflags.h>
#include <linux/math64.h>
#include <linux/spinlock.h>
#include <asm/thread_info.h>
#include <os.h>
#include "cobnut.h"

#define CONSOLE_ROOM	1024	/* a power of two */
#define EVENT_DEADLINE	0x0E01	/* from the main thread: there is another deadline */
#define EVENT_WAKE	0x0E02	/* to the main thread */
#define EVENT_DEVICE	0x0E03	/* from a device's thread: what is pending */
#define NEVER		(~0ull)
#define WAKE_US		1000

int signals_enabled, signals_pending;
EXPORT_SYMBOL(signals_enabled);
EXPORT_SYMBOL(signals_pending);
volatile int main_waits;

static unsigned char stack[4096] __aligned(16);
static volatile u64 deadline = NEVER, interval;	/* in nanoseconds of the clock */
static volatile u64 sleeps_until;		/* the events thread does */
static char ring[CONSOLE_ROOM];
static volatile unsigned int ring_in, ring_out;

static void set_deadline(u64 at)
{
	deadline = at;
	if (at >= sleeps_until)
		return;	/* it looks again when it wakes */
	L4_Set_MsgTag((L4_MsgTag_t){ .raw = EVENT_DEADLINE << 16 });
	L4_Send((L4_ThreadId_t){ .raw = server_boot->events });
}

int os_timer_set_interval(unsigned long long ns)
{
	interval = ns;
	set_deadline(os_nsecs() + ns);
	return 0;
}

int os_timer_one_shot(unsigned long long ns)
{
	interval = 0;
	set_deadline(os_nsecs() + ns);
	return 0;
}

void os_timer_disable(void)
{
	interval = 0;
	deadline = NEVER;
}

int os_timer_create(void)
{
	return 0;
}

void timer_set_signal_handler(void)
{
}

static void note(int what)
{
	signals_pending |= what;
}

static void take_character(void)
{
	L4_Word_t c;

	L4_StoreMR(1, &c);
	if (ring_in - ring_out < CONSOLE_ROOM)
		ring[ring_in++ % CONSOLE_ROOM] = c;
	note(PENDING_CONSOLE);
}

int console_take(char *buffer, int room)
{
	int n = 0;

	while (n < room && ring_out != ring_in)
		buffer[n++] = ring[ring_out++ % CONSOLE_ROOM];
	return n;
}

/* For devices' threads: the main thread is to look at the device. */
void events_tell(int what)
{
	L4_Set_MsgTag((L4_MsgTag_t){ .raw = EVENT_DEVICE << 16 | 1 });
	L4_LoadMR(1, what);
	L4_Send((L4_ThreadId_t){ .raw = server_boot->events });
}

static void take_device(void)
{
	L4_Word_t what;

	L4_StoreMR(1, &what);
	note(what);
}

/* A fault or an exception of the main thread's: sends it to the code that reports it. */
static void main_has_crashed(bool exception)
{
	struct x2_registers r;
	L4_Word_t words[4];

	L4_StoreMRs(1, 4, words);
	x2_control(main_thread.raw, X2_HALT | X2_READ, NULL, &crash.registers);
	crash.exception = exception;
	crash.number = exception ? words[2] : 14;
	crash.code = exception ? words[3] : words[2];
	crash.address = exception ? 0 : words[0];
	r = crash.registers;
	r.ip = (L4_Word_t)main_thread_crashed;
	x2_control(main_thread.raw, X2_RESUME | X2_CANCEL | X2_WRITE, &r, NULL);
}

static L4_Time_t until(u64 at)
{
	const s64 ns = at - os_nsecs();

	if (at == NEVER)
		return L4_Never;
	return L4_TimePeriod(ns > 0 ? div_u64(ns, NSEC_PER_USEC) + 1 : 1);
}

/* The server's threads, whose ids are local here, and root's: messages of all others are ignored. */
static bool is_ours(L4_ThreadId_t from)
{
	return L4_IsLocalId(from) || from.raw == server_boot->root || from.raw == server_boot->console;
}

/*
 * The main thread says that it waits a little before it does, and for a little after that: it may
 * be on its way to something that takes long and needs the clock. So nothing here waits for it
 * without looking again.
 */
static void wake_main(void)
{
	L4_MsgTag_t sent;

	do {
		if (!READ_ONCE(signals_pending) || !main_waits)
			return;
		L4_Set_MsgTag((L4_MsgTag_t){ .raw = EVENT_WAKE << 16 });
		sent = L4_Send_Timeout(main_thread, L4_TimePeriod(WAKE_US));
	} while (L4_IpcFailed(sent));
}

static void events(void)
{
	L4_ThreadId_t from;
	L4_MsgTag_t tag;

	L4_Accept(L4_UntypedWordsAcceptor);
	for (;;) {
		sleeps_until = deadline;
		tag = L4_Wait_Timeout(until(sleeps_until), &from);
		sleeps_until = 0;
		if (L4_IpcSucceeded(tag) && is_ours(from)) {
			if (L4_Label(tag) == EVENT_CHARACTER)
				take_character();
			else if (L4_Label(tag) == EVENT_DEVICE)
				take_device();
			else if (L4_Label(tag) == EVENT_FAULT)
				main_has_crashed(false);
			else if (L4_Label(tag) == X2_EXCEPTION)
				main_has_crashed(true);
		}
		if (os_nsecs() >= deadline) {
			deadline = interval ? deadline + interval : NEVER;
			note(PENDING_TIMER);
		}
		wake_main();
	}
}

/* A thread that root has made, and that waits to be started from its space. */
void events_start(void)
{
	struct x2_registers r = { .ip = (L4_Word_t)events, .flags = 0x202,
				  .sp = (L4_Word_t)stack + sizeof(stack) - 16 };

	x2_control(server_boot->events, X2_RESUME | X2_CANCEL | X2_WRITE, &r, NULL);
}

/* Until something is pending; interrupts are off. */
void os_idle_sleep(void)
{
	local_irq_disable();
	main_waits = 1;
	barrier();
	if (!signals_pending)
		L4_Receive((L4_ThreadId_t){ .raw = server_boot->events });
	main_waits = 0;
}
