// SPDX-License-Identifier: BSD-2-Clause
#include "judge.h"
#include "trials.h"

#include <cobnut/program.h>
#include <cobnut/tls.h>

namespace attack {

constinit unsigned rows = 0, refused_rows = 0, unenforced_rows = 0;

namespace {

bool contains(const char *text, const char *part)
{
    for (;; text++) {
        unsigned i = 0;
        while (part[i] && text[i] == part[i]) i++;
        if (!part[i]) return true;
        if (!*text) return false;
    }
}

Word place_of(const Place &place, const Attacker &a)
{
    const Word offset = static_cast<Word>(place.offset);
    switch (place.target) {
    case Target::own: return scratch_page + middle + offset;
    case Target::edge: return a.size() + offset;
    case Target::wrap: return offset;
    case Target::above: return stage.above_base() - a.base() + scratch_page + middle + offset;
    case Target::host: return host_page() + middle - a.base() + offset;
    case Target::kernel: return kernel_base + 0x100000 - a.base() + offset;
    case Target::linear: return stage.above_base() + scratch_page + middle + offset;
    }
    return 0;
}

/// Whether that is another space's now. If the kernel has made the attacker or its neighbour large, the attacker aims
/// at its own.
bool foreign(const Place &place, const Attacker &a)
{
    switch (place.target) {
    case Target::host: return a.base() != 0;
    case Target::above:
    case Target::linear: return stage.above_base() != 0;
    default: return true;
    }
}

constexpr unsigned most_tries = 100; // until the kernel has given all a slot
constexpr unsigned most_tries_inside = 3;

/// A space that sleeps may lose its slot to one that runs, and has one again when it is talked to.
void let_others_run()
{
    if (stage.automatic) keep_victims_busy();
    L4_Sleep(L4_TimePeriod(2000));
}

const char *kind_name(bool small)
{
    return stage.automatic ? "automatic" : stage.bound ? "bound" : small ? "small" : "large";
}

bool only_own(Word word)
{
    for (Word rest = word; rest; rest >>= 8)
        if ((rest & 0xFF) != own_fill) return false;
    return word != 0;
}

bool foreign_byte(Word word)
{
    for (Word rest = word; rest; rest >>= 8)
        if ((rest & 0xFF) == foreign_fill) return true;
    return false;
}

/// Past the limit at address `to` of its own: the space is promoted, and what was meant is its own page, which the
/// pager gives it. Where there can be none, or no standard segment reaches there, the fault is the attacker's.
bool limit_refused(const Report &r, const Attacker &a, Word to)
{
    const bool stopped = r.protection() || r.stack_fault();
    const Word reach = 512; // what an instruction or its repetitions may reach beyond `to`
    const bool own = a.small() && to + reach >= a.size() && to < stage.large_limit();
    if (stopped && r.faults == 0) return true;
    if (!own) return false;
    const Word first = to < a.size() ? a.size() : to & ~(page_size - 1);
    const bool at_own = r.faults && r.fault_address - first < page_size;
    return at_own && r.exception && !foreign_byte(r.eax()) && (r.finished() || r.protection(no_segment));
}

bool refused(const Attempt &t, const Report &r, const Attacker &a, Word to)
{
    switch (t.refusal) {
    case Refusal::limit: return limit_refused(r, a, to);
    case Refusal::selector: return r.protection(t.selector & ~3u);
    case Refusal::vector: return r.protection(t.detail);
    case Refusal::privileged: return r.protection() || (r.finished() && r.eax() == mark);
    case Refusal::protection: return r.protection();
    case Refusal::port: return r.port_fault;
    case Refusal::null: return r.finished() && r.eax() == own_word;
    case Refusal::task: return r.exception && r.vector() == 10 && r.error() == 0;
    case Refusal::value:
    case Refusal::flags: return r.finished() && r.eax() == t.detail;
    }
    return false;
}

/// Runs an attempt from a space of its own; `to` is where it aims at, in its own addresses.
Report run(const Attempt &t, bool inside, Attacker &a, Word &to)
{
    Start start = {.code = t.code};
    to = place_of(inside ? t.inside : t.to, a);
    start.esi = to;
    start.ecx = t.count;
    start.ebx = t.selector;
    if (inside) __asm__("mov %%ds, %0" : "=r"(start.ebx)); // the same selectors in all spaces
    if (inside && t.own_code) __asm__("mov %%cs, %0" : "=r"(start.ebx));
    if (t.segment != Segment::none) {
        Cobnut_TlsControl(a.id(), scratch_page, &start.ebx);
        start.esi -= scratch_page;
    }
    return a.run(start);
}

/// What QEMU lets through: limits, null selectors, a return to virtual 8086 mode and invd at any privilege.
bool left_to_processor(const Attempt &t)
{
    const Refusal r = t.refusal;
    return r == Refusal::limit || r == Refusal::null || r == Refusal::flags || r == Refusal::privileged;
}

/// After an exception the same once more, with the registers as they are.
Report run_again(const Attempt &t, Report r, Attacker &a)
{
    Word *const words = r.message + 1;
    words[message_ip] = reinterpret_cast<Word>(t.code);
    return a.resume(words, message_words);
}

/// Whether the same instructions inside the limits come to their end. GS is the kernel's: a clock tick between its load
/// and its use, or a page fault that the kernel sees to by itself (a directory entry that it copies), takes the
/// attempt's selector away, which is no limit's doing; without it the access is past a limit, for which the space loses
/// its slot. So such a run is made again: in the same space while that has its slot, where nothing is missing any more,
/// and in others.
bool works_inside(const Attempt &t, bool small, Report &r)
{
    for (unsigned tries = 0; tries < most_tries_inside; tries++) {
        Attacker a(small);
        Word to = 0;
        if (!a.ready()) return false;
        r = run(t, true, a, to);
        if (!a.in_slot()) continue;
        for (unsigned more = most_tries_inside; more-- > 0 && r.exception && !came_through(r, t);)
            r = run_again(t, r, a);
        if (!victims_intact()) return false;
        if (came_through(r, t)) return true;
    }
    return false;
}

void run_attempt(const Attempt &t, bool small)
{
    Report r;
    Word to = 0;
    const char *kind = kind_name(small);
    if (t.has_inside && !works_inside(t, small, r)) return row(kind, t.name, Status::blind, r);
    for (unsigned tries = 0; tries < most_tries; tries++) {
        Attacker a(small);
        if (!a.ready()) break;
        if (!foreign(t.to, a)) {
            let_others_run();
            continue;
        }
        r = run(t, false, a, to);
        const bool safe = victims_intact();
        const bool as_expected = refused(t, r, a, to);
        const Status otherwise = !stage.limits && left_to_processor(t) ? Status::unenforced : Status::escaped;
        return row(kind, t.name, safe && as_expected ? Status::refused : otherwise, r);
    }
    row(kind, t.name, Status::blind, r);
}

void run_trial(const Trial &t, bool small)
{
    Report r;
    const char *kind = kind_name(small);
    for (unsigned tries = 0; tries < most_tries; tries++) {
        r = {};
        const bool good = t.refused(small, r) && victims_intact();
        const Status otherwise = t.by_limits && !stage.limits ? Status::unenforced : Status::escaped;
        if (!r.aimless) return row(kind, t.name, good ? Status::refused : otherwise, r);
        let_others_run();
    }
    row(kind, t.name, Status::blind, r);
}

} // namespace

bool came_through(const Report &r, const Attempt &t)
{
    if (r.faults || !r.exception) return false;
    if (r.protection(no_segment)) return true;
    return r.finished() && (t.refusal == Refusal::value ? r.eax() != t.detail : only_own(r.eax()));
}

void row(const char *kind, const char *name, Status status, const Report &r)
{
    static constexpr const char *const words[] = {"refused", "escaped", "unenforced", "blind"};
    cobnut::print("attack: row %s.%s %s", kind, name, words[static_cast<int>(status)]);
    if (r.faults) cobnut::print(" %s fault at %x,", r.write ? "write" : "read", r.fault_address);
    if (r.port_fault) cobnut::print(" port %x\n", L4_IoFpagePort(L4_Fpage_t{.raw = r.port}));
    else if (r.silent) cobnut::print(" silence\n");
    else cobnut::print(" vector %u error %x ip %x eax %x\n", r.vector(), r.error(), r.ip(), r.eax());
    if (status != Status::refused) restore_victims();
    rows++;
    refused_rows += status == Status::refused;
    unenforced_rows += status == Status::unenforced;
}

void run_attempts(bool small, const char *only)
{
    for (const Attempt *t = attempts; t->name; t++) {
        if (!contains(t->name, only)) continue;
        if (!small && t->to.target == Target::host) continue; // it would be its own
        run_attempt(*t, small);
    }
}

void run_trials(const Trial *trials, bool small, const char *only)
{
    for (const Trial *t = trials; t->name; t++) {
        if (!contains(t->name, only)) continue;
        run_trial(*t, small);
    }
}

} // namespace attack
