// SPDX-License-Identifier: BSD-2-Clause
// A program of the system: how it is loaded into a space of its own, started, paged and ended.
#pragma once

#include "budget.h"
#include "dataspaces.h"
#include "description.h"
#include "device.h"

#include <cobnut/elf.h>

namespace init {

class Program {
public:
    static constexpr int failed = 1;

    /// What there is of the program in the boot image; it does not run yet.
    bool describe(const cobnut::Module &module, Word number, Services &services);
    const Description &description() const { return description_; }
    Word number() const { return number_; }

    /// Takes the memory from sigma0 that its device shows, before all other memory is taken; it stays the program's for
    /// ever, so that what a display shows is never anybody else's.
    void take_framebuffer();
    /// Loads the file into a new space and starts its thread; nullptr, or what is wrong, and then it is as before.
    /// `again` is set then: whether it was for memory, so that it may go well later.
    const char *start(Dataspaces &memory, bool &again);
    /// Likewise for a program that another part of the root server loads and pages: it has begun, and its first
    /// `threads` are about to be made there, with UTCBs from the start of `utcbs` on. False: out of memory.
    bool start_outside(Dataspaces &memory, L4_Fpage_t utcbs, Word threads);
    /// Ends it: its threads, its space and its memory are gone.
    void end(Dataspaces &memory, int code);

    State state() const { return state_; }
    int code() const { return code_; }
    Word starts() const { return starts_; }
    Quota &quota() { return quota_; }
    L4_ThreadId_t main() const { return thread(0); }
    /// The id of one of its threads, of this start.
    L4_ThreadId_t thread(Word n) const;
    Word threads() const { return threads_; }
    bool owns(L4_ThreadId_t thread) const;
    /// Which of its threads one that it owns is.
    Word thread_number(L4_ThreadId_t thread) const { return L4_ThreadNo(thread) - L4_ThreadNo(main()); }
    /// What servers know it by: its number, and in the upper half which of its starts this is.
    Word identity() const { return number_ | starts_ << 16; }
    /// The program that a thread with this number belongs to; most_programs if init has none like that.
    static Word number_of(L4_ThreadId_t thread);

    const FoundDevice &device() const { return device_; }
    bool may_use_port(Word port) const;
    bool may_use_line(Word line) const;

    rpc::Result<Word> make_thread(Word ip, Word sp);
    rpc::Result<Word> make_space();
    rpc::Error end_space(L4_ThreadId_t thread);

    /// A thread has run for its quantum, or says so. It gets another one, before ordinary programs only if its
    /// program's budget has one.
    void spend(L4_ThreadId_t thread, L4_Word64_t now);
    /// Whether a thread of it waits for the end of the budget's period, and when that is.
    bool waits_for_budget() const { return lowered_; }
    L4_Word64_t budget_end() const { return budget_.end_us(); }
    /// If it is over by now, they run before ordinary programs again.
    void raise(L4_Word64_t now);
    /// Processor time of its threads since its start.
    Word used_ms() const;
    /// How many messages init has had from it since its start.
    Word messages() const { return messages_; }
    void count_message() { messages_++; }

    rpc::Result<Word> attach(Dataspaces &memory, Word handle, Word address, bool writable);
    rpc::Error detach(Dataspaces &memory, Word address);
    /// Forgets where a dataspace of its own was attached, which is closed.
    void forget(Word handle);

    /// The item that answers a page fault; false if the program may not do what it tried.
    bool resolve(Dataspaces &memory, Word address, bool write, L4_MapItem_t &item);

private:
    struct Region {
        Word address = 0, pages = 0; ///< pages 0: none
        Word handle = 0;             ///< of the dataspace, all of which is there
        bool writable = false;
    };
    static constexpr size_t most_regions = 32;

    const char *load(Dataspaces &memory, const cobnut::ElfImage &image, bool &again);
    bool make_stack(Dataspaces &memory, Word &sp);
    bool make_scrap(Dataspaces &memory);
    bool add_region(Word address, Word pages, Word handle, bool writable);
    bool free_at(Word address, Word pages) const;
    FoundDevice described_device() const;
    Word quantum_us() const;
    Word used_us(L4_ThreadId_t thread) const;
    void schedule(L4_ThreadId_t thread, Word priority) const;
    void renew_quantum(Word n);
    const char *take_device();

    Description description_;
    FoundDevice device_;
    cobnut::Module module_ = {};
    Word framebuffer_ = 0; ///< where it is; 0: there is none
    Word number_ = 0, starts_ = 0, threads_ = 0;
    Word spaces_ = 0; ///< a bit a thread: it is alone in a space that the program has made
    Word ended_ = 0;  ///< likewise: that space has ended
    State state_ = State::none;
    int code_ = 0;
    Quota quota_;
    L4_Fpage_t utcbs_ = {};
    Budget budget_;
    bool is_outside_ = false; ///< who loads it schedules it: there is no budget
    Word lowered_ = 0; ///< a bit a thread: it has used the budget up, and runs as ordinary programs do
    Word spent_ms_ = 0;          ///< of quanta that are over
    Word messages_ = 0;
    Region regions_[most_regions] = {};
    Word scrap_ = 0; ///< a page that stands for those of regions whose dataspace has ended
};

} // namespace init
