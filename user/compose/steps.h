// SPDX-License-Identifier: BSD-2-Clause
// What can happen to a space, and how often each follows each.
#ifndef COBNUT_COMPOSE_STEPS_H
#define COBNUT_COMPOSE_STEPS_H
#include "world.h"

namespace compose {

/// Deterministic pseudo-random numbers (xorshift).
class Random {
public:
    explicit Random(Word seed) : state_(seed * 2654435761u | 1) {}
    Word next()
    {
        state_ ^= state_ << 13;
        state_ ^= state_ >> 17;
        state_ ^= state_ << 5;
        return state_;
    }
    /// From 0 to n - 1. By the product's upper half: emulators divide slowly.
    Word below(Word n) { return static_cast<Word>(static_cast<unsigned long long>(next()) * n >> 32); }

private:
    Word state_;
};

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

/// Mostly for one thread; `before`: what came before it, or Op::count.
Step random_step(Random &random, Word favourite, Op before);
/// Takes the step; what is wrong right after it, or null.
const char *take(const Step &step);

} // namespace compose
#endif
