// SPDX-License-Identifier: BSD-2-Clause
#include "steps.h"

#include "oracle.h"

#include <cobnut/program.h>
#include <l4/schedule.h>

namespace compose {

const char *const op_names[ops] = {
    "slot",    "map",  "pass",   "grant",  "unmap",   "unmap_own", "attribute", "renew",    "write",
    "read",    "run",  "across", "string", "talk",    "crowd",     "visit",     "exchange", "thread",
    "migrate", "area", "unborn", "heir",   "in_utcb", "reach",     "race",
};

constinit Mistake mistake = Mistake::none;

namespace {

constexpr Word weights[ops] = {5, 14, 8, 5, 6, 6, 2, 1, 12, 6, 5, 6, 5, 10, 4, 4, 4, 2, 2, 3, 1, 3, 2, 6, 1};
constexpr Word codes[] = {0x00010000, 0x01E10000, 0x06010000, 0x98010000};
constexpr Word kips[] = {0x000C0000, 0x01EC0000, 0x060C0000, 0x98110000};
constexpr Word utcb_logs[] = {13, 14, 20};
constexpr Word window = 0xF0000000, devices = 0xFE100000, table = 0xFE000000, utcb_word = 0xFF000000,
               image = 0xFFF10000, vectors = 0xFFFF0000, scribble = 0xBAD0BAD0;
constexpr Word exchange_number = 0x0C;

Word keeper(const Step &step) { return keeper_of(step.space); }
Word mover(const Step &step) { return keeper(step) + 1 + step.thread % (threads_each - 1); }
Word any_thread(const Step &step) { return keeper(step) + step.thread; }

void slot(const Step &step)
{
    constexpr Word names[] = {0, 1, 2, 3, 20, 21, 22, 62};
    Digits x(step.x);
    const Word dice = x.below(10), other = x.below(spaces);
    const Word wanted = dice < 8 ? names[dice] : other < attackers && !alive(other) ? 0 : slot_of(other);
    move_to(step.space, wanted);
}

void crowd(const Step &step)
{
    for (Word v = 0; v < victims && !wrong; v++) judge_victim((v + step.x) % victims, step.y % canaries_each);
}
void visit(const Step &step) { judge_victim(step.x % victims, step.y % canaries_each); }

/// A thread is set going elsewhere, or stopped for a while, by another one of its space.
void exchange(const Step &step)
{
    constexpr Word resume_there = 0x11E, halt = 0x101, go_on = 0x100;
    const Word g = mover(step), by = keeper(step), id = agent[g].id.raw;
    if (step.x % 3) {
        const Word stub = space[step.space].kip + *reinterpret_cast<const Word *>(__L4_Kip_Base() + L4_KIP_IPC);
        expect(g);
        call(by, exchange_number,
             {id, resume_there, stub, space[step.space].code + static_cast<Word>(agent_resume - agent_begin), 0, 0, 0,
              0});
    } else {
        call(by, exchange_number, {id, halt, 0, 0, 0, 0, 0, 0});
        call(by, exchange_number, {id, go_on, 0, 0, 0, 0, 0, 0});
    }
}

void another_thread(const Step &step) { make_thread(any_thread(step)); }

/// An active thread does not go; one that is not active goes there and back, and begins.
void migrate(const Step &step)
{
    const Word g = mover(step), to = step.x % attackers;
    const auto unchanged = reinterpret_cast<void *>(-1);
    if (!alive(to) || to == step.space) return;
    const L4_ThreadId_t id = agent[g].id, there = agent[keeper_of(to)].id, home = agent[keeper(step)].id;
    if (L4_ThreadControl(id, there, L4_nilthread, L4_nilthread, unchanged)) fail("an active thread migrates");
    L4_ThreadControl(id, L4_nilthread, L4_nilthread, L4_nilthread, unchanged);
    if (!L4_ThreadControl(id, there, controller, L4_nilthread, unchanged) ||
        !L4_ThreadControl(id, home, L4_nilthread, L4_nilthread, unchanged))
        fail("a thread that is not active does not migrate");
    make_thread(g);
}

void area(const Step &step)
{
    Digits x(step.x);
    remove_space(step.space);
    const Word code = codes[x.below(4)], kip = kips[x.below(4)];
    if (!make_space(step.space, code, kip, utcb_logs[x.below(3)])) fail("no space in the place of another");
}

/// A space that begins and ends without having run. Others reach for UTCBs that it does not have: what the kernel knows
/// of them is in force until it runs.
void unborn(const Step &step)
{
    constexpr Word behind = 0x80000;
    const auto unchanged = reinterpret_cast<void *>(-1);
    const L4_ThreadId_t id = L4_GlobalId(L4_ThreadNo(controller) + 60, 1);
    L4_Fpage_t utcbs = L4_FpageLog2(0x10000000, 12);
    if (!L4_ThreadControl(id, id, controller, L4_nilthread, unchanged)) return fail("no thread for a space");
    if (step.x % 2)
        Cobnut_SpaceControl(id, 0, L4_FpageLog2(kips[step.y % 4], page_log2), &utcbs, L4_nilthread, nullptr);
    if (step.x % 4 == 3) {
        L4_ThreadControl(id, id, controller, controller, reinterpret_cast<void *>(L4_Address(utcbs)));
        const Answer answer = order(mover(step), agent_read_word, L4_Address(utcbs) + behind);
        if (!answer.faulted) fail("UTCBs are reached that nobody has");
    }
    L4_ThreadControl(id, L4_nilthread, L4_nilthread, L4_nilthread, unchanged);
}

/// An access to what no space has, or another one: others' memory after relocation, their UTCBs, the kernel.
void reach(const Step &step)
{
    constexpr const char *kinds[] = {agent_read_word,        agent_write_word,    agent_read_translated,
                                     agent_write_translated, agent_read_multiple, agent_write_multiple,
                                     agent_write_swapped,    agent_jump};
    Digits x(step.x), y(step.y);
    const Word other = (step.space + 1 + x.below(spaces - 1)) % spaces;
    if (other < attackers && !alive(other)) return;
    const Word kernels[] = {
        window, window + 0x100000, devices,    table,          utcb_word + page_size, utcb_word + 2 * page_size,
        image,  vectors,           0xFEF00000, vectors + 0xF00};
    const Word relocated = slot_of(other) << slot_log2, dice = x.below(8);
    const Word at =
        dice < 3   ? relocated + (other < attackers ? place_address(y.below(2 * spots)) : canary_places[y.below(2)])
        : dice < 6 ? space[other].utcbs + y.below(2) * 512
                   : kernels[y.below(10)];
    const Word kind = x.below(dice < 3 ? 7 : 8); // what others have is no code
    if ((dice < 3 && !relocated) || other_name(step.space, at) || place_at(at) < places) return;
    const Answer answer = order(mover(step), kinds[kind], at, scribble);
    if (!answer.faulted) fail("a foreign address is reached");
}

/// A thread runs on, by what does nothing, from the end of the page with its space's UTCBs to where there are none:
/// also right after its space has got a domain anew.
void in_utcb(const Step &step)
{
    constexpr Word few_instructions = 32, others_beside = 8;
    if (keeper(step) + threads_each > others_beside) return;
    if (step.x % 4) crowd(step);
    const Word end = space[step.space].utcbs + page_size;
    const Answer answer = order(mover(step), agent_jump, end - few_instructions);
    if (!answer.faulted || answer.address != end) fail("code in a UTCB does not run on to its end");
}

// A thread that wakes up by the clock while the controller is busy, and takes pages or a space away from it.
alignas(8) constinit unsigned char waker_stack[2048] = {};
constinit volatile bool woken = false;
constinit Word its_megabyte = 0, its_space = 0;
constinit bool removes = false;
constinit L4_ThreadId_t waker = {};

[[noreturn]] void waker_main()
{
    for (;;) {
        L4_Receive(controller);
        L4_Sleep(L4_TimePeriod(1000));
        if (removes) {
            for (Word g = keeper_of(its_space); g < keeper_of(its_space) + threads_each; g++)
                L4_ThreadControl(agent[g].id, L4_nilthread, L4_nilthread, L4_nilthread, reinterpret_cast<void *>(-1));
        } else {
            L4_UnmapFpage(L4_FpageLog2(megabyte_address(its_megabyte), mega_log2) + L4_FullyAccessible);
        }
        woken = true;
    }
}

bool make_waker()
{
    if (!L4_IsNilThread(waker)) return true;
    for (volatile unsigned char &byte : waker_stack) byte = 0; // there before it faults: no pager would answer
    const L4_ThreadId_t id = L4_GlobalId(L4_ThreadNo(controller) + 61, 1);
    if (!L4_ThreadControl(id, controller, controller, controller,
                          reinterpret_cast<void *>((L4_MyLocalId().raw & -page_size) + 1024)))
        return false;
    L4_Set_MsgTag(L4_MsgTag_t{.raw = 2});
    L4_LoadMR(1, reinterpret_cast<Word>(waker_main));
    L4_LoadMR(2, reinterpret_cast<Word>(waker_stack + sizeof waker_stack));
    waker = id;
    if (L4_IpcFailed(L4_Send_Timeout(id, L4_TimePeriod(100000)))) return false;
    return L4_Set_Priority(id, 255);
}

/// Pages, and sometimes a space, go while the controller takes rights from the same pages.
void race(const Step &step)
{
    constexpr Word rounds_most = 20000;
    Digits x(step.x);
    its_megabyte = x.below(megabytes);
    its_space = step.space;
    removes = x.below(2);
    woken = false;
    if (!make_waker()) return fail("nobody to wake up");
    L4_Set_MsgTag(L4_Niltag);
    L4_Send_Timeout(waker, L4_TimePeriod(100000));
    const L4_Fpage_t whole = L4_FpageLog2(megabyte_address(its_megabyte), mega_log2);
    const Word rights = x.below(2) ? L4_Writable : 0;
    const bool all = removes && x.below(2);
    for (Word i = 0; !woken && i < rounds_most; i++) L4_UnmapFpage(whole + (all ? L4_FullyAccessible : rights));
    if (!woken) return fail("nobody has woken up");
    for (Word page = its_megabyte * spots; page < (its_megabyte + 1) * spots; page++)
        memory.unmap(Model::root_of(page), all || !removes ? Word{model::all} : rights, false);
    if (!removes) return;
    for (Word g = keeper(step); g < keeper(step) + threads_each; g++) agent[g].there = false;
    area(step);
}

constexpr void (*const actions[ops])(const Step &) = {
    slot, map,   pass,  grant,    unmap,          unmap_own, attribute, renew,  write, read,    run,   across, string,
    talk, crowd, visit, exchange, another_thread, migrate,   area,      unborn, heir,  in_utcb, reach, race,
};

Op random_op(Random &random) { return static_cast<Op>(random.weighted(weights)); }

/// What shows what the step before it has left.
Op sequel(Random &random, Op before)
{
    switch (before) {
    case Op::map:
    case Op::pass:
    case Op::grant: return random.below(2) ? Op::write : Op::talk;
    case Op::write: return random.below(2) ? Op::talk : Op::run;
    case Op::slot: return random.below(2) ? Op::across : Op::write;
    case Op::unmap:
    case Op::unmap_own: return random.below(2) ? Op::map : Op::crowd;
    default: return random_op(random);
    }
}

/// What the model does not know: the space has one page more, or another word is in one.
void make_mistake(const Step &step)
{
    if (mistake == Mistake::word && step.op == Op::write)
        *reinterpret_cast<volatile Word *>(page_address(step.x % memory_pages)) = scribble;
    if (mistake == Mistake::page && step.op == Op::map)
        send_items(keeper(step), L4_MapItem(L4_FpageLog2(page_address(step.x % memory_pages), page_log2) + L4_Readable,
                                            place_address(step.y % places)));
}

} // namespace

Shape random_shape(Random &random, Word)
{
    Shape shape;
    shape.code = codes[random.below(4)];
    shape.kip = kips[random.below(4)];
    shape.utcb_log2 = utcb_logs[random.below(3)];
    return shape;
}

void print_shape(const Shape &shape)
{
    cobnut::print(" code %x, interface page %x, UTCBs %x", shape.code, shape.kip, 1u << shape.utcb_log2);
}

bool read_options(const cobnut::Options &options)
{
    const cobnut::Text text = options.find("mistake");
    mistake = text == "page" ? Mistake::page : text == "word" ? Mistake::word : Mistake::none;
    return !text || mistake != Mistake::none;
}

const char *begin_episode(const Shape (&shapes)[attackers])
{
    wrong = nullptr;
    remove_all();
    renew_victims();
    for (Word m = 0; m < megabytes; m++) renew_megabyte(m);
    for (Word s = 0; s < attackers; s++)
        if (!make_space(s, shapes[s].code, shapes[s].kip, shapes[s].utcb_log2)) fail("a space cannot be made");
    return wrong;
}

const char *end_episode()
{
    judge_all();
    return wrong;
}

Step random_step(Random &random, Word favourite, Op before)
{
    const Op op = random.below(2) ? random_op(random) : sequel(random, before);
    const Word concerned = random.below(3) ? favourite : random.below(threads);
    return {op, concerned / threads_each, concerned % threads_each, random.next(), random.next()};
}

const char *take(const Step &step)
{
    wrong = nullptr;
    actions[static_cast<Word>(step.op)](step);
    if (!wrong && mistake != Mistake::none) make_mistake(step);
    if (!wrong) judge_step(step.space, step.x ^ step.y);
    return wrong;
}

} // namespace compose
