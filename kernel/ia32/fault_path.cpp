// SPDX-License-Identifier: BSD-2-Clause
// Page faults to a waiting pager, and answers that map one page: the fast path's C++ part beside the switch
// (ia32/reflection.S), under the same conditions as for exceptions. All other cases take the slow path, before
// anything has been changed.
#include "core/arch.hpp"
#include "core/mapping.hpp"
#include "core/schedule.hpp"
#include "core/space.hpp"
#include "core/transfer.hpp"
#include "ia32/cpu.hpp"
#include "ia32/segments.hpp"
#include "ia32/tls.hpp"
#include "ia32/trap.hpp"

namespace faults {
namespace {

// The largest answer mapped here: its cost is within what may be done between two preemption points.
constexpr unsigned most_log2 = page_log2 + 5;
constexpr Word most_pages = 1u << (most_log2 - page_log2);
static_assert(most_pages <= mappings::between_points / 2);

}  // namespace

Thread* tell_pager(Thread& t, VAddr address, Word rights) {
    ThreadId to{t.utcb->pager()};
    Thread& pager = arch::thread_at(to.number());
    bool open = pager.state_word == t.id.raw || ThreadId{pager.state_word}.is_any();
    if (pager.id != to || !open || pager.priority < ready_top) return nullptr;
    if (t.fast_veto & ~Word{held_coprocessor | held_tls | veto_redirected}) return nullptr;
    if (t.fast_veto & veto_redirected && t.space->redirector != to) return nullptr;
    tls::keep_selectors(t);
    if (t.fast_veto & held_tls) gdt.entry[USER_TLS >> 3] = segments::empty;
    arch::take_back(t);
    t.receive_role = Role::page_fault;
    t.awaited = to;
    Word* message = pager.utcb->mr;
    message[0] = MsgTag::make(label_page_fault | rights, 2).raw;
    message[1] = address;
    message[2] = t.frame.eip;
    return &pager;
}

// The caller has checked the pager's message: two words, one item. If the item cannot be mapped completely here, the
// slow path maps it again and reports what there is to report.
extern "C" bool answer_fault(Thread& pager, Thread& t) {
    const volatile Word* message = pager.utcb->mr;
    const Word first = message[1];
    const Fpage send{message[2]};
    if (t.awaited != pager.id || t.priority < ready_top || pager.space == t.space) return false;
    const unsigned log2 = send.size_field();
    if (!items::maps(first) || log2 < page_log2 || log2 > most_log2) return false;
    const Word offset = (1u << log2) - 1;
    const mappings::Range range{send.raw & ~offset, first & ~offset, log2};
    const Slot& slot = t.space->arch.slot;
    if (slot.small() && range.target >= slot.size) return false;        // the slot would have to grow
    mappings::Progress progress{};
    Word budget = most_pages;
    bool all = mappings::transfer(*pager.space, range, *t.space, send.rights(), false, progress, budget) ==
               mappings::Mapped::all;
    // The slow path is charged: there is no preemption point in between.
    if (!all) mappings::owe(most_pages - budget);
    return all;
}

}  // namespace faults
