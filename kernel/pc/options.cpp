// SPDX-License-Identifier: BSD-2-Clause
// The kernel's options: words NAME=VALUE on its command line. The loader may put the kernel's own name first. After an
// X.2 kickstart they are on that one's command line, among options of its own.
#include "arch/paging.hpp"
#include "boot/formats.hpp"
#include "core/arch.hpp"
#include "core/kip.hpp"
#include "core/print.hpp"
#include "core/string.hpp"
#include "ia32/loader.hpp"
#include "pc/multiboot.hpp"

namespace loader {
namespace {

struct Token {
    const char* start;
    Word length;
    bool is(const char* text) const { return strlen(text) == length && memcmp(start, text, length) == 0; }
    bool begins(const char* text) const { return strlen(text) <= length && memcmp(start, text, strlen(text)) == 0; }
    // The option NAME= with one of two values.
    bool chooses(const char* name, const char* yes, const char* no, bool& choice) const;
    bool has(char c) const {
        for (Word i = 0; i < length; ++i)
            if (start[i] == c) return true;
        return false;
    }
};

[[noreturn]] void refuse(Token t, const char* why) {
    print("cobnut: option ");
    for (Word i = 0; i < t.length; ++i) print(t.start[i]);
    print(": ", why, "\n");
    arch::power_off();
}

bool Token::chooses(const char* name, const char* yes, const char* no, bool& choice) const {
    if (!begins(name)) return false;
    Token value{start + strlen(name), length - strlen(name)};
    choice = value.is(yes);
    if (!choice && !value.is(no)) refuse(*this, "neither of its two values");
    return true;
}

Token next(const char*& line, const char* end) {
    while (line < end && *line == ' ') ++line;
    Token t{line, 0};
    while (line < end && *line && *line != ' ') ++line, ++t.length;
    return t;
}

// The multiboot information that a kickstart puts into BootInfo; the end of reachable memory if there is none.
PAddr loaders_own() {
    PAddr at = kip::kip.boot_info;
    if (at >= WINDOW_BYTES - page_size) return WINDOW_BYTES;
    auto& header = *static_cast<bootinfo::Header*>(window(at));
    Word records = header.magic == bootinfo::magic ? header.records : 0;
    for (at += header.first_record; records && at < WINDOW_BYTES - page_size; --records) {
        auto* record = static_cast<Word*>(window(at));
        if (record[0] == bootinfo::multiboot_info) return record[sizeof(bootinfo::Record) / sizeof(Word)];
        if (record[2] < sizeof(bootinfo::Record)) break;
        at += record[2];
    }
    return WINDOW_BYTES;
}

Word number(Token t, Word skip) {
    Word n = 0;
    if (skip == t.length) refuse(t, "a number is missing");
    for (Word i = skip; i < t.length; ++i) {
        if (t.start[i] < '0' || t.start[i] > '9' || n > 100000) refuse(t, "not a number");
        n = n * 10 + static_cast<Word>(t.start[i] - '0');
    }
    return n;
}

}  // namespace

Options options(Word magic, PAddr info_at) {
    Options o;
    const bool kickstart = page_is_patched();
    if (kickstart) info_at = loaders_own();
    else if (magic != multiboot_magic) return o;
    if (info_at >= WINDOW_BYTES - sizeof(multiboot::Info)) return o;
    auto& info = *static_cast<multiboot::Info*>(window(info_at));
    if (!(info.flags & multiboot::has_command_line) || info.command_line >= WINDOW_BYTES) return o;
    const char* line = static_cast<const char*>(window(info.command_line));
    const char* end = static_cast<const char*>(window(WINDOW_BYTES - 1));
    for (bool first = true;; first = false) {
        Token t = next(line, end);
        if (!t.length) return o;
        if (t.begins("small=")) {
            o.small_area_mb = number(t, 6);
            if (o.small_area_mb % 64 || o.small_area_mb > 2048) refuse(t, "a multiple of 64 up to 2048 is needed (MB)");
        } else if (t.begins("trace=")) {
            o.trace_kb = number(t, 6);
        } else if (!kickstart && t.begins("kmem=")) {
            o.kernel_memory_kb = number(t, 5);
        } else if (!(t.chooses("sysenter=", "on", "off", o.sysenter) ||
                       t.chooses("fastpath=", "on", "off", o.fast_path) ||
                       t.chooses("automatic=", "on", "off", o.automatic) ||
                       t.chooses("groups=", "on", "off", o.groups) ||
                       t.chooses("revocation=", "lazy", "eager", o.lazy_revocation)) &&
                   !kickstart && (!first || t.has('='))) {
            refuse(t,
                "unknown; there are small=, sysenter=, fastpath=, automatic=, groups=, revocation=, trace=, kmem=");
        }
    }
}

}  // namespace loader
