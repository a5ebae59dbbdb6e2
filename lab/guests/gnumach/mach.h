/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * GNU Mach's interface, as far as the programs here use it: system calls (traps.S), messages, and calls of the kernel
 * by messages, as MIG's stubs would make them. Numbers and layouts are those of GNU Mach's include/mach (message.h,
 * mach.defs, mach_port.defs, memory_object.defs, notify.h, i386/mach_i386.defs, i386/thread_status.h) for 32 bits.
 */
#ifndef GUESTS_GNUMACH_MACH_H
#define GUESTS_GNUMACH_MACH_H

using Word = unsigned long;
using Name = Word; // of a right in the task's space

constexpr Word page_size = 4096;

/// What becomes of a right that is named in a message, and what sort of data follows there.
enum Type : Word {
    boolean = 0,
    integer_16 = 1,
    integer_32 = 2,
    byte = 9,
    port_name = 15, // only a number
    move_receive = 16,
    send_right = 17, // moved, and what a receiver gets of any send right
    move_send_once = 18,
    copy_send = 19,
    make_send = 20,
    make_send_once = 21,
};
enum Right : Word { receive_right = 1 };
enum Option : Word { send = 1, receive = 2 };
enum Call : Word {
    task_resume = 2057,
    thread_set_state = 2018,
    thread_create = 2061,
    thread_resume = 2063,
    memory_object_data_supply = 2093,
    memory_object_ready = 2094,
    host_reboot = 2635,
    mach_port_type = 3201,
    mach_port_destroy = 3205,
    mach_port_request_notification = 3214,
    io_perm_create = 3805,
    io_perm_modify = 3806,
};
enum FromKernel : Word { dead_name = 72, memory_object_init = 2200, memory_object_data_request = 2203 };

extern "C" {
Name mach_reply_port(void);
Name mach_task_self(void);
Word mach_msg(struct Message *message, Word options, Word send_size, Word receive_size, Name receive_from,
              Word milliseconds, Name notify);
Word vm_map(Name task, Word *address, Word size, Word mask, Word anywhere, Name object, Word offset, Word copy,
            Word protection, Word most_protection, Word inheritance);
Word vm_allocate(Name task, Word *address, Word size, Word anywhere);
Word vm_deallocate(Name task, Word address, Word size);
Word task_create(Name parent, Word inherit_memory, Name *child);
Word task_terminate(Name task);
Word mach_port_allocate(Name task, Word right, Name *name);
Word mach_port_deallocate(Name task, Name name);
Word mach_port_insert_right(Name task, Name name, Name right, Word type);
}

/// What says of what kind the data behind it are: their type, bits of each and how many of them.
constexpr Word described(Word type, Word bits = 32, Word count = 1)
{
    constexpr Word is_inline = 1 << 28;
    return type | bits << 8 | count << 16 | is_inline;
}

/// The first three words of memory that is not in the message itself: its address follows them.
constexpr Word long_form = 1 << 29, long_type = byte | 8 << 16;

struct Message {
    Word bits, size;
    Name remote, local;
    Word sequence, id;
    Word body[26];

    static constexpr Word complex = 1UL << 31; // rights or memory are in it

    /// Begins a message; an answer, if one is wanted, comes to `reply`.
    void to(Name port, Word type, Word number, Name reply = 0)
    {
        bits = type | (reply ? make_send_once << 8 : 0);
        size = 24;
        remote = port;
        local = reply;
        id = number;
    }
    void word(Word value)
    {
        body[(size - 24) / 4] = value;
        size += 4;
    }
    void put(Word value, Word type = integer_32)
    {
        word(described(type));
        word(value);
    }
    void right(Name name, Word type)
    {
        bits |= complex;
        put(name, type);
    }
    void memory(Word address, Word bytes)
    {
        bits |= complex;
        word(long_form);
        word(long_type);
        word(bytes);
        word(address);
    }
    Word send_only() { return mach_msg(this, send, size, 0, 0, 0, 0); }
    Word receive_at(Name port) { return mach_msg(this, receive, 0, sizeof *this, port, 0, 0); }
    Word call(Name answers_at) { return mach_msg(this, send | receive, size, sizeof *this, answers_at, 0, 0); }
};
static_assert(sizeof(Message) == 24 + 26 * 4 && sizeof(Word) == 4);

/// A call of the kernel by a message to `port`, with what is put into `m` in between.
struct KernelCall {
    Message m;
    Name answers_at;

    KernelCall(Name port, Word number, Name reply) : answers_at(reply) { m.to(port, copy_send, number, reply); }

    /// Whether the kernel did it: the answer's number is the call's and 100, its first word the result.
    bool done()
    {
        const Word wanted = m.id + 100;
        return m.call(answers_at) == 0 && m.id == wanted && m.body[1] == 0;
    }
    Word result() const { return m.body[3]; }
};

/// The registers that a thread starts with (i386_THREAD_STATE); the kernel provides the segments itself.
struct ThreadState {
    Word gs, fs, es, ds, edi, esi, ebp, esp, ebx, edx, ecx, eax, eip, cs, flags, user_esp, ss;
};
constexpr Word i386_thread_state = 1, thread_state_words = sizeof(ThreadState) / sizeof(Word);
static_assert(thread_state_words == 17);

#endif
