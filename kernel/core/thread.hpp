// SPDX-License-Identifier: BSD-2-Clause
// Thread control blocks and the table that finds them by number.
//
// The kernel has one stack, and no thread owns a piece of it: whatever a blocked thread still has to do stands in its
// control block (its state, what it sends, what happens to what it receives). Nothing of the kernel has to be kept
// alive while a thread waits.
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

// Who reads the message that a thread receives, and who wrote the one that it sends.
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
    veto_senders = 1,  // `senders` is not empty: somebody may be queued in the partner's name, too
    veto_redirected = 2,  // its space has a redirector
    veto_donated = 4,  // it runs by a time slice that it was given, until it waits (core/schedule.cpp)
    veto_arch = 0x100,  // this and higher ones: the port's own (arch/context.hpp)
};

// What the kernel does next in a thread's name, before the thread itself runs (core/leave.hpp). A thread can have one
// of each of three layers, for each can come while the ones below wait. The uppermost is done first.
enum class Continuation : std::uint8_t {
    nothing,
    // Of a system call that let an interrupt in (docs/preemption.md): `pending`.
    unmap,      // Thread::unmapping
    aftermath,  // of what has ended
    receive,    // the second phase of an IPC
    print,
    // Of a message on its way; its page faults are IPCs, with a second phase of their own: `transfer`.
    transfer,
    // What others are to be told when the call is through.
    preemption,  // its exception handler: `preempted_at`
    quantum,     // its scheduler: `quantum_over`
};

// How far an Unmap has come.
struct Unmapping {
    Word control;  // as given
    ThreadId whose;  // space it is done in, by a thread of that; nil: its own
    const Space* space;  // of that thread, when it began
    Word index;  // of the fpage in hand
    Fpage fpage;  // itself; nil before its first page
    VAddr at;  // the first address that is still to be done
    Word status;  // of those that are done
};

// What is left to do of a call that has ended threads, identities or spaces (core/aftermath.hpp).
struct Aftermath {
    Word visits;  // threads still to be visited
    ThreadId renamed;  // whose senders to its old id are still to be told; nil: nobody's
};

// A text on its way to the debug console (core/console.hpp).
struct Printing {
    VAddr at;
    Word left;  // characters, at most
    bool line;  // it ends with a new line
};

// A message that the kernel makes stands here: the sender's own message registers stay untouched.
struct KernelMessage {
    MsgTag tag;
    Word words[kernel_message_words];
};

// A thread's node in the heap of timeouts (core/timeout.cpp).
struct TimeoutNode {
    Thread* parent;
    Thread* left;
    Thread* right;
    Word rank;  // nodes on the way to the right from here to the end; 0: in no heap
    Word order;  // of its start, among equal deadlines
    Microseconds deadline;
    bool queued() const { return rank; }
};

struct alignas(thread_alignment) Thread {
    Link<Thread> ready_link;
    Link<Thread> sender_link;
    // The next four mean nothing while the thread runs: an entry that saves more than it should falls on them
    // (entry.S).
    ThreadId awaited;  // whom it waits for in the receive phase, unless it is open, or in the one that follows
    ThreadId virtual_sender;  // in whose name it sends; itself unless it propagates
    // to whom it would send if its redirector did not get it; nil if that is its partner
    ThreadId intended;
    Word receive_timeout;  // its timeout (Time), while sending
    // Entries from user mode save the registers right here: the end of the frame is their stack.
    Registers registers;
    // From here on a cache line that is the IPC fast path's (ia32/fastpath.S).
    Frame frame;  // what iret takes
    // Its state; or, while that is State::open, the one sender, or anythread, whom it waits for. It entered by the fast
    // path's kind of system call then, waits as a user, without a timeout, and goes on where that entry left it
    // (`fast`), whatever its frame says. The fast path compares this word and writes it; all others call state(),
    // awaits() and become().
    Word state_word;
    ThreadId id;
    Space* space;
    VAddr utcb_address;  // the local id
    Word priority;  // with what it was given of another's time slice, that one's if it is higher
    Word fast_veto;  // FastVeto bits: nonzero while the fast path must not send for this thread
    Utcb* utcb;  // the kernel's own view of the same memory
    FastEntry fast;

    bool halted;  // runs no user instruction until resumed (ExchangeRegisters)
    bool fast_entry;  // in an IPC that came by the fast path's kind of system call, and returns from it
    Role send_role;
    Role receive_role;  // of one that is open: see receives_as()
    bool receive_follows;  // the message being sent is followed by a receive phase
    bool quantum_over;  // its scheduler is still to be told of that
    bool put_off;  // a preemption is, since it was chosen to run: its flag in the UTCB is the user's
    Continuation pending;  // of its system call, if that let an interrupt in
    Thread* partner;  // sending: in whose queue
    Word addressed;  // likewise: its `identity` then
    Word identity;  // how many ids it has had before this one; an old id can come again
    // sender and receiver of strings, until they have arrived (core/string_transfer.hpp)
    Transfer* transfer;
    KernelMessage message;  // sending in another role than `user`
    ThreadId scheduler;  // here it fills a gap that the hosts' tests have
    Unmapping unmapping;  // by itself: its walk may stand among those that are paused
    union {  // by `pending`
        Aftermath aftermath;
        Printing printing;
        Thread* next_sender;  // of those queued here, whom the receive phase looks at next
    };
    mappings::Sweep sweep;  // of `unmapping`; queued only while that is pending

    TimeoutNode timeout;
    Link<Thread> all_link;
    Link<Thread> space_link;
    Thread* utcb_next;  // in the same bucket of the index by UTCB address; or among the dying
    List<Thread, &Thread::sender_link> senders;

    Microseconds quantum_left;
    // From here to `preempted_at`, in one line of the cache: what every thread that gives way touches.
    alignas(32) Time timeslice;  // as set; never = not preempted by time
    Time total_quantum;
    Word preemption_control;  // sensitive priority and maximum delay, as set
    Microseconds timeslice_left;
    Word delay_left;  // how long its pending preemption may still be put off
    Microseconds preempted_at;  // nonzero: a preemption that its exception handler is still to be told of
    ArchThread arch;

    bool is_interrupt() const { return receive_role == Role::interrupt; }
    State state() const { return state_word & 63 ? State::open : static_cast<State>(state_word); }
    bool is(State s) const { return s == State::open ? state_word & 63 : state_word == static_cast<Word>(s); }
    // Whom it waits for, in either form of waiting.
    ThreadId awaits() const { return is(State::open) ? ThreadId{state_word} : awaited; }
    Role receives_as() const {
        return is(State::open) ? Role::user : is(State::reflected) ? Role::exception : receive_role;
    }
    // Whether the fast path has left it waiting, or may end that.
    bool waits_fast() const { return is(State::open) || state_word >= static_cast<Word>(State::reflected); }
    bool waits_for_message() const { return is(State::receiving) || waits_fast(); }
    // Every change of state but the fast path's. A thread that waited by that has a whole frame afterwards.
    void become(State next);
    // From receiving to open, and from any fast way of waiting back: for whoever looks at its registers or at what
    // else it waits under.
    void open() {
        State kernels = receive_role == Role::exception ? State::reflected : State::faulted;
        state_word = receive_role == Role::user ? awaited.raw : static_cast<Word>(kernels);
    }
    void close() {
        if (waits_fast()) become(State::receiving);
    }
    bool active() const { return !is(State::inactive); }
    // Whether a call or message of its own is not through: the kernel goes on with it also while the thread is halted.
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
// A thread of `space` by its UTCB address.
Thread* by_utcb(const Space& space, VAddr utcb_address);
// A thread with a UTCB is found by it from take_address() to leave_address(), which enclose what changes its space or
// address.
void take_address(Thread& thread);
void leave_address(Thread& thread);

// A new inactive thread in `space`; nullptr when kernel memory is exhausted.
Thread* create(ThreadId id, Space& space);
// Gives an inactive thread its UTCB, at its utcb_address, and user registers to start from; false when memory is
// exhausted.
bool equip(Thread& thread, ThreadId pager);
// Takes it out of the table. It must be in no queue and not be running. bury() frees it.
void destroy(Thread& thread);
// Frees what was destroyed, as far as nobody is queued there any more, and tells some of those who are. True when
// nothing is left.
bool bury();
void set_id(Thread& thread, ThreadId id);
bool exists(ThreadId global);
// One of all threads. As many calls as there are threads bring each, though others are created and destroyed meanwhile.
Thread& visit();
// The kernel memory that it takes, when it goes from one space to another: charged to that, false if that may not take
// so much; and no longer to the one.
bool charge(const Thread& thread, Space& space);
void credit(const Thread& thread, Space& space);
// How many there are.
Word in_use();

}  // namespace threads
