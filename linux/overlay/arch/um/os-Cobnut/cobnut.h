/* SPDX-License-Identifier: GPL-2.0 */
/*
 * The os layer on Cobnut: what its files have in common.
 *
 * The server is some threads in one space. The main thread is Linux: all its kernel contexts, and
 * the loop that lets a process's thread run until it wants something. The events thread has a
 * higher priority; it waits for the clock and for root, notes what has happened in
 * signals_pending, and wakes the main thread if that waits. Each device that the server uses of the
 * machine has a thread (services.c), which waits for the device's driver.
 */
#ifndef __COBNUT_H
#define __COBNUT_H

#include <l4/ipc.h>
#include <l4/space.h>
#include <l4/schedule.h>
#include <linux/types.h>
#include <server.h>
#include <services.h>

struct mm_id;
struct file;
struct mm_struct;
struct task_struct;
struct uml_pt_regs;
struct cobnut_thread;

extern const struct server_boot *server_boot;
extern L4_ThreadId_t main_thread;

/* calls.c: the microkernel's, and root's */

/* all registers of a thread, as ExchangeRegisters has them */
struct x2_registers {
	L4_Word_t ip, flags, zero[2], di, si, bp, sp, bx, dx, cx, ax;
};

enum {
	X2_HALT = 1 | 1 << 8,
	X2_RESUME = 1 << 8,
	X2_CANCEL = 3 << 1,
	X2_READ = 1 << 10,
	X2_WRITE = 1 << 11,
};

#define X2_EXCEPTION	0xFFB0
#define X2_PAGE_FAULT	0xFFE0	/* and the access in the lower bits: write 2 */
#define X2_PAGE_WRITE	2
#define X2_PORT_FAULT	0xFF80	/* likewise */
/* In a tag: the program has sent this itself (docs/controlled-spaces.md), whatever the label says. */
#define X2_MADE_UP	(1u << 13)

/* as cobnut/control.h; -1 if there is no such thread */
int x2_control(unsigned long thread, L4_Word_t what, const struct x2_registers *in,
	       struct x2_registers *out);
void x2_init(void);
void x2_unmap(unsigned long thread, int pieces, const L4_Word_t *fpages);
int x2_set_tls(unsigned long thread, unsigned long base, unsigned long *selector);
int root_call(int label, int words, const L4_Word_t *parameters);
int root_alias(unsigned long address, int pages, const unsigned long *frames);
void __noreturn root_off(int status);

/* spaces.c */
int cobnut_make_thread(struct task_struct *task);
void cobnut_drop_thread(struct cobnut_thread *thread);
void cobnut_drop_space(struct mm_id *id);
void *cobnut_stub_data(struct mm_id *id);

/* layout.c */
void cobnut_enlarge(struct mm_struct *mm);
unsigned long cobnut_stub(const struct mm_id *id);
unsigned long cobnut_unmapped_area(struct file *file, unsigned long address, unsigned long length,
				   unsigned long offset, unsigned long flags);

/* tlb.c: the page of the kernel's that a process has at an address, or 0 */
unsigned long cobnut_user_page(struct mm_struct *mm, unsigned long address, bool write,
			       bool *writable);
unsigned long cobnut_young_page(struct mm_struct *mm, unsigned long address, bool *writable);
void cobnut_evict(void);

/* process.c */
int cobnut_run_stub(struct task_struct *task, unsigned int offset, unsigned long ax,
		    unsigned long cx, unsigned long *result);
void cobnut_quiesce(struct task_struct *task);

/* vdso.c */
bool cobnut_without_sysenter(struct uml_pt_regs *regs);

/* fpu.c, tls.c, debug.c */
void cobnut_fpu_init(void);
void cobnut_tls_init(void);
void cobnut_load_tls(struct task_struct *task);
bool cobnut_segment_fault(struct uml_pt_regs *regs, unsigned int code);
int cobnut_write_fpu(struct task_struct *task);
int cobnut_fpu_code(struct task_struct *task, bool simd);
void cobnut_load_debug(struct task_struct *task);
unsigned long cobnut_debug_status(struct task_struct *task);
bool cobnut_before_instruction(struct task_struct *task, unsigned long status);

/* clock.c */
void clock_start(void);

/* events.c */
enum { PENDING_TIMER = 1, PENDING_CONSOLE = 2, PENDING_BLOCK = 4, PENDING_NET = 8,
       PENDING_SCREEN = 16, PENDING_INPUT = 32 };
void events_start(void);
void events_tell(int what);
extern volatile int main_waits;
int console_take(char *buffer, int room);

/* interrupts.c */
void deliver_in_process(struct uml_pt_regs *regs);
#define CONSOLE_IRQ	1
#define BLOCK_IRQ	2
#define NET_IRQ		3
#define SCREEN_IRQ	4
#define INPUT_IRQ	5

/* services.c */
struct service {
	const char *name;
	L4_ThreadId_t driver;	/* nobody: to be looked for */
};
bool service_exists(const char *name);
int service_thread(void (*begin)(void), void *stack, unsigned long size, L4_ThreadId_t *made);
int service_find(struct service *service);
int service_open(struct service *service, int operation, L4_Word_t *answer, int answers);
int service_call(L4_ThreadId_t to, int operation, int words, const L4_Word_t *in, int answers,
		 L4_Word_t *out);
int service_buffer(L4_Word_t pages, L4_Word_t address, L4_Word_t *handle);
int service_attach(L4_Word_t handle, L4_Word_t address);
void service_detach(L4_Word_t address);
int service_wait(const struct service *service, int operation, int answers, L4_Word_t *out);
int service_pass(L4_Word_t handle, const struct service *service);
#define SERVICE_SILENT	(-1)	/* no answer in time */

/* machine.c */
void __noreturn main_thread_crashed(void);
extern struct crash {
	bool exception;
	L4_Word_t number, code, address;
	struct x2_registers registers;
} crash;

#endif
