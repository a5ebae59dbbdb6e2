/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * What GNU Mach's primitives cost, for the laboratory: the cases of servers/machbench, by the same numbers, as far as
 * this kernel has them for a program alone, and three more. It is GNU Mach's only module, with the arguments
 * `${host-port} ${device-port} $(task-create) $(task-resume)`, and ends the machine. Cases:
 *    1 null      a call of the kernel by a message: mach_port_type
 *    2 port      a port is made and given up
 *    3 rpc       an empty message to another task, and its answer, each sent and awaited by one system call
 *    4 right     the same with a send right, which the receiver gives up
 *    5 memory    the same with 64 KB of memory, which the receiver gives up
 *    6 zero      the first access to a page of zeros
 *    7 copy      a write to a page that was sent in a message
 *    8 pager     the first access to a page of an external pager's
 *   10 fork      a task is made as a copy, ends, and the caller is told
 *   11 page      as 5 with a page of memory
 *   12 trap      a system call that does next to nothing: mach_task_self
 *   13 threads   as 3 with another thread of the same task
 * Where the kernel can be called without a message (kern/ipc_mig.c), as the Hurd's library does it, it is.
 */
#include "mach.h"

#include <cobnut/rounds.h>

namespace {

constexpr unsigned rounds = 48, warmup = 8;
constexpr Word block = 16 * page_size, all_pages = (rounds + warmup) * page_size;

struct alignas(16) Stack {
    char bytes[2 * page_size];
};
Stack stacks[4]; // of the threads besides the first
unsigned stacks_used;
Name self, reply, host, devices;
unsigned failures, first_failure; // the latter is the number of the first promise that did not hold

void must(unsigned number, bool holds)
{
    if (!holds && !failures++) first_failure = number;
}

template <typename Once> void measure(unsigned number, Once once)
{
    cobnut::measure_rounds<warmup, rounds>(number, once);
}

volatile Word *words(Word address) { return reinterpret_cast<volatile Word *>(address); }

Name new_port()
{
    Name port = 0;
    must(1, mach_port_allocate(self, receive_right, &port) == 0);
    return port;
}

/// Starts a thread of `task` that runs `body`, which does not return.
Name start_thread(Name task, void (*body)(), Stack &stack)
{
    KernelCall made(task, thread_create, reply);
    must(2, made.done());
    const Name thread = made.result();
    KernelCall set(thread, thread_set_state, reply);
    set.m.put(i386_thread_state);
    set.m.word(described(integer_32, 32, thread_state_words));
    ThreadState state = {};
    state.eip = reinterpret_cast<Word>(body);
    state.user_esp = reinterpret_cast<Word>(&stack + 1) - 4; // as if it had been called
    const Word *registers = &state.gs;
    for (Word i = 0; i < thread_state_words; i++) set.m.word(registers[i]);
    must(3, set.done());
    must(4, KernelCall(thread, thread_resume, reply).done());
    return thread;
}

/// A task with a copy of this one's memory, without threads and rights.
Name copied_task()
{
    Name task = 0;
    must(5, task_create(self, 1, &task) == 0);
    return task;
}

/// What a thread that serves serves: its task knows it by the same name.
Name served;

/// A port that a thread of a new task, or of this one, receives from; a send right for it is here.
Name serving(void (*body)(), bool in_task_of_its_own)
{
    const Name port = served = new_port();
    must(6, mach_port_insert_right(self, port, port, make_send) == 0);
    const Name task = in_task_of_its_own ? copied_task() : self;
    if (in_task_of_its_own) must(7, mach_port_insert_right(task, port, port, move_receive) == 0);
    start_thread(task, body, stacks[stacks_used++]);
    return port;
}

/// Answers messages for ever, and gives up what they carry.
void echo()
{
    const Name port = served, task = mach_task_self();
    Message m;
    Word failed = m.receive_at(port);
    while (!failed) {
        if (m.bits & Message::complex) {
            if (m.body[0] & long_form) vm_deallocate(task, m.body[3], m.body[2]);
            else mach_port_deallocate(task, m.body[1]);
        }
        m.to(m.remote, move_send_once, 2);
        failed = m.call(port);
    }
    task_terminate(task);
}

/// Provides pages that start with a 7.
void pager()
{
    const Name port = served, task = mach_task_self();
    Word page = 0;
    vm_allocate(task, &page, page_size, 1);
    *words(page) = 7;
    Message m, answer;
    while (m.receive_at(port) == 0) {
        const Name control = m.body[1];
        if (m.id == memory_object_init) {
            answer.to(control, copy_send, memory_object_ready);
            answer.put(0, boolean); // is not kept when nobody uses it
            answer.put(0); // may be copied by mapping it
            answer.send_only();
        } else if (m.id == memory_object_data_request) {
            answer.to(control, send_right, memory_object_data_supply); // each request comes with a right
            answer.put(m.body[3]);
            answer.memory(page, page_size);
            answer.put(0); // nothing is forbidden
            answer.put(0, boolean); // need not come back unless it was written
            answer.right(0, make_send_once);
            answer.send_only();
        }
    }
    task_terminate(task);
}

void messages()
{
    measure(12, [](unsigned) { must(10, mach_task_self() == self); });
    measure(1, [](unsigned) {
        KernelCall call(self, mach_port_type, reply);
        call.m.put(reply, port_name);
        must(11, call.done() && call.result() == 1 << (16 + receive_right));
    });
    measure(2, [](unsigned) {
        KernelCall call(self, mach_port_destroy, reply);
        call.m.put(new_port(), port_name);
        must(12, call.done());
    });
    Message m;
    const auto called = [&m] { return m.call(reply) == 0 && m.id == 2; };
    const Name thread = serving(echo, false);
    const auto call_of = [&](Name port) {
        return [&m, called, port](unsigned) {
            m.to(port, copy_send, 1, reply);
            must(13, called());
        };
    };
    measure(13, call_of(thread));
    const Name other = serving(echo, true);
    measure(3, call_of(other));
    measure(4, [&](unsigned) {
        m.to(other, copy_send, 1, reply);
        m.right(thread, copy_send);
        must(14, called());
    });
    Word at = 0;
    must(15, vm_allocate(self, &at, block, 1) == 0);
    for (Word i = 0; i < block; i += page_size) *words(at + i) = i;
    const auto with_memory = [&](Word bytes) {
        return [&m, called, other, at, bytes](unsigned) {
            m.to(other, copy_send, 1, reply);
            m.memory(at, bytes);
            must(16, called());
        };
    };
    measure(5, with_memory(block));
    measure(11, with_memory(page_size));
    must(17, vm_deallocate(self, at, block) == 0);
}

void pages()
{
    Word at = 0;
    must(20, vm_allocate(self, &at, all_pages, 1) == 0);
    measure(6, [at](unsigned i) { *words(at + i * page_size) = i; });
    const Name port = new_port();
    Message m;
    m.to(port, make_send, 1);
    m.memory(at, all_pages);
    must(21, m.send_only() == 0);
    measure(7, [at](unsigned i) { *words(at + i * page_size) = i + 1; });
    must(22, m.receive_at(port) == 0 && *words(m.body[3] + page_size) == 1 && *words(at + page_size) == 2);
    must(23, vm_deallocate(self, m.body[3], all_pages) == 0);
    const Name object = serving(pager, true);
    Word mapped = 0;
    constexpr Word read = 1;
    must(24, vm_map(self, &mapped, all_pages, 0, 1, object, 0, 0, read, read, 2) == 0);
    measure(8, [mapped](unsigned i) { must(25, *words(mapped + i * page_size) == 7); });
    must(26, vm_deallocate(self, mapped, all_pages) == 0);
}

void end_task() { task_terminate(mach_task_self()); }

void forks()
{
    const Name notified = new_port();
    Stack &stack = stacks[stacks_used++];
    measure(10, [notified, &stack](unsigned) {
        const Name child = copied_task(), thread = start_thread(child, end_task, stack);
        KernelCall ask(self, mach_port_request_notification, reply);
        ask.m.put(child, port_name);
        ask.m.put(dead_name);
        ask.m.put(1); // also if it has ended already
        ask.m.right(notified, make_send_once);
        must(30, ask.done());
        Message m;
        must(31, m.receive_at(notified) == 0 && m.id == dead_name && m.body[1] == child);
        // the notification has made it two
        must(32, mach_port_deallocate(self, child) == 0 && mach_port_deallocate(self, child) == 0);
        must(33, mach_port_deallocate(self, thread) == 0);
    });
}

/// Lets this task write to ports `from` to `to`. Until then no switch has a map of ports to change.
bool use_ports(Word from, Word to)
{
    KernelCall made(devices, io_perm_create, reply);
    made.m.word(described(integer_16, 16));
    made.m.word(from);
    made.m.word(described(integer_16, 16));
    made.m.word(to);
    if (!made.done()) return false;
    KernelCall used(self, io_perm_modify, reply);
    used.m.right(made.result(), copy_send);
    used.m.put(1, boolean);
    return used.done();
}

void out(unsigned short port, unsigned char value) { __asm__ volatile("outb %0, %1" : : "a"(value), "Nd"(port)); }

unsigned char in(unsigned short port)
{
    unsigned char value;
    __asm__ volatile("inb %1, %0" : "=a"(value) : "Nd"(port));
    return value;
}

void print(const char *text)
{
    constexpr unsigned short serial = 0x3f8, line_status = serial + 5;
    constexpr unsigned char empty = 1 << 5;
    for (; *text; text++) {
        while (!(in(line_status) & empty)) {}
        out(serial, static_cast<unsigned char>(*text));
    }
}

/// Says how it went, and ends the machine: by the emulator's port, or, if there is none, by the kernel.
void end()
{
    if (use_ports(0x3f8, 0x3ff) && use_ports(0xf4, 0xf4)) {
        char where[] = "at 00\r\n";
        where[3] = static_cast<char>('0' + first_failure / 10);
        where[4] = static_cast<char>('0' + first_failure % 10);
        print(failures ? "\r\nprimitives: FAIL " : "\r\nprimitives: done\r\n");
        if (failures) print(where);
        out(0xf4, failures ? 1 : 0);
    }
    KernelCall reboot(host, host_reboot, reply);
    reboot.m.put(0);
    reboot.done();
    for (;;) {}
}

Name name_of(const char *digits)
{
    Name name = 0;
    while (digits && *digits >= '0' && *digits <= '9') name = 10 * name + static_cast<Name>(*digits++ - '0');
    return name;
}

} // namespace

/// The initial stack: argument count, arguments (System V ABI for i386).
extern "C" void start(const Word *stack)
{
    const char *const *arguments = reinterpret_cast<const char *const *>(stack + 1);
    self = mach_task_self();
    reply = mach_reply_port();
    must(40, stack[0] == 3);
    host = name_of(stack[0] > 1 ? arguments[1] : nullptr);
    devices = name_of(stack[0] > 2 ? arguments[2] : nullptr);
    messages();
    pages();
    forks();
    end();
}
