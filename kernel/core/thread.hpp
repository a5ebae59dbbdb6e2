// SPDX-License-Identifier: BSD-2-Clause
// Thread control blocks and the table that finds them by number.
//
// The kernel has one stack, and no thread owns a piece of it: whatever is left to do for a blocked thread is in its
// control block (its state, what it sends, what happens to what it receives).
#pragma once

#include "arch/context.hpp"
#include "core/list.hpp"
#include "core/mapping.hpp"
#include "core/utcb.hpp"
#include "core/x2.hpp"

struct Space;
struct Thread;
struct Transfer;

// What a thread does. Ids of threads, and anythread, have one of the lowest six bits set: no state looks like one.
enum class State : Word {
    ready = 0,              // running, or in the ready queue
    inactive = 1 << 6,      // has no UTCB and cannot run
    sending = 2 << 6,       // in `partner`'s queue of senders
    receiving = 3 << 6,     // waits for a message from `awaited`
    transferring = 4 << 6,  // its message is on the way; the other of the two moves it, or has a page fault
    open = 5 << 6,          // waits for a message, and the fast path may deliver it
    reflected = 6 << 6,     // waits for the answer to an exception, likewise
    faulted = 7 << 6,       // or to a page fault, as receive_role says, too
};

// Which party reads the message that a thread receives, or wrote the one that it sends.
enum class Role : std::uint8_t {
    user,           // the thread itself, in its message registers
    page_fault,     // the kernel, in the name of a faulting thread (manual 7.3)
    port_fault,     // likewise at an I/O port (sheet 6.2)
    exception,      // likewise for an exception (manual 7.5)
    preemption,  // likewise of a preemption that the thread wants signalled (manual 3.6, 7.4); nothing is received
    quantum,  // likewise for a thread whose total quantum is used up (manual 3.5, 7.4)
    startup,  // likewise for a thread that waits to be started (manual 7.1)
    interrupt,  // an interrupt thread (manual 7.2)
};

enum FastVeto : Word {
    veto_senders = 1,  // `senders` is not empty: one of them may send in the partner's name
    veto_redirected = 2,  // its space has a redirector
    veto_donated = 4,  // it runs on a donated time slice, until it waits (core/schedule.cpp)
    veto_always = 8,  // there is no fast path
    veto_arch = 0x100,  // this and higher ones: the port's own (arch/context.hpp)
};

// What the kernel does next in a thread's name, before the thread itself runs (core/leave.hpp). There are three layers,
// each of which can become pending while those below it are. The uppermost is done first.
enum class Continuation : std::uint8_t {
    nothing,
    // Of a system call that was preempted (docs/preemption.md): `pending`.
    unmap,      // Thread::unmapping
    space_control,  // from its beginning, with the parameters that are still in the registers
    aftermath,  // core/aftermath.hpp
    receive,    // the second phase of an IPC
    print,
    // Of a message on its way; its page faults are IPCs, with a second phase of their own: `transfer`.
    transfer,
    // Messages to other threads when the call is done.
    preemption,  // to its exception handler: `preempted_at`
    quantum,     // to its scheduler: `quantum_over`
};

// The progress of an Unmap, or of a MemoryControl, which is an Unmap that sets attributes.
struct Unmapping {
    Word control;  // as given
    union {
        ThreadId whose;  // a thread of the space that it works on; nil: its own
        Word attributes;  // MemoryControl's four, a byte each
    };
    const Space* space;  // the space of that thread when Unmap began
    Word index;  // of the present fpage
    Fpage fpage;  // the present fpage; nil before its first page
    VAddr at;  // the next address
    Word status;  // status of the pages done so far
};

// What is left to do of a call that has ended threads, identities or spaces (core/aftermath.hpp).
struct Aftermath {
    Word visits;  // threads still to be visited
    ThreadId renamed;  // the thread whose senders by its old id still wait for an error; nil: none
};

// A text on its way to the debug console (core/console.hpp).
struct Printing {
    VAddr at;
    Word left;  // characters, at most
    bool line;  // it ends with a new line
};

// A message that the kernel makes: the sender's own message registers stay untouched.
struct KernelMessage {
    MsgTag tag;
    Word words[kernel_message_words];
};

// A thread's node in the heap of timeouts (core/timeout.cpp).
struct TimeoutNode {
    Thread* parent;
    Thread* left;
    Thread* right;
    Word rank;  // length of the path to the right from here; 0: in no heap
    Word order;  // when it was started, among equal deadlines
    Microseconds deadline;
    bool queued() const { return rank; }
};

struct alignas(thread_alignment) Thread {
    Link<Thread> ready_link;
    Link<Thread> sender_link;
    // The next four have no meaning while the thread runs: an entry that saves too much overwrites them (entry.S).
    ThreadId awaited;  // the sender awaited in the receive phase that is in progress or follows; not while open
    ThreadId virtual_sender;  // the apparent sender of its message: itself unless it propagates
    // the addressee if its redirector gets the message instead; nil otherwise
    ThreadId intended;
    Word receive_timeout;  // the receive phase's timeout (Time), while sending
    // Entries from user mode save the registers here: the end of the frame is their stack.
    Registers registers;
    // From here on a cache line used by the IPC fast path (ia32/fastpath.S).
    Frame frame;  // what iret takes
    // The state. While it is State::open the word is the id of the awaited sender, or anythread, instead: the fast path
    // compares and writes this word; all others call state(), awaits() and become(). An open thread entered by the fast
    // path's kind of system call, waits as a user without a timeout, and continues where that entry left it (`fast`),
    // whatever its frame says.
    Word state_word;
    ThreadId id;
    Space* space;
    VAddr utcb_address;  // the local id
    Word priority;  // effective: the donor's while it runs on a donated time slice, if higher
    Word fast_veto;  // FastVeto bits: nonzero while the fast path must not send for this thread
    Utcb* utcb;  // the kernel's own view of the same memory
    FastEntry fast;

    bool halted;  // runs no user instruction until resumed (ExchangeRegisters)
    bool fast_entry;  // in an IPC by the fast path's kind of system call, and returns from it
    Role send_role;
    Role receive_role;  // of one that is open: see receives_as()
    bool receive_follows;  // the message being sent is followed by a receive phase
    bool quantum_over;  // its scheduler still has to be told
    bool delay_granted;  // by the scheduler, since it was chosen to run: the flag in the UTCB is the user's to write
    Continuation pending;  // of its system call, if that was preempted
    Thread* partner;  // sending: the receiver in whose queue it is
    Word addressed;  // likewise: the receiver's `identity` then
    Word identity;  // how many ids it had before this one: the same id can come again
    // of a sender and a receiver until the message is complete (core/string_transfer.hpp)
    Transfer* transfer;
    KernelMessage message;  // while sending in another role than `user`
    ThreadId scheduler;  // placed here as it fills a gap in the hosts' tests
    Unmapping unmapping;  // not in the union: its walk may be queued
    union {  // by `pending`
        Aftermath aftermath;
        Printing printing;
        Thread* next_sender;  // in `senders`, where the receive phase continues
        Word visits;  // of SpaceControl: spaces still to be searched for holders of a slot
    };
    mappings::Sweep sweep;  // of `unmapping`; queued only while that is pending

    TimeoutNode timeout;
    Link<Thread> all_link;
    Link<Thread> space_link;
    Thread* utcb_next;  // in the same bucket of the index by UTCB address; or in the list of the dying
    List<Thread, &Thread::sender_link> senders;

    Microseconds quantum_left;
    // From here to `preempted_at` in one cache line: what every thread that gives up the processor touches.
    alignas(32) Time timeslice;  // as set; never = not preempted by time
    Time total_quantum;
    Word preemption_control;  // sensitive priority and maximum delay, as set
    Microseconds timeslice_left;
    Word delay_left;  // how much longer its pending preemption may be delayed
    Microseconds preempted_at;  // nonzero: time of a preemption that its exception handler still has to be told of
    ArchThread arch;

    bool is_interrupt() const { return receive_role == Role::interrupt; }
    State state() const { return state_word & 63 ? State::open : static_cast<State>(state_word); }
    bool is(State s) const { return s == State::open ? state_word & 63 : state_word == static_cast<Word>(s); }
    // The awaited sender, in either form of waiting.
    ThreadId awaits() const { return is(State::open) ? ThreadId{state_word} : awaited; }
    Role receives_as() const {
        return is(State::open) ? Role::user : is(State::reflected) ? Role::exception : receive_role;
    }
    // Whether it waits in a state in which the fast path can deliver to it.
    bool waits_fast() const { return is(State::open) || state_word >= static_cast<Word>(State::reflected); }
    bool waits_for_message() const { return is(State::receiving) || waits_fast(); }
    // Every change of state but the fast path's. A thread that waited in such a state has a complete frame afterwards.
    void become(State next);
    // From receiving to one of those states, and back, before other code looks at its registers or at its other fields.
    void open() {
        State kernels = receive_role == Role::exception ? State::reflected : State::faulted;
        state_word = receive_role == Role::user ? awaited.raw : static_cast<Word>(kernels);
    }
    void close() {
        if (waits_fast()) become(State::receiving);
    }
    bool active() const { return !is(State::inactive); }
    // Whether a call or message of its own is in progress: the kernel completes it also while the thread is halted.
    bool in_kernel() const { return transfer || pending != Continuation::nothing; }
    Continuation continuation() const {
        if (pending != Continuation::nothing) return pending;
        if (transfer) return Continuation::transfer;
        if (preempted_at) return Continuation::preemption;
        return quantum_over ? Continuation::quantum : Continuation::nothing;
    }
    // Preemptions by threads up to the sensitive priority are delayed or signalled (manual 3.5).
    Word sensitive_priority() const { return preemption_control >> 16 & 0xff; }
    Word maximum_delay() const { return preemption_control & 0xffff; }
};
static_assert(sizeof(Thread) <= 512);

namespace threads {

// Global ids that are in use resolve; all others give nullptr. The whole word is compared, version included.
Thread* find(ThreadId global);
// Also resolves local ids, in the space of `caller`.
Thread* find(ThreadId id, const Thread& caller);
// By number alone, as ThreadControl names its destination.
Thread* by_number(Word number);
// Whether a thread may have its UTCB there: no other has, and it can be found in a bounded number of steps.
bool may_be_at(const Space& space, VAddr utcb_address);
// A thread with a UTCB is found by its local id from take_address() to leave_address(), which enclose what changes its
// space or address.
void take_address(Thread& thread);
void leave_address(Thread& thread);

// A new inactive thread in `space`; nullptr when kernel memory is exhausted.
Thread* create(ThreadId id, Space& space);
// Gives an inactive thread its UTCB, at its utcb_address, and initial user registers; false when memory is exhausted.
bool equip(Thread& thread, ThreadId pager);
// Takes it out of the table. It must be in no queue and not be running. bury() frees it.
void destroy(Thread& thread);
// Frees destroyed threads whose queues of senders are empty, and sends some of the senders in others an error. True
// when nothing is left.
bool bury();
void set_id(Thread& thread, ThreadId id);
bool exists(ThreadId global);
// The next of all threads, round robin. As many calls as there are threads visit each of them, even if others are
// created and destroyed meanwhile.
Thread& visit();
// Moves the charge for a thread's kernel memory when it migrates: charge() to its new space, false if that may not take
// so much; credit() to its old one.
bool charge(const Thread& thread, Space& space);
void credit(const Thread& thread, Space& space);
// How many there are.
Word in_use();

}  // namespace threads
