// SPDX-License-Identifier: GPL-2.0
/*
 * The loop in which a task's thread runs in its space until it needs a system call, a page, or a
 * signal for what it has done. Each comes as a message of the microkernel's, and the answer resumes
 * the thread; one that was stopped from outside is resumed by ExchangeRegisters.
 *
 * A thread may also send messages of its own making. They reach nobody but this server, whatever
 * they pretend to be: the microkernel marks them.
 */
#include <linux/kernel.h>
#include <linux/mm.h>
#include <linux/ptrace.h>
#include <linux/sched.h>
#include <linux/sched/signal.h>
#include <linux/signal.h>
#include <linux/uaccess.h>
#include <asm/unistd.h>
#include <as-layout.h>
#include <kern_util.h>
#include <os.h>
#include <skas.h>
#include <asm/syscall.h>
#include "cobnut.h"
#include "process.h"
#include "stub.h"
#include "vdso.h"

extern char stub_page[];

#define GENERAL_PROTECTION	13
#define TRAP_FLAG		0x100
#define RESUME_FLAG		0x10000
#define INTO			0xCE
#define INTO_LENGTH		1
#define NO_SYSCALL		-1L
#define AROUND			16	/* pages of a file that Linux finds together */
#define MOST_REFUSED		4	/* answers to faults */
#define FIRST_ACCESS		8	/* beside the access of a fault: Linux has just got the page */

enum { DIVIDE = 0, DEBUG = 1, BREAKPOINT = 3, OVERFLOW = 4, BOUNDS = 5, INVALID_OPCODE = 6, NO_FPU = 7,
       PAGE = 14, FPU_ERROR = 16, ALIGNMENT = 17, SIMD_ERROR = 19 };

static __always_inline L4_Word_t *messages(void)
{
	return (L4_Word_t *)__L4_Utcb();
}

static __always_inline void load_registers(const unsigned long *gp)
{
	L4_Word_t *mr = messages();

	mr[MR_IP] = gp[HOST_IP];
	mr[MR_FLAGS] = gp[HOST_EFLAGS];
	mr[MR_CODE] = 0;
	mr[MR_DI] = gp[HOST_DI];
	mr[MR_SI] = gp[HOST_SI];
	mr[MR_BP] = gp[HOST_BP];
	mr[MR_SP] = gp[HOST_SP];
	mr[MR_BX] = gp[HOST_BX];
	mr[MR_DX] = gp[HOST_DX];
	mr[MR_CX] = gp[HOST_CX];
	mr[MR_AX] = gp[HOST_AX];
}

static __always_inline void store_registers(unsigned long *gp)
{
	const L4_Word_t *mr = messages();

	gp[HOST_DI] = mr[MR_DI];
	gp[HOST_SI] = mr[MR_SI];
	gp[HOST_BP] = mr[MR_BP];
	gp[HOST_SP] = mr[MR_SP];
	gp[HOST_BX] = mr[MR_BX];
	gp[HOST_DX] = mr[MR_DX];
	gp[HOST_CX] = mr[MR_CX];
	gp[HOST_AX] = mr[MR_AX];
}

/*
 * Resumes the thread with the registers that are loaded, or, in a fault, with the answer that is
 * loaded. Returns the thread to which that is to be sent, or 0.
 */
static __always_inline L4_Word_t release(struct cobnut_thread *thread)
{
	L4_Word_t control[6] = { X2_RESUME | X2_CANCEL | X2_WRITE };

	if (likely(thread->state == COBNUT_EXCEPTION)) {
		messages()[0] = REGISTER_WORDS;
		return thread->id;
	}
	if (thread->state == COBNUT_FAULT)
		return thread->id;
	__L4_Raw_ExchangeRegisters(thread->id, control);
	return 0;
}

/* Stops the task's thread wherever it is, and reads the registers with which it would have gone on. */
static void stop(struct task_struct *task)
{
	struct cobnut_thread *thread = &task->thread.arch.cobnut;
	struct uml_pt_regs *regs = &task->thread.regs.regs;
	L4_Word_t control[6] = { X2_HALT | X2_READ };

	__L4_Raw_ExchangeRegisters(thread->id, control);
	thread->state = COBNUT_STOPPED;
	regs->gp[HOST_IP] = messages()[MR_IP];
	regs->gp[HOST_EFLAGS] = messages()[MR_FLAGS];
	store_registers(regs->gp);
	if (unlikely(test_tsk_thread_flag(task, TIF_SINGLESTEP)))
		regs->gp[HOST_EFLAGS] &= ~TRAP_FLAG;
}

/* Has Linux know all registers of a task that is not running: a page fault's message does not carry them. */
void cobnut_quiesce(struct task_struct *task)
{
	if (task->thread.arch.cobnut.state == COBNUT_FAULT)
		stop(task);
}

/* Adds a page to the answer to a fault, which has `items` already. */
static void load_item(int items, unsigned long page, unsigned long address, bool writable)
{
	const L4_Word_t rights = writable ? L4_FullyAccessible : L4_ReadeXecOnly;
	const L4_MapItem_t item =
		L4_MapItem(L4_FpageAddRights(L4_FpageLog2(page, PAGE_SHIFT), rights), address);
	L4_Word_t *mr = messages();

	mr[1 + 2 * items] = item.raw[0];
	mr[2 + 2 * items] = item.raw[1];
	mr[0] = 2 * (items + 1) << 6;
}

/* Both pages of ours that a space has: the second with the first, as a stub needs both. */
static bool load_stub(struct mm_id *space, unsigned long address, bool write)
{
	const unsigned long stub = cobnut_stub(space);
	void *data = cobnut_stub_data(space);

	if (!data || (address == stub && write))
		return false;
	load_item(0, (unsigned long)stub_page, stub, false);
	load_item(1, (unsigned long)data, stub + PAGE_SIZE, true);
	return true;
}

/* Others that Linux has found together with this one. */
static void load_neighbours(struct mm_struct *mm, unsigned long address)
{
	const unsigned long start = address & ~(AROUND * PAGE_SIZE - 1);
	unsigned long at, page;
	bool writable;
	int items = 1;

	for (at = start; at < start + AROUND * PAGE_SIZE; at += PAGE_SIZE) {
		if (at == address)
			continue;
		page = cobnut_young_page(mm, at, &writable);
		if (page)
			load_item(items++, page, at, writable);
	}
}

/* Loads the answer to the thread's fault, if Linux has the page. */
static bool load_page(struct mm_struct *mm, struct cobnut_thread *thread)
{
	const unsigned long address = thread->fault_address & PAGE_MASK;
	const bool write = thread->fault_access & X2_PAGE_WRITE;
	unsigned long page;
	bool writable;

	if (unlikely(address - cobnut_stub(&mm->context.id) < 2 * PAGE_SIZE))
		return load_stub(&mm->context.id, address, write);
	page = cobnut_user_page(mm, address, write, &writable);
	if (!page)
		return false;
	/* a page of the display's: root maps it here when it is touched */
	if (unlikely(page >= high_physmem))
		READ_ONCE(*(const char *)page);
	load_item(0, page, address, writable);
	if (thread->fault_access & FIRST_ACCESS && !write)
		load_neighbours(mm, address);
	return true;
}

static void note_fault(struct cobnut_thread *thread, L4_Word_t tag, unsigned long address)
{
	thread->state = COBNUT_FAULT;
	thread->fault_address = address;
	thread->fault_access = tag >> 16 & 7;
}

static __always_inline bool is_fault(L4_Word_t tag)
{
	return (tag & (0xFFF00000 | X2_MADE_UP)) == (L4_Word_t)X2_PAGE_FAULT << 16;
}

static __always_inline bool is_exception(L4_Word_t tag)
{
	return (tag & (0xFFFF0000 | X2_MADE_UP)) == (L4_Word_t)X2_EXCEPTION << 16;
}

/*
 * Has the task's thread run a piece of the stub page, and waits for its end; its own registers are
 * restored when it is resumed. `result` gets EAX. An error if the thread could not run it.
 */
int cobnut_run_stub(struct task_struct *task, unsigned int offset, unsigned long ax,
		    unsigned long cx, unsigned long *result)
{
	struct cobnut_thread *thread = &task->thread.arch.cobnut;
	const L4_ThreadId_t id = { .raw = thread->id };
	unsigned long gp[MAX_REG_NR] = { [HOST_IP] = cobnut_stub(&task->mm->context.id) + offset,
					 [HOST_EFLAGS] = USER_FLAGS, [HOST_AX] = ax, [HOST_CX] = cx };
	L4_MsgTag_t tag;
	L4_Word_t to;
	int faults = 0;

	/* the answer to a fault carries no registers */
	if (thread->state == COBNUT_FAULT)
		thread->state = COBNUT_STOPPED;
	load_registers(gp);
	to = release(thread);
	for (;;) {
		tag = to ? L4_Call(id) : L4_Receive(id);
		thread->state = COBNUT_STOPPED;
		if (L4_IpcFailed(tag))
			return -EFAULT;
		if (!is_fault(tag.raw))
			break;
		note_fault(thread, tag.raw, messages()[1]);
		if (++faults > 4 || !load_page(task->mm, thread))
			return -EFAULT;
		to = thread->id;
	}
	thread->state = COBNUT_EXCEPTION;
	if (!is_exception(tag.raw) || messages()[MR_NUMBER] != GENERAL_PROTECTION ||
	    messages()[MR_CODE] != INT_CODE(STUB_DONE))
		return -EFAULT;
	if (result)
		*result = messages()[MR_AX];
	return 0;
}

/* A thread for the task if it has none, with its segment and coprocessor registers. */
static void prepare(struct task_struct *task)
{
	struct cobnut_thread *thread = &task->thread.arch.cobnut;

	if (thread->state == COBNUT_NONE && cobnut_make_thread(task)) {
		printk(KERN_WARNING "%s[%d]: no thread of the microkernel's for it\n", task->comm,
		       task_pid_nr(task));
		force_fatal_sig(SIGKILL);
		return;
	}
	/* what follows has the thread run elsewhere */
	cobnut_quiesce(task);
	thread->ready = 1;
	cobnut_load_tls(task);
	if (thread->fpu) {
		thread->fpu = 0;
		cobnut_write_fpu(task);
	}
	if (thread->debug) {
		thread->debug = 0;
		cobnut_load_debug(task);
	}
}

static void send_fault(int signal, int code, struct uml_pt_regs *regs, int number, int error,
		       unsigned long address)
{
	struct faultinfo info = { .error_code = error, .cr2 = address, .trap_no = number };

	regs->faultinfo = info;
	current->thread.arch.faultinfo = info;
	force_sig_fault(signal, code, (void __user *)address);
}

/* An int $4 or into, for which the microkernel lets programs have no gate: as if they had, it is behind them. */
static bool is_overflow(struct uml_pt_regs *regs, unsigned int number, unsigned int code)
{
	unsigned char opcode;

	if (number != GENERAL_PROTECTION || code != INT_CODE(OVERFLOW) ||
	    get_user(opcode, (unsigned char __user *)regs->gp[HOST_IP]))
		return false;
	regs->gp[HOST_IP] += opcode == INTO ? INTO_LENGTH : INT_LENGTH;
	return true;
}

static void exception(struct uml_pt_regs *regs, unsigned int number, unsigned int code)
{
	const unsigned long ip = regs->gp[HOST_IP];
	unsigned long status;
	int reason;

	if (is_overflow(regs, number, code)) {
		number = OVERFLOW;
		code = 0;
	}
	if ((number == GENERAL_PROTECTION || number == INVALID_OPCODE) && !code && cobnut_without_sysenter(regs))
		return;
	if (number == GENERAL_PROTECTION && cobnut_segment_fault(regs, code))
		return;
	current->thread.arch.faultinfo = (struct faultinfo){ .error_code = code, .trap_no = number };
	switch (number) {
	case DIVIDE:
		return send_fault(SIGFPE, FPE_INTDIV, regs, number, code, ip);
	case DEBUG:
		status = cobnut_debug_status(current);
		if (cobnut_before_instruction(current, status))
			regs->gp[HOST_EFLAGS] |= RESUME_FLAG;
		reason = status & 15 ? TRAP_HWBKPT : TRAP_TRACE;
		return send_fault(SIGTRAP, reason, regs, number, code, ip);
	case BREAKPOINT:
		return force_sig(SIGTRAP);
	case NO_FPU:
		/* no memory for its registers; the instruction comes again */
		return cobnut_evict();
	case OVERFLOW:
	case BOUNDS:
	case GENERAL_PROTECTION:
		return force_sig(SIGSEGV);
	case INVALID_OPCODE:
		return send_fault(SIGILL, ILL_ILLOPN, regs, number, code, ip);
	case FPU_ERROR:
	case SIMD_ERROR:
		reason = cobnut_fpu_code(current, number == SIMD_ERROR);
		return send_fault(SIGFPE, reason, regs, number, code, ip);
	case ALIGNMENT:
		return send_fault(SIGBUS, BUS_ADRALN, regs, number, code, ip);
	default:
		return force_sig(SIGBUS);
	}
}

/* A page that Linux has not got for the thread yet, or a signal. */
static void page_fault(struct cobnut_thread *thread, struct uml_pt_regs *regs)
{
	const unsigned long address = thread->fault_address;
	const bool write = thread->fault_access & X2_PAGE_WRITE;
	int code;

	if (address < TASK_SIZE && !handle_page_fault(address, 0, write, 1, &code)) {
		thread->fault_access |= FIRST_ACCESS;
		return;
	}
	cobnut_quiesce(current);
	if (cobnut_segment_fault(regs, 0))
		return;
	regs->faultinfo = (struct faultinfo){
		.error_code = 4 | (write ? 2 : 0), .cr2 = address, .trap_no = PAGE };
	segv(regs->faultinfo, regs->gp[HOST_IP], 1, regs);
}

/* What has come is no system call: nothing is to start again. */
static void note_no_call(struct uml_pt_regs *regs)
{
	regs->gp[HOST_ORIG_AX] = NO_SYSCALL;
	UPT_SYSCALL_NR(regs) = NO_SYSCALL;
}

/*
 * Calls by sysenter that entry.S leaves to handle(): with six parameters, as
 * arch/x86/entry/syscalls/syscall_32.tbl has them, or behind which the program may go on elsewhere
 * than it called: in those that make processes and threads a tracer may set registers.
 */
const unsigned char left_by_sysenter[__NR_syscalls] = {
	[__NR_execve] = 1, [__NR_execveat] = 1, [__NR_mremap] = 1, [__NR_rt_sigreturn] = 1,
	[__NR_sigreturn] = 1, [__NR_fork] = 1, [__NR_vfork] = 1, [__NR_clone] = 1, [__NR_clone3] = 1,
	[__NR_ipc] = 1, [__NR_mmap2] = 1, [__NR_futex] = 1, [__NR_fadvise64_64] = 1, [__NR_mbind] = 1,
	[__NR_pselect6] = 1, [__NR_splice] = 1, [__NR_sync_file_range] = 1, [__NR_move_pages] = 1,
	[__NR_epoll_pwait] = 1, [__NR_fallocate] = 1, [__NR_fanotify_mark] = 1,
	[__NR_process_vm_readv] = 1, [__NR_process_vm_writev] = 1, [__NR_sendto] = 1,
	[__NR_recvfrom] = 1, [__NR_copy_file_range] = 1, [__NR_preadv2] = 1, [__NR_pwritev2] = 1,
	[__NR_io_pgetevents] = 1, [__NR_pselect6_time64] = 1, [__NR_io_pgetevents_time64] = 1,
	[__NR_futex_time64] = 1, [__NR_io_uring_enter] = 1, [__NR_epoll_pwait2] = 1,
};

/* A fault at an I/O port, of which programs have none; or a message that the program has made up. */
static noinline void other_message(struct uml_pt_regs *regs, L4_Word_t tag)
{
	stop(current);
	note_no_call(regs);
	if ((tag & (0xFFF00000 | X2_MADE_UP)) != (L4_Word_t)X2_PORT_FAULT << 16)
		return (void)force_sig(SIGSYS);
	current->thread.arch.faultinfo = (struct faultinfo){ .trap_no = GENERAL_PROTECTION };
	force_sig(SIGSEGV);
}

/* For entry.S: a tracer wants to hear of the end of a call of whose beginning it has not asked. */
asmlinkage void cobnut_stop_behind_call(struct task_struct *task)
{
	syscall_trace_leave(&task->thread.regs);
}

/* A call that entry.S leaves to others, with its registers stored. */
static void other_call(struct uml_pt_regs *regs)
{
	regs->gp[HOST_ORIG_AX] = regs->gp[HOST_AX];
	handle_syscall(regs);
}

static void handle(struct task_struct *task, struct uml_pt_regs *regs, const struct message *message)
{
	struct cobnut_thread *thread = &task->thread.arch.cobnut;
	unsigned long *gp = regs->gp;
	unsigned int number, code;

	if (!is_exception(message->tag)) {
		if (unlikely(!is_fault(message->tag)))
			return other_message(regs, message->tag);
		note_no_call(regs);
		return note_fault(thread, message->tag, message->first[0]);
	}
	thread->state = COBNUT_EXCEPTION;
	number = messages()[MR_NUMBER];
	code = messages()[MR_CODE];
	gp[HOST_IP] = message->first[0];
	gp[HOST_EFLAGS] = message->first[1];
	store_registers(gp);
	if (test_tsk_thread_flag(task, TIF_SINGLESTEP))
		gp[HOST_EFLAGS] &= ~TRAP_FLAG;
	if (number == GENERAL_PROTECTION && code == INT_CODE(LINUX_CALL)) {
		gp[HOST_IP] += INT_LENGTH;
		return other_call(regs);
	}
	if (code != SYSENTER_CODE) {
		note_no_call(regs);
		return exception(regs, number, code);
	}
	gp[HOST_IP] = task->mm->context.id.vdso + VDSO_BACK;
	gp[HOST_SP] += VDSO_FRAME;
	/* the sixth parameter is on the stack */
	if (!get_user(gp[HOST_BP], (unsigned long __user *)gp[HOST_SP]))
		return other_call(regs);
	note_no_call(regs);
	gp[HOST_AX] = -EFAULT;
}

static bool has_failed(const struct message *message)
{
	return L4_IpcFailed((L4_MsgTag_t){ .raw = message->tag });
}

static bool is_from(const struct cobnut_thread *thread, const struct message *message)
{
	return !has_failed(message) && message->from == thread->id;
}

/* Of another process's thread, for which this is not the time. */
static bool is_strange(const struct cobnut_thread *thread, const struct message *message)
{
	/* the events thread is not: threads of one space know each other by local ids */
	return !has_failed(message) && message->from != thread->id &&
	       !L4_IsLocalId((L4_ThreadId_t){ .raw = message->from });
}

/* As cobnut_exchange(), without messages that are for nobody; main_waits is 0 then. */
static bool wait(struct task_struct *task, L4_Word_t to, struct message *message)
{
	bool told;

	do {
		told = cobnut_exchange(task, to, message);
		to = 0;
	} while (told && unlikely(is_strange(&task->thread.arch.cobnut, message)));
	main_waits = 0;
	return told;
}

/*
 * After an answer to a fault, when no message has come: false if the answer has failed too often to
 * try again.
 */
static bool unmapped(L4_Word_t tag, int *refused)
{
	if (!L4_IpcFailed((L4_MsgTag_t){ .raw = tag })) {
		*refused = 0;
		return true;
	}
	cobnut_evict();
	if (++*refused < MOST_REFUSED)
		return true;
	printk(KERN_WARNING "%s[%d]: the microkernel maps no page for it\n", current->comm,
	       task_pid_nr(current));
	return false;
}

void userspace(struct uml_pt_regs *regs, unsigned long *unused)
{
	struct task_struct *task = current;
	struct cobnut_thread *thread = &task->thread.arch.cobnut;
	struct message message;
	int refused = 0;

	regs->is_user = 1;
	for (;;) {
		const unsigned long flags = read_task_thread_flags(task);

		if (flags & _TIF_WORK_MASK) {
			/* signals and others look at registers, which a fault does not bring */
			cobnut_quiesce(task);
			interrupt_end();
			continue;
		}
		if (unlikely(!thread->ready)) {
			prepare(task);
			continue;
		}
		/* from here on the events thread sends what it notes */
		main_waits = 1;
		barrier();
		if (unlikely(*(volatile int *)&signals_pending)) {
			main_waits = 0;
			local_irq_disable();
			local_irq_enable();
			continue;
		}
		if (thread->state != COBNUT_FAULT) {
			load_registers(regs->gp);
			if (unlikely(flags & _TIF_SINGLESTEP))
				messages()[MR_FLAGS] |= TRAP_FLAG;
		} else if (!load_page(task->mm, thread)) {
			main_waits = 0;
			page_fault(thread, regs);
			continue;
		}
		if (!wait(task, release(thread), &message))
			continue;
		if (likely(is_from(thread, &message))) {
			handle(task, regs, &message);
			continue;
		}
		/* an event, or the thread cannot be answered: it is stopped */
		note_no_call(regs);
		if (unlikely(thread->state == COBNUT_FAULT && !unmapped(message.tag, &refused)))
			force_fatal_sig(SIGKILL);
		stop(task);
		local_irq_disable();
		deliver_in_process(regs);
		local_irq_enable();
	}
}
