// SPDX-License-Identifier: BSD-2-Clause
// What the conformance tests stand on: the list of tests, checks, and agents.
//
// An agent is a thread that runs functions of this image on behalf of the test thread ("main", the root server), in
// main's space or in one of its own. Main is its pager, exception handler and scheduler. Spaces of agents map this
// image one to one, so that functions and variables are shared; what a test maps itself goes to `free_area`. All of
// it lies below 16 MB: the same layout serves large and small spaces.
#ifndef COBNUT_X2TEST_HARNESS_H
#define COBNUT_X2TEST_HARNESS_H
#include <l4/ipc.h>
#include <l4/kip.h>
#include <l4/schedule.h>
#include <l4/space.h>
#include <stddef.h>

namespace x2test {

using Word = L4_Word_t;

struct Test {
    const char *name;
    void (*run)();
};

/// A null-terminated list per file of tests.
extern const Test kip_tests[], sigma0_tests[], ipc_tests[], ipc_error_tests[], fast_tests[], call_tests[], edge_tests[],
    fault_tests[], map_tests[], unmap_tests[], tree_tests[], exregs_tests[], controlled_tests[], confined_tests[],
    thread_tests[], space_tests[], schedule_tests[], preempt_tests[], irq_tests[], redirect_tests[], control_tests[],
    coprocessor_tests[], registers_tests[], reflection_tests[], port_tests[], tls_tests[], debug_tests[],
    exception_tests[], small_tests[], tag_tests[], string_tests[], string_fault_tests[], string_middle_tests[],
    robust_tests[], ipc_rule_tests[], map_rule_tests[], size_tests[], long_tests[], latency_tests[], isolation_tests[],
    waiting_tests[], deletion_tests[], open_tests[], bus_tests[], copy_tests[], residence_tests[], reflected_tests[],
    answer_tests[], between_tests[], paged_tests[], gate_tests[], stretch_tests[], slot_latency_tests[],
    attribute_tests[], gate_segment_tests[], megabyte_tests[], grant_tests[], mixed_tests[];

enum class Kind { here, other, large, small, automatic }; ///< `other`: as the command line says, while there are slots

/// Options of the command line.
struct Wish {
    Kind kinds = Kind::large; ///< kinds=large|small|automatic: agents' own spaces; automatic: the kernel chooses
    bool limits = false; ///< limits=1: this machine enforces segment limits
    /// latency=1: a tick of the time-stamp counter is an instruction, and counts (QEMU's -icount)
    bool latency = false;
    bool automatic = true; ///< automatic=0: the kernel gives no slots by itself (its option automatic=off)
    unsigned part = 1; ///< part=K parts=N: every N-th test, from the K-th on
    unsigned parts = 1;
    Word area_mb = 512; ///< area=MB: the kernel's small-space area
    Word threads = 200; ///< threads=N: in a crowd (crowd.h)
    Word spaces = 0; ///< spaces=N: that exist beside those of the tests
    Word seed = 1; ///< seed=N for the random tests
    Word calls = 3000; ///< calls=N: random system calls per test
};
extern Wish wish;

/// How many tests have begun; the running one's number for the laboratory (cobnut/lab.h).
extern volatile unsigned tests_begun;

/// Marks the running test as failed; only the first reason is kept. Callable from agents.
void fail(const char *text, ...) __attribute__((format(printf, 1, 2)));

/// Fails the test and leaves the function.
#define CHECK(condition)                                                                                               \
    do {                                                                                                               \
        if (!(condition)) {                                                                                            \
            ::x2test::fail("line %u: not %s", static_cast<unsigned>(__LINE__), #condition);                            \
            return;                                                                                                    \
        }                                                                                                              \
    } while (0)
#define CHECK_EQUAL(actual, expected)                                                                                  \
    do {                                                                                                               \
        const L4_Word_t actual_ = static_cast<L4_Word_t>(actual), expected_ = static_cast<L4_Word_t>(expected);        \
        if (actual_ != expected_) {                                                                                    \
            ::x2test::fail("line %u: %s is %x, not %x", static_cast<unsigned>(__LINE__), #actual, actual_, expected_); \
            return;                                                                                                    \
        }                                                                                                              \
    } while (0)

extern L4_ThreadId_t main_id; ///< global id of the test thread
inline const L4_Time_t second = {.raw = (10 << 10) | 976}; ///< 999,424 us
inline const L4_Time_t short_time = {.raw = (5 << 10) | 625}; ///< 20 ms

inline constexpr Word page_size = 4096;
inline constexpr Word utcb_area = 0x00800000, utcb_area_log2 = 14; ///< in agents' own spaces, as asked for
inline constexpr Word kip_area = 0x00C00000;
inline constexpr Word free_area = 0x00A00000; ///< 1 MB for the tests' mappings
inline constexpr Word beyond_small = 0x02000000; ///< outside a 16 MB space

/// Memory that tests map to agents; present in main, 64 KB aligned.
inline constexpr Word arena_pages = 16;
extern unsigned char arena[arena_pages * page_size];
inline Word arena_page(Word n) { return reinterpret_cast<Word>(arena) + n * page_size; }
inline volatile Word &arena_word(Word n) { return *reinterpret_cast<volatile Word *>(arena_page(n)); }
/// Page n of the arena begins with mark + n.
inline void mark_arena(Word mark)
{
    for (Word i = 0; i < arena_pages; i++) arena_word(i) = mark + i;
}
inline L4_Fpage_t page_at(Word address, Word rights) { return L4_FpageLog2(address, 12) + rights; }

// ------------------------------------------------------------------------------------------------------- agents
using Function = Word (*)(Word, Word, Word);

/// What came back from an agent.
struct Outcome {
    bool done = false; ///< the function returned
    Word value = 0; ///< its result
    Word error = 0; ///< its ErrorCode TCR afterwards
    unsigned faults = 0; ///< page faults outside the image; the first one's details follow
    Word fault_tag = 0, fault_address = 0, fault_ip = 0;
    bool stuck = false; ///< a fault that no mapping can resolve
    unsigned port_faults = 0; ///< I/O ports; the last one's message, which is not answered
    Word port_fault[3] = {};
    unsigned exceptions = 0; ///< the last one's message
    Word exception[14] = {};

    bool write_fault() const { return (fault_tag >> 16) & L4_Writable; }
};

struct Agent {
    L4_ThreadId_t id = {};
    L4_ThreadId_t local = {};
    Word utcb = 0;
    Word utcb_area = 0; ///< of its space
    unsigned index = 0;
    bool own_space = false;
    Outcome out;
};

/// Creates a thread that waits for its start message. `space` nil: a space of its own, with its interface page at
/// `kip`. Null after fail().
Agent *create(L4_ThreadId_t space, Kind kind, Word kip = kip_area);
/// Creates and starts an agent; null after fail().
Agent *agent(Kind kind, Word kip = kip_area);
/// A further agent in the space of another.
Agent *agent_beside(const Agent *mate);
/// Top of a created agent's stack, for tests that start it themselves.
Word stack_of(const Agent *a);
/// A thread number and version that no thread has.
L4_ThreadId_t unused_id();
/// Whether this kernel has small spaces; without them, agents of that kind are like others.
bool small_spaces();
/// Gives the agent's space this redirector, or with L4_anythread none; true if the kernel did.
bool redirect(const Agent *a, L4_ThreadId_t to);
/// Makes the agent's space small at `slot` (in units of 16 MB); true if the kernel did.
bool make_small(const Agent *a, Word slot);
/// Makes it large; true if the kernel did.
bool make_large(const Agent *a);
/// The small-space number that the kernel reports.
Word small_number(const Agent *a);
/// Deletes an agent.
void remove(Agent *a);

/// Lets the agent run f; returns at once.
void begin(Agent *a, Function f, Word x = 0, Word y = 0, Word z = 0);
/// Serves faults of all agents until `a` is done; fails the test after about a second without a message, unless
/// `patience` says otherwise. A fault outside the image is recorded and then resolved with a page that the
/// next call of scratch_reset() takes away.
const Outcome &finish(Agent *a, bool may_hang = false);
inline const Outcome &ask(Agent *a, Function f, Word x = 0, Word y = 0, Word z = 0)
{
    begin(a, f, x, y, z);
    return finish(a);
}
void scratch_reset();

/// 2^log2 bytes of main's own, as sigma0 has given them: in one piece, and no other space has any of them. Other bytes
/// at each call of a test; later tests get them again. Fails the test, and is nil, where there is no such memory.
L4_Fpage_t own_memory(int log2);

/// Maps or grants to an agent: it receives `item` with the given window.
void give(Agent *a, Word item0, Word item1, L4_Fpage_t window);
inline void give(Agent *a, L4_Fpage_t f, Word base, L4_Fpage_t window)
{
    give(a, L4_MapItem(f, base).raw[0], f.raw, window);
}
/// Page n of the arena to `address` in the agent's space.
inline void give_page(Agent *a, Word n, Word address, Word rights)
{
    give(a, page_at(arena_page(n), rights), 0, L4_FpageLog2(address, 12));
}
/// From one agent to another. True if the IPC went well.
bool pass(Agent *from, Agent *to, L4_Fpage_t f, Word base, L4_Fpage_t window, bool grant = false);

// Functions for agents.
Word do_read(Word address, Word, Word);
Word do_write(Word address, Word value, Word);
Word do_nothing(Word, Word, Word);
Word do_increment_words(Word client, Word, Word); ///< answers calls with their words plus 1 and label 0x78, for ever
Word do_flush(Word fpage, Word control, Word); ///< Unmap of one fpage; returns it with its status
/// Asks sigma0 for an fpage, cached as `attribute` says. Returns the fpage that comes back; all ones if none does.
Word do_sigma0_get(Word fpage, Word attribute, Word);

/// What the agent reads at an address; `faulted` if there is no page, also where one has faulted.
inline constexpr Word faulted = 0xFA017ED;
inline Word seen(Agent *a, Word address)
{
    const Outcome &out = ask(a, do_read, address);
    const Word value = out.faults ? faulted : out.value;
    scratch_reset();
    return value;
}

/// Whether an access of the agent faults.
inline bool faults_on_read(Agent *a, Word address)
{
    const bool faulted = ask(a, do_read, address).faults != 0;
    scratch_reset();
    return faulted;
}
inline bool faults_on_write(Agent *a, Word address)
{
    const bool faulted = ask(a, do_write, address, 0x5A5A5A5A).faults != 0;
    scratch_reset();
    return faulted;
}

void pause(Word microseconds);

/// How long `wait` takes, in microseconds: never less than `low` (that fails the test), and less than `high` at least
/// once in a few attempts, since an emulator on a busy host loses time in between.
void check_duration(void (*wait)(), Word low, Word high);

/// Deterministic pseudo-random numbers.
class Random {
public:
    explicit Random(Word seed) : state_(seed * 2654435761u + 1) {}
    Word next()
    {
        state_ ^= state_ << 13;
        state_ ^= state_ >> 17;
        state_ ^= state_ << 5;
        return state_;
    }
    Word below(Word n) { return next() % n; }

private:
    Word state_;
};

} // namespace x2test
#endif
