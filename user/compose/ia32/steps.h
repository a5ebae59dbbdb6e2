// SPDX-License-Identifier: BSD-2-Clause
// What can happen to a space, and how often each follows each.
#ifndef COBNUT_COMPOSE_STEPS_H
#define COBNUT_COMPOSE_STEPS_H
#include "../random.h"
#include "world.h"

#include <cobnut/options.h>

namespace compose {

enum class Op : Word {
    slot_name,
    slot_size,
    to_kernel,
    bind,
    tls,
    tls_call,
    selector,
    exchange,
    jump,
    halt,
    map,
    empty,
    give,
    unmap,
    unmap_own,
    poke,
    code,
    talk,
    pause,
    visit,
    migrate,
    area,
    reach,
    thread,
    accept,
    reflect,
    answer,
    count,
};
inline constexpr Word ops = static_cast<Word>(Op::count);
extern const char *const op_names[ops];

/// What the controller does wrong, to show that the oracle sees it.
enum class Mistake : Word { none, segment, slot };
extern Mistake mistake;

/// One step: what, for which space and thread of it, and two numbers that it makes something of.
struct Step {
    Op op;
    Word space, thread, x, y;
};

/// How an attackers' space begins: where its UTCB area is first, and then. Of the space `s` of an episode.
struct Shape {
    Word first, then;
};
Shape random_shape(Random &random, Word s);
void print_shape(const Shape &shape);

/// What the command line says beside what all processors have in common; false if it is wrong.
bool read_options(const cobnut::Options &options);
inline constexpr const char *own_options = "area=MB limits=0|1 mistake=segment|slot";

/// All spaces of an episode, side by side; what is wrong, or null.
const char *begin_episode(const Shape (&shapes)[attackers]);
/// What is wrong after its last step, or null.
inline const char *end_episode() { return nullptr; }

/// Mostly for one thread; `before`: what came before it, or Op::count.
Step random_step(Random &random, Word favourite, Op before);
/// Takes the step; what is wrong right after it, or null.
const char *take(const Step &step);

} // namespace compose
#endif
