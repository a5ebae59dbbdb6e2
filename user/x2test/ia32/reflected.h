// SPDX-License-Identifier: BSD-2-Clause
// A program that calls another system's kernel by `int $0x80`, and the server that answers it, both by the kernel's
// shortest way: the server waits without a timeout, and answers as it waits again.
#ifndef COBNUT_X2TEST_REFLECTED_H
#define COBNUT_X2TEST_REFLECTED_H
#include "../harness.h"

namespace x2test {

/// What of a client holds its own segment, by TlsControl, when it calls.
enum ClientSegments : Word { in_gs = 1, in_fs = 2, in_es = 4, in_ds = 8, in_ss = 16 };
/// What a server does beside.
enum ServerWays : Word {
    by_call = 1,            ///< waits for this client alone
    with_coprocessor = 2,   ///< fills its own coprocessor registers each time
    nested_flag = 1u << 14, ///< has NT set when it answers, and so on
    trap_flag = 1u << 8,
    direction_flag = 1u << 10,
    alignment_flag = 1u << 18,
    all_flags = nested_flag | trap_flag | direction_flag | alignment_flag,
};

/// The latest message that a server took, and what its next answer is (do_answer).
extern Word caught[13], answer[64];
/// Set by a server that finds anything wrong in its registers or message; it serves on.
extern volatile Word server_wrong;
extern volatile Word served;

extern "C" {
/// What a client has to find behind its segment's base.
extern volatile Word x2test_client_word;
/// Calls `rounds` times; 0 if all registers came back as do_serve() answers.
Word x2test_reflected(Word rounds, Word selector, Word segments);
/// Calls once with EAX and returns EAX. Its `int` is at x2test_call_ip.
Word x2test_call(Word eax, Word, Word);
extern const char x2test_reflected_ip[], x2test_call_ip[];
/// Calls with EAX, other known registers and these flags. Returns EAX if the others are as load_gate_answer() answers,
/// 0xBAD if not. EAX 0: only sees to it that the code is there.
Word x2test_gate(Word eax, Word flags, Word);
/// Where to go on.
extern const char x2test_gate_return[];
/// The same with what lret takes on its stack, by sysenter or by `int`: no register of the answer's but EAX, EBX, ESI,
/// EDI and EBP counts. The lret.
Word x2test_quick(Word eax, Word by_int, Word);
extern const char x2test_quick_lret[];
/// An IPC without timeouts, of the message registers, with the flags given set in EFLAGS.
Word x2test_flagged_ipc(Word to, Word from, Word flags);
}

/// Whether this kernel's system calls are by sysenter: its IPC is no `int`.
bool has_gate();
/// Whether there is a coprocessor, which is not to be emulated.
bool has_coprocessor();

/// A client: has `handler` as its exception handler for the time of x2test_reflected(rounds).
struct Call {
    Word handler, rounds, selector, segments;
};
extern Call calls[4];
/// Runs calls[n].
Word do_calls(Word n, Word, Word);
/// One x2test_call(eax) with this handler.
Word do_one_call(Word handler, Word eax, Word);

/// Serves for ever. `client` 0: all; else named by this id in answers, also where it has a local one. `word`: the word
/// at free_area in the server's space, 0 if it is not to look.
Word do_serve(Word client, Word ways, Word word);
/// Takes one message from any thread into `caught`; returns the sender.
Word do_catch(Word, Word, Word);
/// Sends `answer` to `client` and takes the next message.
Word do_answer(Word client, Word, Word);
/// As do_answer, where no next message comes: does not come back.
inline Word do_answer_last(Word client, Word, Word) { return do_answer(client, 0, 0); }

/// Loads the answer to what was caught: behind the `int`, EAX `eax`.
void load_simple_answer(Word eax);

/// A client in its call, and the server that has caught it, of these kinds (Kind::here: the server is beside the
/// client). Null after fail().
struct Pair {
    Agent *client = nullptr, *server = nullptr;
    explicit operator bool() const { return client && server; }
};
Pair pair_of(Kind client, Kind server);
/// The same where the client's space is controlled. Null after fail().
Pair in_controlled_space(const Pair &p);
/// The same where the client has a segment, at page 3 of the arena, with this selector. Null after fail().
Pair with_segment(const Pair &p, Word &selector);
/// The server gives the answer that is loaded, and the client, without a redirector, is to come back with this.
bool free_client_comes_back(const Pair &p, Word value);
/// The server waits; the client does `what` with the server as handler, x and y; the server has caught it.
void catch_from(const Pair &p, Function what, Word x = 0, Word y = 0);
/// Lets the client call with EAX and the server catch that. False after fail().
bool call_is_caught(const Pair &p, Word eax);
/// The server answers with EAX `eax`, and the client must come back with it.
bool answered(const Pair &p, Word eax);
inline void remove(const Pair &p) { remove(p.client), remove(p.server); }

/// All pairs of kinds.
struct Kinds {
    Kind client, server;
};
inline constexpr Kinds all_kinds[] = {{Kind::large, Kind::large}, {Kind::large, Kind::small},
                                      {Kind::small, Kind::large}, {Kind::small, Kind::small},
                                      {Kind::large, Kind::here},  {Kind::small, Kind::here}};
/// Those in spaces of their own.
inline constexpr Kinds kinds_apart[] = {
    {Kind::large, Kind::large}, {Kind::large, Kind::small}, {Kind::small, Kind::large}, {Kind::small, Kind::small}};

} // namespace x2test
#endif
