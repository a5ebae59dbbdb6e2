// SPDX-License-Identifier: BSD-2-Clause
#include "boot/boot_info.hpp"

#include "arch/paging.hpp"
#include "boot/formats.hpp"
#include "core/string.hpp"

namespace boot_info {

Writer::Writer(PAddr at) : base_(at), used_(sizeof(bootinfo::Header)) { fill_zero(window(at), bytes); }

// A record with its variable part; nullptr if it does not fit.
template <typename T>
T* Writer::record(Word type, const void* behind, Word bytes_behind) {
    Word size = (sizeof(T) + bytes_behind + 3) & ~3u;
    if (size > bytes - used_) {
        full_ = true;
        return nullptr;
    }
    auto* r = reinterpret_cast<T*>(static_cast<char*>(window(base_)) + used_);
    r->record = {type, 1, size};
    memcpy(r + 1, behind, bytes_behind);
    used_ += size;
    records_ += 1;
    return r;
}

void Writer::executable(const kip::Server& s, const char* command_line) {
    if (auto* r = record<bootinfo::Executable>(bootinfo::simple_executable, command_line, strlen(command_line) + 1)) {
        r->text = {s.low, s.low, s.high - s.low};
        r->ip = s.ip;
        r->command_line = sizeof *r;
    }
}

void Writer::module(PAddr start, Word size, const char* command_line) {
    if (auto* r = record<bootinfo::Module>(bootinfo::module, command_line, strlen(command_line) + 1)) {
        r->start = start;
        r->size = size;
        r->command_line = sizeof *r;
    }
}

void Writer::loaders_own(Word type, const void* data, Word size) {
    struct Own {
        bootinfo::Record record;
        Word address;
    };
    if (auto* r = record<Own>(type, data, size)) r->address = physical(r + 1);
}

bool Writer::finish() {
    *static_cast<bootinfo::Header*>(window(base_)) = {
        bootinfo::magic, 1, used_, sizeof(bootinfo::Header), records_, {}};
    return !full_;
}

}  // namespace boot_info
