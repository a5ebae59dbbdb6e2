// SPDX-License-Identifier: BSD-2-Clause
// What can happen to a space, and how often each follows each.
#ifndef COBNUT_COMPOSE_STEPS_H
#define COBNUT_COMPOSE_STEPS_H
#include "../random.h"
#include "world.h"

#include <cobnut/options.h>

namespace compose {

enum class Op : Word {
    slot,
    map,
    pass,
    grant,
    unmap,
    unmap_own,
    attribute,
    renew,
    write,
    read,
    run,
    across,
    string,
    talk,
    crowd,
    visit,
    exchange,
    thread,
    migrate,
    area,
    unborn,
    heir,
    in_utcb,
    reach,
    race,
    count,
};
inline constexpr Word ops = static_cast<Word>(Op::count);
extern const char *const op_names[ops];

/// What the controller does behind the model's back, to show that the oracle sees it.
enum class Mistake : Word { none, page, word };
extern Mistake mistake;

/// One step: what, for which space and thread of it, and two numbers that it makes something of.
struct Step {
    Op op;
    Word space, thread, x, y;
};

/// How an attackers' space begins.
struct Shape {
    Word code, kip, utcb_log2;
};
Shape random_shape(Random &random, Word s);
void print_shape(const Shape &shape);

/// What the command line says beside what all processors have in common; false if it is wrong.
bool read_options(const cobnut::Options &options);
inline constexpr const char *own_options = "mistake=page|word";

/// All spaces of an episode, and the megabytes in one piece; what is wrong, or null.
const char *begin_episode(const Shape (&shapes)[attackers]);
/// What is wrong after its last step, or null.
const char *end_episode();

/// Mostly for one thread; `before`: what came before it, or Op::count.
Step random_step(Random &random, Word favourite, Op before);
/// Takes the step; what is wrong right after it, or null.
const char *take(const Step &step);

/// Takes numbers off a larger one.
class Digits {
public:
    explicit Digits(Word x) : left_(x) {}
    Word below(Word n)
    {
        const Word digit = left_ % n;
        left_ /= n;
        return digit;
    }

private:
    Word left_;
};

// Steps that are about memory (memory.cc).
void map(const Step &step);
void pass(const Step &step);
void grant(const Step &step);
void unmap(const Step &step);
void unmap_own(const Step &step);
void attribute(const Step &step);
void renew(const Step &step);
void write(const Step &step);
void read(const Step &step);
void run(const Step &step);
void across(const Step &step);
void string(const Step &step);
void talk(const Step &step);
void heir(const Step &step);

} // namespace compose
#endif
