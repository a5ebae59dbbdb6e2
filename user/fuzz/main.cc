// SPDX-License-Identifier: BSD-2-Clause
// fuzz: random system calls from many threads in many spaces, and what the kernel's books say afterwards.
//
// Command line: seed=N (default 1), calls=N (default 20000) system calls in all, small=0 for large spaces only, hoard=1
// to use up the kernel's memory over and over (with 9 MB in all; with much more it takes too many spaces). A run
// under -icount depends on the seed alone. Ends with a line `fuzz: outcome CALL CODE COUNT` for each result that calls
// had (CODE 0: success, else the error), then `fuzz: ... ok` or `fuzz: ... FAILED`, and the machine off.
#include "fuzz.h"

#include <cobnut/audit.h>
#include <cobnut/format.h>
#include <cobnut/options.h>
#include <cobnut/pager.h>
#include <cobnut/program.h>

extern "C" char image_start[], image_end[];

namespace fuzz {

constinit Block blocks[threads] = {};
alignas(page_size) constinit unsigned char arena[arena_pages * page_size] = {};
constinit Word base_number = 0;
constinit volatile Word ids[threads] = {};
constinit L4_ThreadId_t supervisor = {};

namespace {

constexpr Word worker_priority = 100, clerk_priority = 200;
constexpr Word interval = 2000; ///< microseconds between two searches for threads that make no calls
constexpr L4_Time_t moment = {.raw = (5 << 10) | 625}; // 20 ms
constinit Random random = {};
constinit bool small_spaces = true, hoards = false;
constinit Word versions[threads] = {}, replaced = 0;
const auto unchanged = reinterpret_cast<void *>(-1);

L4_ThreadId_t id_of(unsigned i) { return L4_ThreadId_t{.raw = ids[i]}; }

void remove(unsigned i)
{
    L4_ThreadControl(L4_GlobalId(base_number + i, 1), L4_nilthread, L4_nilthread, L4_nilthread, unchanged);
}

bool start(unsigned i, void (*begin)())
{
    L4_Set_MsgTag(L4_MsgTag_t{.raw = 2});
    L4_LoadMR(1, reinterpret_cast<Word>(begin));
    L4_LoadMR(2, reinterpret_cast<Word>(&blocks[i + 1]) - 16);
    return L4_IpcSucceeded(L4_Send_Timeout(id_of(i), moment));
}

/// A new identity under the same number.
L4_ThreadId_t next_id(unsigned i)
{
    do versions[i] = (versions[i] + 1) & 0x3FFF;
    while (versions[i] % 64 == 0);
    ids[i] = L4_GlobalId(base_number + i, versions[i]).raw;
    return id_of(i);
}

/// Into a new space, large or small.
bool create_alone(unsigned i)
{
    const L4_ThreadId_t id = id_of(i);
    const auto utcb = reinterpret_cast<void *>(odd_utcb(random));
    const bool made = L4_ThreadControl(id, id, supervisor, L4_nilthread, unchanged) &&
                      L4_SpaceControl(id, 0, L4_FpageLog2(kip_area, 12), L4_FpageLog2(utcb_area, utcb_area_log2),
                                      L4_nilthread, nullptr) &&
                      L4_ThreadControl(id, id, supervisor, supervisor, utcb);
    if (made && small_spaces && !random.one_in(3))
        L4_SpaceControl(id, L4_SmallSpaceChange | L4_SmallSpace(16 * i, 16), L4_Nilpage, L4_Nilpage, L4_nilthread,
                        nullptr);
    return made;
}

/// Fills the kernel's memory with spaces of strangers, one at a time; when there is no room, some of them make some.
void hoard()
{
    constexpr unsigned given_back = 12;
    const Word number = base_number + threads + random.below(strangers);
    const L4_ThreadId_t id = L4_GlobalId(number, 1);
    const auto utcb = reinterpret_cast<void *>(utcb_area);
    const bool made = L4_ThreadControl(id, id, supervisor, L4_nilthread, unchanged) &&
                      L4_SpaceControl(id, 0, L4_FpageLog2(kip_area, 12), L4_FpageLog2(utcb_area, utcb_area_log2),
                                      L4_nilthread, nullptr) &&
                      L4_ThreadControl(id, id, supervisor, supervisor, utcb);
    for (unsigned i = 0; !made && L4_ErrorCode() == L4_ErrNoMem && i < given_back; i++)
        remove(threads + random.below(strangers));
}

/// Beside another worker, if there is one and its UTCB area has room.
bool create_beside(unsigned i)
{
    const unsigned mate = random.below(workers);
    for (int tries = 0; mate != i && tries < 4; tries++) {
        const auto utcb = reinterpret_cast<void *>(odd_utcb(random));
        if (L4_ThreadControl(id_of(i), id_of(mate), supervisor, supervisor, utcb)) return true;
    }
    return false;
}

/// Puts a fresh worker in the place of whatever has that number. Without kernel memory it is tried again later.
void replace(unsigned i)
{
    remove(i);
    next_id(i);
    replaced++;
    if (!(random.one_in(2) && create_beside(i)) && !create_alone(i)) return remove(i);
    L4_Set_Priority(id_of(i), worker_priority);
    // Schedule does something for a thread's scheduler alone: half of them have one among the random callers.
    if (random.one_in(2)) L4_ThreadControl(id_of(i), id_of(i), id_of(random.below(threads)), L4_nilthread, unchanged);
    blocks[i].random.seed(random.next());
    (void)start(i, worker_main);
}

/// Ends whatever a worker waits in, by another version of its id: less work for all than a new thread.
void wake(unsigned i)
{
    const L4_ThreadId_t old = id_of(i);
    if (random.one_in(4) || !L4_ThreadControl(next_id(i), old, L4_nilthread, L4_nilthread, unchanged)) replace(i);
}

bool create_clerk(unsigned i)
{
    const auto utcb = reinterpret_cast<void *>((L4_MyLocalId().raw & ~0x1FFFFu) + 1024 + 512 * i);
    if (!L4_ThreadControl(next_id(i), supervisor, supervisor, supervisor, utcb)) return false;
    L4_Set_Priority(id_of(i), clerk_priority);
    return start(i, clerk_main);
}

int index_of(L4_ThreadId_t from)
{
    for (unsigned i = 0; i < workers; i++)
        if (ids[i] == from.raw) return static_cast<int>(i);
    return -1;
}

/// Loads the answer to a page fault: the image for reading, a thread's own block for writing, the arena elsewhere, but
/// not for a thread that has run into nowhere, or that would only fault again.
bool answer_fault(unsigned i, Word address, Word ip, bool writes)
{
    const Word page = address & ~(page_size - 1);
    const bool own = page == reinterpret_cast<Word>(&blocks[i]);
    const bool image = page >= reinterpret_cast<Word>(image_start) && page < reinterpret_cast<Word>(image_end);
    auto within = [page](Word start, Word size) { return page >= start && page < start + size; };
    const bool data = within(free_area, 1u << free_area_log2) || within(beyond_small, beyond_small_pages * page_size) ||
                      (page & far) == far;
    if (image ? writes && !own : !data || page >= 0xC0000000 || page == (ip & ~(page_size - 1))) return false;
    if (random.one_in(64)) return false;
    const Word any = reinterpret_cast<Word>(arena) + page_size * random.below(arena_pages);
    const Word rights = own                ? L4_ReadWriteOnly
                        : image            ? L4_ReadeXecOnly
                        : random.one_in(4) ? L4_Readable
                                           : L4_FullyAccessible;
    cobnut::load_answer(L4_MapItem(L4_FpageLog2(image ? page : any, 12) + rights, page));
    return true;
}

/// A fault at an I/O port: some are given to any thread that asks.
bool answer_port_fault(Word ports)
{
    const Word port = ports >> 16;
    if (port < first_port || port >= first_port + (1u << ports_log2)) return false;
    L4_Set_MsgTag(L4_MsgTag_t{.raw = 2u << 6});
    L4_LoadMR(1, 0x8);
    L4_LoadMR(2, L4_IoFpageLog2(first_port, ports_log2).raw | 7);
    return true;
}

/// An exception: begins anew, with registers that the handler chose.
void answer_exception(unsigned i)
{
    L4_Set_MsgTag(L4_MsgTag_t{.raw = 12});
    for (int mr = 1; mr <= 12; mr++) L4_LoadMR(mr, odd_word(random));
    L4_LoadMR(1, reinterpret_cast<Word>(worker_main));
    L4_LoadMR(8, reinterpret_cast<Word>(&blocks[i + 1]) - 16);
}

void serve(Word microseconds)
{
    const L4_Clock_t start = L4_SystemClock();
    L4_ThreadId_t from, to = L4_nilthread, asked = L4_nilthread;
    while (L4_SystemClock().raw - start.raw < microseconds) {
        const L4_MsgTag_t tag = L4_Ipc(to, L4_anythread, L4_Timeouts(L4_ZeroTime, L4_TimePeriod(microseconds)), &from);
        to = L4_nilthread;
        if (L4_IpcFailed(tag)) {
            // An answer for which the kernel has no memory would be asked for again at once.
            if (const int i = index_of(asked); i >= 0 && !(L4_ErrorCode() & 1)) replace(static_cast<unsigned>(i));
            asked = L4_nilthread;
            continue;
        }
        asked = from;
        Word mr[3];
        L4_StoreMRs(0, 3, mr);
        const int i = index_of(from);
        if (i < 0) continue;
        if (cobnut::is_page_fault(tag)) {
            if (answer_fault(static_cast<unsigned>(i), mr[1], mr[2], L4_Label(tag) & L4_Writable)) to = from;
        } else if ((L4_Label(tag) & 0xFFF0) == 0xFF80) {
            if (answer_port_fault(mr[1])) to = from;
        } else if (L4_Label(tag) == 0xFFB0) {
            answer_exception(static_cast<unsigned>(i));
            to = from;
        }
        if (L4_IsNilThread(to)) replace(static_cast<unsigned>(i));
    }
}

/// Adds up the calls made since last time, and wakes or replaces threads that made none: stuck somewhere, or gone.
Word count_and_wake()
{
    Word made = 0;
    for (unsigned i = 0; i < threads; i++) {
        const Word fresh = collect(i);
        made += fresh;
        if (!fresh && i < workers) wake(i);
    }
    return made;
}

void remove_all()
{
    for (unsigned i = 0; i < threads + strangers; i++) remove(i);
    for (Word line = 0; line < 16; line++) {
        const L4_ThreadId_t irq = L4_GlobalId(line, 1);
        L4_ThreadControl(irq, irq, L4_nilthread, irq, unchanged);
    }
    L4_Unmap(L4_FpageLog2(reinterpret_cast<Word>(image_start), 20) + L4_FullyAccessible);
}

/// Everything once and away again, so that what the kernel keeps for good is there.
cobnut::Audit warm_up()
{
    for (Word page = reinterpret_cast<Word>(image_start); page < reinterpret_cast<Word>(image_end); page += page_size)
        (void)*reinterpret_cast<volatile Word *>(page);
    for (unsigned i = 0; i < workers; i++) replace(i);
    for (unsigned i = workers; i < threads; i++) create_clerk(i);
    serve(20000);
    remove_all();
    return cobnut::audit();
}

int run(Word seed, Word calls)
{
    random.seed(seed);
    for (unsigned i = 0; i < threads; i++) {
        constexpr unsigned char hlt = 0xF4;
        for (unsigned char &byte : blocks[i].stop) byte = hlt;
        blocks[i].random.seed(seed * 1000 + i + 1);
    }
    const cobnut::Audit before = warm_up();
    for (unsigned i = workers; i < threads; i++)
        if (!create_clerk(i)) cobnut::print("fuzz: no clerk %u: error %u\n", i, L4_ErrorCode());
    (void)count_and_wake();
    Word made = 0;
    for (Word told = 0; made < calls;) {
        serve(interval);
        for (int i = 0; hoards && i < 4; i++) hoard();
        made += count_and_wake();
        if (const Word tenths = made / (calls / 10 + 1); tenths > told) {
            told = tenths;
            cobnut::print("fuzz: %u calls, %u threads replaced\n", made, replaced);
        }
    }
    remove_all();
    print_total();
    const cobnut::Audit after = cobnut::audit();
    const bool good = !before.faults && !after.faults && before.pages == after.pages && before.objects == after.objects;
    cobnut::print("fuzz: %u calls, seed %u: %u faults in the books, kernel pages %u to %u, objects %u to %u: %s\n",
                  made, seed, before.faults + after.faults, before.pages, after.pages, before.objects, after.objects,
                  good ? "ok" : "FAILED");
    return good ? 0 : 1;
}

} // namespace
} // namespace fuzz

int cobnut_main(const char *command_line)
{
    using namespace fuzz;
    bool bad = false;
    const cobnut::Options options(command_line);
    const Word seed = options.number("seed", 1, &bad), calls = options.number("calls", 20000, &bad);
    small_spaces = options.number("small", 1, &bad) != 0;
    hoards = options.number("hoard", 0, &bad) != 0;
    if (bad || !calls) {
        cobnut::print("fuzz: seed=N calls=N small=0|1 hoard=0|1, calls at least 1\n");
        return 1;
    }
    supervisor = L4_MyGlobalId();
    base_number = L4_ThreadNo(supervisor) + 1;
    cobnut::print("fuzz: seed %u, %u calls\n", seed, calls);
    const int result = run(seed, calls);
    cobnut::machine_off(result);
}
