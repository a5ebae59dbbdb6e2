// SPDX-License-Identifier: BSD-2-Clause
// Frames that are doctored: answers to an exception, and what a thread may change of itself.
#include "trials.h"

namespace attack {
namespace {

constexpr Word not_users = 0x3000 | 0x4000 | 0x10000 | 0x20000 | 0x180000; // IOPL, NT, RF, VM, VIF and VIP

/// Raises an exception, changes its answer, and hears how it went on.
template <typename Change> bool answer(bool small, Report &r, Change change, unsigned count = message_words)
{
    Attacker a(small);
    if (!a.ready()) return false;
    r = a.run({.code = attempt_nothing});
    if (!r.finished()) return false;
    Word words[20] = {};
    for (unsigned i = 0; i < message_words; i++) words[i] = r.message[i + 1];
    change(words);
    r = a.resume(words, count);
    return true;
}
bool answer_ip(bool small, Word ip, Report &r)
{
    return answer(small, r, [&](Word *w) { w[message_ip] = ip; }) && own_or_nothing(r, small, ip);
}
bool ip_above(bool small, Report &r) { return answer_ip(small, end_of(small), r); }
bool ip_in_kernel(bool small, Report &r) { return answer_ip(small, kernel_text - base_of(small), r); }
bool ip_in_kernel_flat(bool small, Report &r) { return answer_ip(small, kernel_text, r); }
bool ip_on_trampoline(bool small, Report &r) { return answer_ip(small, trampoline, r); }
bool ip_last_byte(bool small, Report &r) { return answer_ip(small, ~Word{0}, r); }

/// All flags on, but single steps.
bool flags(bool small, Report &r)
{
    return answer(small, r,
                  [](Word *w) {
        w[message_ip] = reinterpret_cast<Word>(trial_flags);
        w[message_flags] = ~Word{0x100};
    }) && r.finished() &&
           (r.eax() & (not_users | 0x200)) == 0x200;
}
bool flags_off(bool small, Report &r)
{
    return answer(small, r,
                  [](Word *w) {
        w[message_ip] = reinterpret_cast<Word>(trial_flags);
        w[message_flags] = 0;
    }) && r.finished() &&
           (r.eax() & (not_users | 0x200)) == 0x200;
}
/// Single steps are the attacker's own: an exception at its next instruction.
bool single_step(bool small, Report &r)
{
    return answer(small, r,
                  [](Word *w) {
        w[message_ip] = reinterpret_cast<Word>(trial_flags);
        w[message_flags] |= 0x100;
    }) && r.exception &&
           r.vector() == 1 && r.ip() - reinterpret_cast<Word>(trial_flags) < 8;
}
bool answer_sp(bool small, Word sp, Report &r)
{
    return answer(small, r, [&](Word *w) { w[message_sp] = sp; }) && r.finished() && r.sp() == sp;
}
bool sp_in_kernel(bool small, Report &r) { return answer_sp(small, kernel_text - base_of(small), r); }
bool sp_in_kernel_flat(bool small, Report &r) { return answer_sp(small, kernel_text, r); }
bool sp_zero(bool small, Report &r) { return answer_sp(small, 0, r); }
/// More words than there are registers: what other kernels' frames have behind them are segments.
bool more_words(bool small, Report &r)
{
    const bool sent = answer(small, r, [](Word *w) {
        w[message_ip] = reinterpret_cast<Word>(trial_selectors);
        for (unsigned i = message_words; i < 20; i++) w[i] = 0x10; // the kernel's data
    }, 20);
    Word cs, ds;
    __asm__("mov %%cs, %0" : "=r"(cs));
    __asm__("mov %%ds, %0" : "=r"(ds));
    return sent && r.finished() && r.eax() == ((cs << 8 | ds) << 8 | ds);
}

Report exchange(bool small, const char *code, Word flags, Word ip)
{
    Attacker a(small);
    return a.ready() ? a.run({.code = code, .esi = ip, .ebx = flags, .edx = a.id().raw}) : Report{};
}
bool own_flags(bool small, Report &r)
{
    r = exchange(small, trial_exchange_own_flags, ~Word{0x100}, 0);
    return r.finished() && (r.eax() & (not_users | 0x200)) == 0x200;
}
bool own_ip(bool small, Word ip, Report &r)
{
    r = exchange(small, trial_exchange_own_ip, 0, ip);
    return own_or_nothing(r, small, ip);
}
bool own_ip_above(bool small, Report &r) { return own_ip(small, end_of(small), r); }
bool own_ip_kernel(bool small, Report &r) { return own_ip(small, kernel_text, r); }
bool own_ip_trampoline(bool small, Report &r) { return own_ip(small, trampoline, r); }

} // namespace

const Trial frame_trials[] = {
    {"reply.ip_above", ip_above, false},
    {"reply.ip_in_kernel", ip_in_kernel, false},
    {"reply.ip_in_kernel_flat", ip_in_kernel_flat, false},
    {"reply.ip_on_trampoline", ip_on_trampoline, false},
    {"reply.ip_last_byte", ip_last_byte, false},
    {"reply.all_flags", flags, false},
    {"reply.no_flags", flags_off, false},
    {"reply.single_step", single_step, false},
    {"reply.sp_in_kernel", sp_in_kernel, false},
    {"reply.sp_in_kernel_flat", sp_in_kernel_flat, false},
    {"reply.sp_zero", sp_zero, false},
    {"reply.segments", more_words, false},
    {"exchange.all_flags", own_flags, false},
    {"exchange.ip_above", own_ip_above, false},
    {"exchange.ip_in_kernel", own_ip_kernel, false},
    {"exchange.ip_on_trampoline", own_ip_trampoline, false},
    {nullptr, nullptr, false},
};

} // namespace attack
