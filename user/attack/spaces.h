// SPDX-License-Identifier: BSD-2-Clause
// The stage: victims whose memory is full of `foreign_fill`, and an attacker, a new one for each attempt. The
// controller (the root server) is pager, exception handler and judge of all.
//
//            below            attacker             above
//   .. | small, 16 MB |  16 MB, or large  | small, 16 MB | ..     and a large victim
//
// With placed=bound the attacker and the one below are bound to the large victim's page directory, the one above is in
// all, and a fourth victim, the twin, is bound to the controller's directory, at the attacker's place.
//
// All spaces map this program's image one to one; what else they own is below, at the same addresses in all of them.
#ifndef COBNUT_ATTACK_SPACES_H
#define COBNUT_ATTACK_SPACES_H
#include "attempts.h"

#include <l4/ipc.h>
#include <l4/kip.h>
#include <l4/space.h>

namespace attack {

inline constexpr Word page_size = 4096, slot_mb = 16, slot_size = slot_mb << 20;
inline constexpr Word kernel_base = 0xF0000000; ///< this kernel's; the small-space area ends there
inline constexpr Word scratch_page = 0x00A00000, middle = page_size / 2;
inline constexpr Word kip_area = 0x00C00000;
inline constexpr Word victims_port = 0x83; ///< holds what is written to it (a DMA page register)

struct Stage {
    Word area_mb = 512;      ///< the kernel's small-space area
    bool limits = false;     ///< this machine enforces segment limits
    bool sysenter = false;   ///< the kernel is entered by it
    bool bound = false;      ///< attackers are bound to the large victim's page directory
    bool automatic = false;  ///< slots are the kernel's choice, and change hands meanwhile (movers.h)
    Word last_base = 0;      ///< where the last attacker's slot began
    L4_ThreadId_t controller, below, above, large;
    L4_ThreadId_t twin; ///< is there if attackers are bound
    /// Where the slot of the neighbour above begins, or of the other one if it is large or at `but`; 0 if neither has
    /// any.
    Word above_base(Word but = 0) const;
    Word area() const { return kernel_base - (area_mb << 20); }
    Word large_limit() const { return area() < 0xC0000000 ? area() : 0xC0000000; }
};
extern Stage stage;

/// What an attempt starts with.
struct Start {
    const char *code = nullptr;
    Word esi = 0, edi = scratch_page + middle, ebx = 0, ecx = 0, edx = 0, eax = mark, ebp = 0;
};

/// Everything that the controller hears of an attacker until it is stopped.
struct Report {
    unsigned faults = 0; ///< page faults past its pages; each was answered with a page of own_fill
    Word fault_address = 0, fault_ip = 0; ///< the first one's
    bool write = false;
    bool port_fault = false;
    Word port = 0; ///< the fpage of the port
    bool exception = false;
    Word message[13] = {}; ///< the exception's
    bool silent = false; ///< nothing more came
    bool aimless = false; ///< by the kernel's choice of slots, there was no neighbour to aim at, or no limit to test

    Word ip() const { return message[1]; }
    Word flags() const { return message[2]; }
    Word vector() const { return message[3]; }
    Word error() const { return message[4]; }
    Word sp() const { return message[8]; }
    Word eax() const { return message[12]; }
    /// It came to the ud2 at the end of its code.
    bool finished() const { return exception && vector() == 6; }
    bool protection(Word code = 0) const { return exception && vector() == 13 && error() == code; }
    bool stack_fault() const { return exception && vector() == 12 && error() == 0; }
};

/// Where a thread's UTCB is in its space: a victim's, or the attacker's (nil).
Word utcb_of(L4_ThreadId_t id);
/// MR1 of a victim's answer if its memory is what it was.
extern const Word victims_sum;
bool in_image(Word address);
/// Creates the victims. False after a message.
bool make_victims();
/// Talks to those beside the attacker, so that they are worth a slot.
void keep_victims_busy();
/// Asks each victim whether its memory and its UTCB are its own; looks whether their slots are theirs.
bool victims_intact();
/// Fills their memory: at first, and after an attempt that was not stopped.
void restore_victims();

/// A thread in a space of its own that has this program's image: it calls take_order() until that returns 0, and goes
/// on by itself.
bool make_space(L4_ThreadId_t id, void (*main)(), const void *stack);
/// What the controller wants of a thread that it makes: the answer's label.
Word take_order();
/// A thread of the controller's space; `utcb` is the number of its UTCB there.
bool start_beside(L4_ThreadId_t id, void (*main)(), const void *stack, Word utcb);

/// Where attempts began, and how often the attacker had another slot at its end, or none.
struct Placed {
    unsigned exclusive, bound, large, changed;
};
extern Placed placed;

class Attacker {
public:
    /// A space in the middle slot, or a large one; ready for run().
    explicit Attacker(bool small);
    ~Attacker();
    Attacker(const Attacker &) = delete;
    Attacker &operator=(const Attacker &) = delete;

    bool ready() const { return ready_; }
    bool small() const { return small_; }
    Word size() const { return small_ ? slot_size : stage.large_limit(); }
    Word base() const;
    L4_ThreadId_t id() const { return id_; }
    /// Whether its space is still what it was made as.
    bool in_slot() const;

    /// Maps to it.
    void give(L4_Fpage_t what, Word at);
    void give_ports(Word first, int log2);
    /// The thread visits the small victims and goes to `start`; listens until it is stopped, or for `patience`
    /// milliseconds.
    Report run(const Start &start, Word patience = 500);
    /// Answers an exception with `count` words and listens on.
    Report resume(const Word *words, unsigned count);

private:
    bool hear_call();
    /// A fresh page of own_fill, with ud2 at its end, under an address.
    void supply(Word address);
    Report listen(L4_MsgTag_t tag, Word patience);

    L4_ThreadId_t id_ = {};
    bool small_, ready_ = false;
    Word began_ = 0; ///< offset and size of its slot when its attempt began
};

/// A page full of `foreign_fill` of the large space in whose page directory an attacker runs: the controller, or the
/// large victim.
Word host_page();

} // namespace attack
#endif
