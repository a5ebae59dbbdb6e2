// SPDX-License-Identifier: BSD-2-Clause
#include "steps.h"

#include "oracle.h"

#include <cobnut/control.h>
#include <cobnut/program.h>
#include <cobnut/tls.h>
#include <l4/schedule.h>

namespace compose {

const char *const op_names[ops] = {
    "slot_name", "slot_size", "to_kernel", "bind", "tls",   "tls_call",  "selector", "exchange", "jump",
    "halt",      "map",       "empty",     "give", "unmap", "unmap_own", "poke",     "code",     "talk",
    "pause",     "visit",     "migrate",   "area", "reach", "thread",    "accept",   "reflect",  "answer",
};

constinit Mistake mistake = Mistake::none;

namespace {

constexpr Word weights[ops] = {3, 6, 6, 3, 10, 3, 6, 16, 4, 2, 6, 5, 2, 3, 3, 10, 12, 4, 2, 3, 3, 3, 6, 1, 4, 5, 5};
constexpr Word tls_bases[] = {0x00001000, 0x000FFFF0, 0x00181000, 0x00300000, 0x00700000, 0x01801000, 0x20000000, ~0u};
constexpr Word talks = 200, pause_microseconds = 3000;
constexpr Word nothing_at = 0x50000000; // where the controller has nothing

template <typename T, Word n> T pick(const T (&from)[n], Word x) { return from[x % n]; }

Word keeper(const Step &step) { return keeper_of(step.space); }
/// The step's thread: for what a keeper cannot do, one of the movers.
Word mover(const Step &step) { return keeper(step) + 1 + step.thread % (threads_each - 1); }
Word any_of(const Step &step) { return keeper(step) + step.thread; }
L4_ThreadId_t id(const Step &step) { return thread[keeper(step)].id; }
bool waits(Word g) { return !L4_IsNilThread(thread[g].id) && thread[g].state == State::waits; }
bool keeper_waits(Word g) { return alive(thread[g].space); }

void touches_utcbs(Word s) { note_reach(s, space[s].utcb_area + (1u << utcb_area_log2)); }

void ask(const Step &step, Word control)
{
    space[step.space].asked = true;
    L4_SpaceControl(id(step), L4_SmallSpaceChange | control, L4_Nilpage, L4_Nilpage, L4_nilthread, &control);
}

const char *slot_name(const Step &step)
{
    constexpr Word sizes[] = {4, 16, 4, 32}, locations[] = {4, 16, 12, 32};
    ask(step, step.x % 5 ? L4_SmallSpace(pick(locations, step.x), pick(sizes, step.x)) : L4_LargeSpace);
    return nullptr;
}
const char *slot_size(const Step &step)
{
    constexpr Word logs[] = {0, 0, 1, 2, 4, 6};
    space[step.space].asked = mistake != Mistake::slot;
    cobnut::give_slot(id(step), pick(logs, step.x));
    return nullptr;
}
const char *to_kernel(const Step &step)
{
    space[step.space].asked = true;
    cobnut::leave_to_kernel(id(step));
    return nullptr;
}
const char *bind(const Step &step)
{
    const Word other = keeper_of(step.x % attackers);
    for (Space &s : space) s.asked = true; // a leader that becomes small takes its group along
    const L4_ThreadId_t leader = step.y % 2 || !alive(step.x % attackers) ? victim[2] : thread[other].id;
    cobnut::bind(id(step), leader);
    return nullptr;
}

const char *tls(const Step &step)
{
    const Word g = mover(step), base = pick(tls_bases, step.x);
    if (L4_IsNilThread(thread[g].id) || !Cobnut_TlsControl(thread[g].id, base, nullptr)) return nullptr;
    thread[g].tls = mistake == Mistake::segment && base < kip_area ? base + page_size : base;
    return nullptr;
}
/// The same by a thread of its space.
const char *tls_call(const Step &step)
{
    const Word g = mover(step), base = pick(tls_bases, step.x), by = keeper_of(thread[g].space);
    if (L4_IsNilThread(thread[g].id) || !keeper_waits(g)) return nullptr;
    if (call(by, COBNUT_KIP_TLS_CONTROL, {thread[g].id.raw, base, 0, 0, 0, 0, 0})) thread[g].tls = base;
    return nullptr;
}
const char *probed(Word g, Word count) { return block(g, BLOCK_COUNT) != count ? judge_probe(g) : nullptr; }

const char *selector(const Step &step)
{
    const Word g = mover(step), count = block(g, BLOCK_COUNT);
    if (!waits(g)) return nullptr;
    const bool own = step.x % 4 && thread[g].tls != ~Word{0}, fs = step.y % 2;
    block(g, BLOCK_ARGUMENT) = own ? AGENT_TLS : fs ? AGENT_USER_DATA : AGENT_UTCB_WORD;
    send_to(g, entry(keeper_page, fs ? agent_load_fs : agent_load_gs));
    return probed(g, count);
}

/// Where a thread goes: mostly where its code is mapped, or sent to.
Word destination(Word g, const Step &step)
{
    constexpr Word code_register = 3;
    const Word s = thread[g].space;
    if (thread[g].code_sent && step.y & 24)
        return space[s].utcb_area + g * 512 + L4_UtcbIdOffset + code_register * sizeof(Word);
    const Word base = step.y & 48 ? pick(places, step.x) : keeper_page;
    const char *const labels[] = {agent_probe, agent_report, agent_report_by_stub, agent_report, agent_mini};
    return entry(base, labels[step.y % 5]);
}

/// The controller has control of a space for as long as this lives.
class Control {
public:
    explicit Control(L4_ThreadId_t space) : space_(space)
    {
        redirect(L4_Myself());
        cobnut::set_controlled(space_, true);
    }
    Control(const Control &) = delete;
    ~Control() { redirect(L4_anythread); }

private:
    void redirect(L4_ThreadId_t to) const { L4_SpaceControl(space_, 0, L4_Nilpage, L4_Nilpage, to, nullptr); }
    L4_ThreadId_t space_;
};

/// ExchangeRegisters by the keeper, or by the controller from outside, with all registers: the kernel leaves to an
/// address of another thread's choice.
const char *exchange(const Step &step)
{
    constexpr Word resume_there = 0x11E, keep_halted = 0x01E;
    const Word g = mover(step), s = thread[g].space, ip = destination(g, step), count = block(g, BLOCK_COUNT);
    if (L4_IsNilThread(thread[g].id) || !keeper_waits(g)) return nullptr;
    const Word control = step.y & 64 || step.y & 128 ? resume_there : keep_halted;
    thread[g].at = ip & ~(page_size - 1);
    if (step.y & 256) {
        const Control mine(thread[g].id);
        cobnut::AllRegisters registers = {};
        registers.eip = ip, registers.esp = stack_of(g), registers.ebx = registers.eflags = step.x;
        constexpr Word in_both = cobnut::control_resume | cobnut::control_cancel;
        cobnut::control_thread(thread[g].id, (control & in_both) | cobnut::control_write, &registers);
    } else {
        call(keeper_of(s), L4_KIP_EXCHANGE_REGISTERS, {thread[g].id.raw, control, stack_of(g), ip, 0, 0, 0});
    }
    hear(g);
    return probed(g, count);
}
/// The thread jumps there by itself.
const char *jump(const Step &step)
{
    const Word g = mover(step), ip = destination(g, step), count = block(g, BLOCK_COUNT);
    if (!waits(g)) return nullptr;
    send_to(g, ip);
    return probed(g, count);
}
const char *halt(const Step &step)
{
    const Word g = mover(step);
    if (L4_IsNilThread(thread[g].id) || !keeper_waits(g)) return nullptr;
    const Word control = step.x % 2 ? 0x101 : 0x100;
    call(keeper_of(thread[g].space), L4_KIP_EXCHANGE_REGISTERS, {thread[g].id.raw, control, 0, 0, 0, 0, 0});
    thread[g].state = control & 1 ? State::lost : thread[g].state;
    return nullptr;
}

Heard send_item(Word g, L4_MapItem_t item)
{
    L4_Set_MsgTag(L4_MsgTag_t{.raw = 2u << 6});
    L4_LoadMR(1, item.raw[0]);
    L4_LoadMR(2, item.raw[1]);
    return tell(g);
}
const char *map(const Step &step)
{
    const Word g = any_of(step), n = step.x % place_count, s = thread[g].space;
    if (!waits(g)) return nullptr;
    note_reach(s, places[n] + page_size);
    send_item(g, L4_MapItem(code_page(s), places[n]));
    return nullptr;
}
/// Map items without pages, of all sizes. Such a message makes nothing reachable.
const char *empty(const Step &step)
{
    constexpr Word bases[] = {0, 0x00100000, 0x00400000, 0x10000000, 0x20000000, 0xBFC00000};
    const Word g = any_of(step), log2 = 12 + step.x % 17;
    if (!waits(g)) return nullptr;
    send_item(g,
              L4_MapItem(L4_FpageLog2(nothing_at, static_cast<int>(log2)) + L4_FullyAccessible, pick(bases, step.y)));
    return nullptr;
}
/// The keeper of one space gives what it has, or has not, to a thread of another.
const char *give(const Step &step)
{
    const Word from = keeper(step), to = keeper_of(step.x % attackers) + step.y % threads_each,
               n = step.y / 8 % place_count;
    if (!alive(step.space) || !waits(to) || thread[to].space == step.space) return nullptr;
    touches_utcbs(step.space);
    note_going_on(to);
    const L4_Fpage_t page = L4_FpageLog2(places[n], 12) + L4_ReadeXecOnly;
    const L4_MapItem_t item = L4_MapItem(page, places[(n + step.x / 4) % place_count]);
    if (space[step.space].mapped[n]) note_reach(thread[to].space, places[(n + step.x / 4) % place_count] + page_size);
    block(from, BLOCK_REGISTERS) = item.raw[0] | (step.x / 4 % 2 ? 2 : 0);
    block(from, BLOCK_REGISTERS + 4) = item.raw[1];
    block(from, BLOCK_ARGUMENT) = thread[to].id.raw;
    send_to(from, entry(keeper_page, agent_give));
    L4_Sleep(L4_TimePeriod(pause_microseconds)); // the other one goes on, too
    return nullptr;
}
const char *unmap(const Step &step)
{
    take_code(step.space);
    return nullptr;
}
const char *unmap_own(const Step &step)
{
    const Word n = step.x % place_count;
    if (!alive(step.space)) return nullptr;
    const L4_Fpage_t fpage = L4_FpageLog2(places[n], 12) + L4_FullyAccessible;
    if (step.y & 256) {
        const Control mine(id(step));
        cobnut::flush_in(id(step), fpage);
    } else {
        call(keeper(step), L4_KIP_UNMAP, {0x40, 0, 0, fpage.raw, 0, 0, 0});
    }
    space[step.space].mapped[n] = false;
    return nullptr;
}

const char *poke(const Step &step)
{
    const Word g = any_of(step);
    L4_Set_MsgTag(L4_Niltag);
    if (waits(g)) tell(g);
    return nullptr;
}
const char *code(const Step &step)
{
    const Word g = mover(step);
    if (waits(g) && send_code(g) == Heard::answer) thread[g].code_sent = true;
    return nullptr;
}
/// As often as makes the space worth a slot.
const char *talk(const Step &step)
{
    const Word g = any_of(step);
    for (Word i = 0; i < talks && waits(g); i++) {
        L4_Set_MsgTag(L4_Niltag);
        tell(g);
    }
    return nullptr;
}
const char *pause(const Step &)
{
    L4_Sleep(L4_TimePeriod(pause_microseconds));
    return nullptr;
}
const char *visit(const Step &)
{
    visit_victims();
    return nullptr;
}

const char *migrate(const Step &step)
{
    const Word g = mover(step), to = step.x % attackers;
    if (L4_IsNilThread(thread[g].id) || !alive(to) || thread[g].space == to) return nullptr;
    if (!L4_ThreadControl(thread[g].id, thread[keeper_of(to)].id, L4_nilthread, L4_nilthread,
                          reinterpret_cast<void *>(-1)))
        return nullptr;
    thread[g].space = to;
    thread[g].state = State::lost;
    return nullptr;
}
const char *area(const Step &step)
{
    for (Space &s : space) s.asked = true;
    remove_space(step.space);
    make_space(step.space, pick(utcb_areas, step.y), pick(utcb_areas, step.x));
    return nullptr;
}
const char *make_another(const Step &step)
{
    if (alive(step.space)) make_thread(mover(step));
    return nullptr;
}
const char *accept(const Step &step)
{
    const Word g = any_of(step);
    if (!waits(g)) return nullptr;
    touches_utcbs(thread[g].space);
    send_to(g, entry(keeper_page, agent_accept));
    return nullptr;
}

/// Its exception, by `int` or by sysenter, waits for an answer while others change its space, or its segment.
const char *reflect(const Step &step)
{
    const Word g = mover(step), s = thread[g].space;
    if (!waits(g) || s != g / threads_each || !alive(s)) return nullptr;
    touches_utcbs(s);
    block(g, BLOCK_ARGUMENT) = space[s].utcb_area + g * 512 + L4_UtcbIdOffset;
    const bool gate = step.y % 2 && cobnut::set_controlled(thread[g].id, true);
    send_to(g, entry(keeper_page, gate ? agent_gate : agent_reflect));
    return nullptr;
}
/// Of that thread, or of the next that has one.
const char *answer(const Step &step)
{
    Word g = mover(step);
    for (Word i = 0; i < threads && !thread[g].reflected; i++) g = (g + 1) % threads;
    if (!thread[g].reflected) return nullptr;
    const Word count = block(g, BLOCK_COUNT);
    constexpr Word flags[] = {0x202, 0x4ED7, 0x20602, 0x0}; // also those that no user may set
    answer_to(g, destination(g, step), pick(flags, step.x / 4), step.x / 32 % 2);
    return probed(g, count);
}

/// An access about the end of the space, or to where a victim's linear addresses are.
const char *reach(const Step &step)
{
    const char *const labels[] = {agent_read_ds, agent_write_ds, agent_read_es, agent_write_es,
                                  agent_read_fs, agent_write_fs, agent_read_gs, agent_write_gs,
                                  agent_read_ss, agent_write_ss, agent_read_cs};
    const Word g = mover(step), s = thread[g].space;
    if (!waits(g) || !alive(s) || !limits) return nullptr;
    const cobnut::Tag own = cobnut::tag_of(thread[g].id), other = cobnut::tag_of(victim[step.x / 8 % 2]);
    const Word size = own.size_mb * mega;
    const Word offsets[] = {size,
                            size - 1,
                            size - 3,
                            2 * size,
                            (other.offset_mb - own.offset_mb) * mega + canary_places[1],
                            ~Word{3},
                            (other.offset_mb - own.offset_mb) * mega,
                            ~Word{0}};
    const Word at = offsets[step.x % 8];
    if (!own.size_mb || (at < size && at != size - 1 && at != size - 3)) return nullptr;
    block(g, BLOCK_ARGUMENT) = at;
    block(g, BLOCK_WORD) = scribble;
    block(g, BLOCK_EAX) = 0;
    note_reach(s, ~Word{0});
    send_to(g, entry(keeper_page, labels[step.y % 11]));
    return block(g, BLOCK_EAX) == canary ? "a victim's memory was read" : nullptr;
}

constexpr const char *(*const actions[ops])(const Step &) = {
    slot_name, slot_size, to_kernel, bind, tls,   tls_call,     selector, exchange, jump,
    halt,      map,       empty,     give, unmap, unmap_own,    poke,     code,     talk,
    pause,     visit,     migrate,   area, reach, make_another, accept,   reflect,  answer,
};

} // namespace

namespace {

Op random_op(Random &random) { return static_cast<Op>(random.weighted(weights)); }

/// What sets a thread going after its space, its segment or its memory has become another, before anything else does.
Op sequel(Random &random, Op before)
{
    switch (before) {
    case Op::code: return random.below(2) ? Op::tls : Op::exchange;
    case Op::tls:
    case Op::tls_call:
    case Op::halt: return random.below(4) ? Op::exchange : Op::reflect;
    case Op::reflect: {
        constexpr Op then[] = {Op::slot_name, Op::slot_size, Op::to_kernel, Op::tls_call, Op::exchange, Op::answer};
        return pick(then, random.next());
    }
    case Op::slot_name:
    case Op::slot_size:
    case Op::unmap:
    case Op::unmap_own:
    case Op::talk: {
        constexpr Op then[] = {Op::poke, Op::exchange, Op::exchange, Op::answer};
        return pick(then, random.next());
    }
    default: return random_op(random);
    }
}

} // namespace

// The first is in a longer slot than 1 MB; the others mostly begin side by side in such, and then have their areas
// moved.
Shape random_shape(Random &random, Word s)
{
    Shape shape;
    shape.first = utcb_areas[s == 0 ? 2 + random.below(2) : random.below(3) ? 0 : random.below(utcb_area_count)];
    shape.then = utcb_areas[random.below(2) ? 1 : random.below(utcb_area_count)];
    return shape;
}

void print_shape(const Shape &shape) { cobnut::print(" area %x then %x", shape.first, shape.then); }

bool read_options(const cobnut::Options &options)
{
    bool bad = false;
    area_mb = options.number("area", area_mb, &bad);
    limits = options.number("limits", 0, &bad) != 0;
    const cobnut::Text wrong = options.find("mistake");
    mistake = wrong == "segment" ? Mistake::segment : wrong == "slot" ? Mistake::slot : Mistake::none;
    return !bad && !(wrong && mistake == Mistake::none) && area_mb >= 64;
}

const char *begin_episode(const Shape (&shapes)[attackers])
{
    remove_all();
    restore_victims();
    for (Word s = 0; s < attackers; s++)
        if (!make_space(s, shapes[s].first, shapes[s].then)) return "a space cannot be made";
    return nullptr;
}

Step random_step(Random &random, Word favourite, Op before)
{
    const Op op = random.below(2) ? random_op(random) : sequel(random, before);
    const Word concerned = random.below(3) ? favourite : random.below(threads);
    return {op, concerned / threads_each, concerned % threads_each, random.next(), random.next()};
}

const char *take(const Step &step)
{
    if (!alive(step.space) && step.op != Op::area) return nullptr;
    note_tags();
    const char *found = actions[static_cast<Word>(step.op)](step);
    return found ? found : judge_step(step.space);
}

} // namespace compose
