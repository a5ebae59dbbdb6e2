// SPDX-License-Identifier: BSD-2-Clause
#include "pc/boot_info.hpp"

#include "arch/paging.hpp"
#include "core/string.hpp"

namespace boot_info {

Writer::Writer(PAddr at) : base_(at), used_(sizeof(bootinfo::Header)) { fill_zero(window(at), bytes); }

// A record with its text behind it; nullptr if it does not fit.
template <typename T>
T* Writer::record(Word type, const char* command_line) {
    Word text = command_line ? strlen(command_line) + 1 : 0;
    Word size = (sizeof(T) + text + 3) & ~3u;
    if (size > bytes - used_) {
        full_ = true;
        return nullptr;
    }
    auto* r = reinterpret_cast<T*>(static_cast<char*>(window(base_)) + used_);
    r->record = {type, 1, size};
    if (text) memcpy(r + 1, command_line, text);
    used_ += size;
    records_ += 1;
    return r;
}

void Writer::executable(const kip::Server& s, const char* command_line) {
    if (auto* r = record<bootinfo::Executable>(bootinfo::simple_executable, command_line)) {
        r->text = {s.low, s.low, s.high - s.low};
        r->ip = s.ip;
        r->command_line = sizeof *r;
    }
}

void Writer::module(PAddr start, Word size, const char* command_line) {
    if (auto* r = record<bootinfo::Module>(bootinfo::module, command_line)) {
        r->start = start;
        r->size = size;
        r->command_line = sizeof *r;
    }
}

void Writer::multiboot(const multiboot::Info& info) {
    struct Copy {
        bootinfo::Record record;
        Word address;
        multiboot::Info info;
    };
    if (auto* r = record<Copy>(bootinfo::multiboot_info, nullptr)) {
        r->info = info;
        r->info.flags = info.flags & multiboot::has_memory;
        r->address = physical(&r->info);
    }
}

bool Writer::finish() {
    *static_cast<bootinfo::Header*>(window(base_)) = {bootinfo::magic, 1, used_, sizeof(bootinfo::Header), records_, {}};
    return !full_;
}

}  // namespace boot_info
