// SPDX-License-Identifier: BSD-2-Clause
#include "core/aftermath.hpp"

#include "core/arch.hpp"
#include "core/ipc.hpp"
#include "core/mapping_tree.hpp"
#include "core/space.hpp"

namespace aftermath {
namespace {

// Visits some threads; true when all have been visited.
bool visit_some(Word& left) {
    constexpr Word between_points = 8;
    for (Word n = 0; left && n < between_points; ++n, --left) {
        Thread& t = threads::visit();
        spaces::veto_fast_path(t);
        ipc::end_vain_wait(t);
    }
    return !left;
}

}  // namespace

void bury(Thread& caller) {
    if (caller.pending == Continuation::aftermath) return;
    caller.pending = Continuation::aftermath;
    caller.aftermath = {.visits = 0, .renamed = ThreadId::nil()};
}

void visit_all(Thread& caller) {
    bury(caller);
    caller.aftermath.visits = threads::in_use();
}

void tell_senders(Thread& caller, const Thread& t) {
    bury(caller);
    caller.aftermath.renamed = t.id;
}

void inherit(Thread& caller, const Thread& gone) {
    if (gone.pending != Continuation::aftermath) return;
    bury(caller);
    caller.aftermath.renamed = gone.aftermath.renamed;
}

void resume(Thread& caller) {
    Aftermath& rest = caller.aftermath;
    if (Thread* t = threads::find(rest.renamed))
        while (!ipc::reject_senders(*t)) arch::preemption_point();
    // The last part of one and the first part of the other must not add up to one stretch.
    arch::preemption_point();
    while (!threads::bury()) arch::preemption_point();
    arch::preemption_point();
    while (!visit_some(rest.visits)) arch::preemption_point();
    arch::preemption_point();
    // In pages, each of which costs more than a mapping; a large one needs the whole budget.
    constexpr Word budget = mappings::between_points / (mappings::several_sizes ? 1 : 4);
    while (!spaces::bury(budget)) arch::preemption_point();
    caller.pending = Continuation::nothing;
}

}  // namespace aftermath
