// SPDX-License-Identifier: BSD-2-Clause
#include "program.h"

#include "slot.h"

#include <cobnut/layout.h>
#include <cobnut/program.h>
#include <cobnut/space.h>
#include <l4/schedule.h>
#include <l4/sigma0.h>

extern "C" void *memcpy(void *, const void *, size_t);

namespace init {
namespace {

using rpc::Error;

constexpr Word page_mask = page_size - 1, page_log2 = 12;

// A program's space, beside what cobnut/layout.h says of it.
constexpr Word program_high = 0x40000000; // of segments
constexpr Word ordinary = 100; // the priority of programs whose description does not say another one
constexpr L4_Time_t default_timeslice = L4_TIME_(4 << 10 | 625); // 10 ms
constexpr Word ordinary_quantum_us = 1 << 20;
constexpr Word attached_low = 0x00500000, attached_high = 0x70000000; // where Attach chooses, and what it takes

/// Thread numbers behind init's own: most_threads for each program.
Word first_number() { return L4_ThreadNo(L4_Myself()) + 1; }

Word pages_of(Word bytes) { return (bytes + page_mask) / page_size; }

} // namespace

bool Program::describe(const cobnut::Module &module, Word number, Services &services)
{
    module_ = module;
    number_ = number;
    quota_ = {};
    if (!description_.read(module.command_line, services)) {
        description_ = {};
        return false;
    }
    quota_.limit = description_.memory;
    return true;
}

L4_ThreadId_t Program::thread(Word n) const
{
    // a version's low six bits must not all be 0, and a start's threads are no earlier start's
    return L4_GlobalId(first_number() + number_ * most_threads + n, (starts_ << 1 | 1) & 0x3FFF);
}

bool Program::owns(L4_ThreadId_t tid) const
{
    const Word n = L4_ThreadNo(tid) - L4_ThreadNo(main());
    return state_ == State::running && n < threads_ && tid == thread(n) && !(spaces_ >> n & 1);
}

Word Program::number_of(L4_ThreadId_t tid)
{
    const Word n = L4_ThreadNo(tid) - first_number();
    return n < most_programs * most_threads ? n / most_threads : most_programs;
}

bool Program::free_at(Word address, Word pages) const
{
    const Word bytes = pages * page_size, kernels_end = COBNUT_UTCB_ADDRESS + (1u << COBNUT_UTCB_LOG2);
    if (address < kernels_end && address + bytes > COBNUT_KIP_ADDRESS) return false;
    for (const Region &r : regions_)
        if (r.pages && address < r.address + r.pages * page_size && r.address < address + bytes) return false;
    return true;
}

bool Program::add_region(Word address, Word pages, Word handle, bool writable)
{
    for (Region &r : regions_) {
        if (r.pages) continue;
        r = {address, pages, handle, writable};
        return true;
    }
    return false;
}

const char *Program::load(Dataspaces &memory, const cobnut::ElfImage &image, bool &again)
{
    // program.ld gives each segment pages of its own
    for (size_t i = 0; i < image.count; i++) {
        const cobnut::ElfSegment &s = image.segments[i];
        const Word start = s.address & ~page_mask, pages = pages_of(s.address - start + s.memory_size);
        const rpc::Result<Word> made = memory.create(number_, quota_, pages);
        if (!made) return rpc::describe(made.error);
        if (!free_at(start, pages) || !add_region(start, pages, made.value, s.writable)) {
            again = false;
            return "two of its segments share a page";
        }
        const char *from = reinterpret_cast<const char *>(module_.start) + s.offset;
        for (Word done = 0; done < s.file_size;) {
            const Word at = s.address - start + done, in_page = at & page_mask;
            Word bytes = page_size - in_page;
            if (bytes > s.file_size - done) bytes = s.file_size - done;
            bool read_only;
            const Word page = memory.page(made.value, at / page_size, true, read_only);
            memcpy(reinterpret_cast<void *>(page + in_page), from + done, bytes);
            done += bytes;
        }
    }
    return nullptr;
}

bool Program::make_stack(Dataspaces &memory, Word &sp)
{
    const Word pages = description_.stack, start = cobnut::payload_stack_top - pages * page_size;
    const rpc::Result<Word> made = memory.create(number_, quota_, pages);
    if (!made || !add_region(start, pages, made.value, true)) return false;
    bool read_only;
    const Word top = memory.page(made.value, pages - 1, true, read_only) + page_size;
    sp = cobnut::put_command_line(reinterpret_cast<char *>(top), description_.arguments);
    return true;
}

bool Program::make_scrap(Dataspaces &memory)
{
    const rpc::Result<Word> made = memory.create(number_, quota_, 1);
    scrap_ = made.value;
    return bool(made);
}

/// What the description itself says of a device.
FoundDevice Program::described_device() const
{
    FoundDevice device;
    device.place = 0;
    device.has.line = description_.lines ? static_cast<Word>(__builtin_ctz(description_.lines)) : ~0u;
    for (size_t i = 0; i < description_.register_ranges; i++) {
        const Range &range = description_.registers[i];
        device.has.ranges[i] = {range.first, range.last - range.first + 1, 0};
    }
    if (framebuffer_)
        device.has.ranges[description_.register_ranges] = {framebuffer_, description_.framebuffer * page_size, 0};
    return device;
}

void Program::take_framebuffer()
{
    if (!description_.framebuffer) return;
    const int log2 = static_cast<int>(page_log2) + __builtin_ctz(description_.framebuffer);
    const L4_Fpage_t piece = L4_Sigma0_GetAny(L4_nilthread, static_cast<Word>(log2), L4_CompleteAddressSpace);
    framebuffer_ = L4_IsNilFpage(piece) ? 0 : L4_Address(piece);
}

/// Finds the device of the description and switches it on; nullptr, or what is wrong.
const char *Program::take_device()
{
    if (description_.framebuffer && !framebuffer_) return "there is no memory in one piece for its framebuffer";
    if (description_.register_ranges) device_ = described_device();
    if (!description_.device) return nullptr;
    device_ = find_device(description_.device, 0);
    if (!device_) return "the machine has no such device";
    // no master yet: it may still have the addresses that its last driver gave it, whose memory is others' now
    switch_device(device_, DeviceUse::decodes);
    return nullptr;
}

bool Program::may_use_port(Word port) const
{
    for (const DeviceRange &range : device_.has.ranges)
        if (device_ && range.is_ports && port - range.first < range.size) return true;
    return description_.may_use_port(port);
}

bool Program::may_use_line(Word line) const
{
    return line < 32 && (description_.lines >> line & 1 || (device_ && device_.has.line == line));
}

Word Program::quantum_us() const { return description_.priority > ordinary ? Budget::quantum_us : ordinary_quantum_us; }

/// Every thread has a total quantum (manual 3.5): so init hears of one that runs before ordinary programs if it runs
/// for long, and knows what each has used.
void Program::schedule(L4_ThreadId_t thread, Word priority) const
{
    L4_Set_Priority(thread, priority);
    L4_Set_Timeslice(thread, default_timeslice, L4_TimePeriod(quantum_us()));
}

/// Of its present quantum. The kernel says what is left of it as a time of the manual's, to a thousandth.
Word Program::used_us(L4_ThreadId_t thread) const
{
    L4_Time_t slice, left;
    if (!L4_Timeslice(thread, &slice, &left)) return 0;
    const Word left_us = static_cast<Word>(L4_PeriodUsec(left));
    return left_us < quantum_us() ? quantum_us() - left_us : 0;
}

Word Program::used_ms() const
{
    Word used = spent_ms_;
    for (Word n = 0; n < threads_; n++)
        if (!(spaces_ >> n & 1)) used += used_us(thread(n)) / 1000;
    return used;
}

void Program::spend(L4_ThreadId_t thread, L4_Word64_t now)
{
    const Word n = thread_number(thread), itself = 1u << n;
    if (is_outside_ || description_.priority <= ordinary || budget_.renew(now)) lowered_ &= ~itself;
    else lowered_ |= itself;
    renew_quantum(n);
}

void Program::raise(L4_Word64_t now)
{
    if (!lowered_ || !budget_.renew(now)) return;
    const Word raised = lowered_;
    lowered_ = 0;
    for (Word n = 0; n < threads_; n++)
        if (raised >> n & 1) renew_quantum(n);
}

/// Of that thread, which has used some of its last one.
void Program::renew_quantum(Word n)
{
    spent_ms_ += used_us(thread(n)) / 1000;
    schedule(thread(n), lowered_ >> n & 1 ? ordinary : description_.priority);
}

const char *Program::start(Dataspaces &memory, bool &again)
{
    again = false;
    if (const char *missing = take_device()) return missing;
    const void *file = reinterpret_cast<const void *>(module_.start);
    cobnut::ElfImage image;
    const cobnut::ElfError error = cobnut::parse_elf(file, module_.size, cobnut::payload_low, program_high, image);
    if (error != cobnut::ElfError::none) return cobnut::describe(error);
    starts_++;
    Word sp = 0;
    again = true;
    const char *wrong = load(memory, image, again);
    if (!wrong && !make_stack(memory, sp)) wrong = rpc::describe(Error::no_memory);
    if (!wrong && !make_scrap(memory)) wrong = rpc::describe(Error::no_memory);
    if (!wrong && cobnut_make_space(main(), L4_Myself(), &utcbs_)) wrong = "the kernel makes no space for it";
    if (!wrong) {
        threads_ = 1;
        spent_ms_ = messages_ = lowered_ = 0;
        budget_ = {};
        state_ = State::running;
        make_slot(main(), description_);
        schedule(main(), description_.priority);
        if (!cobnut_start(main(), image.entry, sp)) return nullptr;
        wrong = "it does not take its start message";
    }
    end(memory, failed);
    return wrong;
}

bool Program::start_outside(Dataspaces &memory, L4_Fpage_t utcbs, Word threads)
{
    starts_++;
    is_outside_ = true;
    if (!make_scrap(memory)) return false;
    utcbs_ = utcbs;
    threads_ = threads;
    spent_ms_ = messages_ = lowered_ = 0;
    budget_ = {};
    state_ = State::running;
    return true;
}

void Program::end(Dataspaces &memory, int code)
{
    for (Word n = threads_; n--;)
        L4_ThreadControl(thread(n), L4_nilthread, L4_nilthread, L4_nilthread, reinterpret_cast<void *>(-1));
    // before its memory is anybody else's
    if (device_ && description_.device) switch_device(device_, DeviceUse::none);
    for (Word line = 0; line < 32; line++)
        if (may_use_line(line)) L4_DeassociateInterrupt(L4_GlobalId(line, 1));
    device_ = {};
    threads_ = spaces_ = ended_ = lowered_ = 0;
    state_ = State::ended;
    code_ = code;
    for (Region &r : regions_) r = {};
    memory.leave(number_, quota_);
}

rpc::Result<Word> Program::make_thread(Word ip, Word sp)
{
    if (threads_ == most_threads) return Error::full;
    const L4_ThreadId_t made = thread(threads_);
    const Word utcb = L4_Address(utcbs_) + threads_ * L4_UtcbSize(L4_GetKernelInterface());
    if (!L4_ThreadControl(made, main(), L4_Myself(), L4_Myself(), reinterpret_cast<void *>(utcb)))
        return Error::no_memory;
    schedule(made, description_.priority);
    threads_++;
    if (cobnut_start(made, ip, sp)) return Error::no_memory;
    return made.raw;
}

rpc::Result<Word> Program::make_space()
{
    const Word n = ended_ ? static_cast<Word>(__builtin_ctz(ended_)) : threads_;
    if (n == most_threads) return Error::full;
    const L4_ThreadId_t made = thread(n);
    if (cobnut_make_space(made, main(), nullptr)) return Error::no_memory;
    Word old = 0;
    if (description_.large) L4_SpaceControl(made, L4_SmallSpaceChange, L4_Nilpage, L4_Nilpage, L4_nilthread, &old);
    L4_Set_Priority(made, description_.priority);
    if (n == threads_) threads_++;
    spaces_ |= 1u << n;
    ended_ &= ~(1u << n);
    return made.raw;
}

rpc::Error Program::end_space(L4_ThreadId_t space)
{
    const Word n = L4_ThreadNo(space) - L4_ThreadNo(main());
    if (n >= threads_ || !((spaces_ & ~ended_) >> n & 1) || space != thread(n)) return Error::not_found;
    L4_ThreadControl(space, L4_nilthread, L4_nilthread, L4_nilthread, reinterpret_cast<void *>(-1));
    ended_ |= 1u << n;
    return Error::none;
}

rpc::Result<Word> Program::attach(Dataspaces &memory, Word handle, Word address, bool writable)
{
    if (!memory.readable(handle, number_)) return Error::not_found;
    if (writable && !memory.writable(handle, number_)) return Error::denied;
    const Word pages = memory.pages(handle), bytes = pages * page_size;
    if (!address) {
        address = attached_low;
        for (bool moved = true; moved;) {
            moved = false;
            for (const Region &r : regions_) {
                if (!r.pages || address >= r.address + r.pages * page_size || r.address >= address + bytes) continue;
                address = r.address + r.pages * page_size;
                moved = true;
            }
        }
    }
    if (address & page_mask || address >= attached_high || bytes > attached_high - address) return Error::bad_value;
    if (!free_at(address, pages)) return Error::bad_value;
    if (!add_region(address, pages, handle, writable)) return Error::full;
    return address;
}

rpc::Error Program::detach(Dataspaces &memory, Word address)
{
    for (Region &r : regions_) {
        if (!r.pages || r.address != address) continue;
        memory.unmap(memory.readable(r.handle, number_) ? r.handle : scrap_);
        r = {};
        return Error::none;
    }
    return Error::not_found;
}

void Program::forget(Word handle)
{
    for (Region &r : regions_)
        if (r.pages && r.handle == handle) r = {};
}

bool Program::resolve(Dataspaces &memory, Word address, bool write, L4_MapItem_t &item)
{
    address &= ~page_mask;
    for (const Region &r : regions_) {
        if (!r.pages || address < r.address || address >= r.address + r.pages * page_size) continue;
        if (write && !r.writable) return false;
        const bool there = memory.readable(r.handle, number_);
        const Word number = there ? (address - r.address) / page_size : 0;
        bool read_only;
        const Word page = memory.page(there ? r.handle : scrap_, number, write, read_only);
        const Word rights = r.writable && !read_only ? L4_FullyAccessible : L4_ReadeXecOnly;
        item = L4_MapItem(L4_FpageLog2(page, page_log2) + rights, address);
        return true;
    }
    return false;
}

} // namespace init
