// SPDX-License-Identifier: BSD-2-Clause
// The stage: attackers' spaces, whose shape the steps change, between victims, whose memory is full of `canary`. The
// controller, which is the root server, is the pager of all; it keeps a model of where each thread is and how far its
// space has to reach.
//
// Each attackers' space has a keeper, whose page with its code and the blocks of all threads is always there, and two
// movers, which go where the steps send them: to `places`, where the same code is mapped, or into their own message
// registers.
#ifndef COBNUT_COMPOSE_WORLD_H
#define COBNUT_COMPOSE_WORLD_H
#include "../random.h"
#include "agent.h"

#include <cobnut/tags.h>
#include <l4/ipc.h>
#include <l4/space.h>

namespace compose {

inline constexpr Word page_size = 4096, mega = 1u << 20;
inline constexpr Word attackers = 3, threads_each = 3, threads = attackers * threads_each, victims = 3;
inline constexpr Word keeper_page = 0x00010000, kip_area = 0x000C0000, utcb_area_log2 = 13;
inline constexpr Word utcb_areas[] = {0x000D0000, 0x00182000, 0x00502000, 0x1F002000};
inline constexpr Word places[] = {0x000FF000, 0x00180000, 0x001FF000, 0x00280000,
                                  0x003FF000, 0x007FF000, 0x01800000, 0x20000000};
inline constexpr Word place_count = sizeof places / sizeof *places,
                      utcb_area_count = sizeof utcb_areas / sizeof *utcb_areas;
inline constexpr Word canary = 0xCA9A97CA, own_fill = 0x0F111F11, scribble = 0xBAD0BAD0;
/// Where victims have their pages, all below 1 MB.
inline constexpr Word canary_places[] = {0x00000000, 0x00020000, 0x000FE000};

/// What of a thread the kernel's state is.
enum class State : Word {
    waits,  ///< in an IPC that answers whatever comes
    lost,   ///< waits for another thread, is halted, or runs for ever; goes on by ExchangeRegisters
};

struct Thread {
    L4_ThreadId_t id = {};
    Word space = 0;         ///< that it lives in; its home is its number / threads_each
    Word at = 0;            ///< where its code is
    Word tls = ~0u;         ///< base of its own segment
    bool code_sent = false; ///< its message registers hold code
    bool by_stub = false;   ///< it waits by the interface page's stub
    bool reflected = false; ///< the controller has its exception to answer
    State state = State::lost;
};

struct Space {
    Word utcb_area = 0;
    bool mapped[place_count] = {};
    Word reach = 0;         ///< the last address that was needed during this step
    bool asked = false;     ///< SpaceControl asked for a tag during this step
    cobnut::Tag before = {}; ///< its tag when the step began
};

/// How a thread answered.
enum class Heard : Word { report, answer, refused, lost };

extern Thread thread[threads];
extern Space space[attackers];
extern L4_ThreadId_t victim[victims];
extern bool limits; ///< this machine enforces segment limits

inline Word keeper_of(Word s) { return s * threads_each; }
bool alive(Word s);

/// During this step the space has to reach `address`; the thread goes on where it is, with the segment that it has.
void note_reach(Word s, Word address);
void note_going_on(Word g);

/// Whether all victims are there, two small ones and a large one, and the thread that wakes the controller.
bool make_stage();
/// The victims' page directories and slots come into force in turn.
void visit_victims();
/// Their memory is full of canaries, as at first.
void restore_victims();
/// Whether a word of theirs has changed, or their slots; what, if so.
const char *harmed_victim();

/// A space of one's own for each, with its UTCB area `area`, which SpaceControl has put to `first` before.
bool make_space(Word s, Word first, Word area);
void remove_space(Word s);
void remove_all();
/// A mover of the space is made anew.
bool make_thread(Word g);

/// The words of its block (agent.h).
volatile Word &block(Word g, Word field);
Word stack_of(Word g);
/// Where an entry of agent.S is if the code lies at `base`.
Word entry(Word base, const char *label);

/// Sends what is loaded in the message registers to the thread; serves its faults until it answers.
Heard tell(Word g);
/// Has it go on at an address.
Heard send_to(Word g, Word ip);
/// The same, as the answer to its exception; `by_lret`: by one that the kernel may give without iret.
Heard answer_to(Word g, Word ip, Word flags, bool by_lret);
/// A system call of the thread's own: EAX.
Word call(Word g, Word field, const L4_Registers_t &registers);
/// Its message registers get code.
Heard send_code(Word g);
/// Waits for a report of a thread that another one has set going.
Heard hear(Word g);

/// An agent's page at a place of its, by a map item.
L4_Fpage_t code_page(Word s);
void take_code(Word s);

} // namespace compose

extern "C" {
extern const char agent_begin[], agent_mini[], agent_mini_end[], agent_report[], agent_report_by_stub[], agent_probe[],
    agent_load_fs[], agent_load_gs[], agent_accept[], agent_reflect[], agent_gate[], agent_lret[], agent_call[],
    agent_give[], agent_read_ds[], agent_write_ds[], agent_read_es[], agent_write_es[], agent_read_fs[],
    agent_write_fs[], agent_read_gs[], agent_write_gs[], agent_read_ss[], agent_write_ss[], agent_read_cs[],
    agent_end[];
}
#endif
