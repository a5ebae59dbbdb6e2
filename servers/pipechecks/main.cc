// SPDX-License-Identifier: BSD-2-Clause
// Checks of what libs/pipes promises, which is what POSIX says of pipes without signals. One line each; it ends with
// the number of those that failed.
#include <interfaces/drain.h>
#include <pipes/pipe.h>
#include <system/check.h>
#include <system/system.h>

#include <cobnut/payload.h>
#include <l4/schedule.h>

extern "C" void *memset(void *, int, size_t);

namespace {

using cobnut::ask_init, cobnut::check;
using pipes::Moved, pipes::Status, pipes::Wait;
using rpc::Word;

constexpr Word capacity = 8192, record = pipes::atomic;

constinit cobnut::Session drain("drain");

// ------------------------------------------------------------------------------------------------------- the threads

alignas(16) constinit char stacks[12][4096] = {};
constinit Word stacks_used = 0;

L4_ThreadId_t make_thread(void (*entry)())
{
    char *const top = stacks[stacks_used++] + sizeof stacks[0] - 16;
    const auto made = ask_init<init::MakeThread>(reinterpret_cast<Word>(entry), reinterpret_cast<Word>(top));
    return L4_ThreadId_t{.raw = made.value};
}

constinit char ring[capacity] = {};
constinit pipes::Pipe the_pipe(ring, capacity);
[[noreturn]] void pipe_thread() { the_pipe.serve(); }

/// Threads that do one thing at a time for the checks: what has been asked for, and what came of it.
struct Helper {
    L4_ThreadId_t thread = {};
    volatile bool busy = false, writes = false;
    L4_ThreadId_t pipe = {};
    char *at = nullptr;
    Word bytes = 0;
    unsigned times = 1;
    Moved result = {};
};
constinit Helper helpers[2] = {};

template <int number> [[noreturn]] void helper_thread()
{
    Helper &h = helpers[number];
    for (;;) {
        while (!h.busy) L4_Sleep(L4_TimePeriod(500));
        for (unsigned i = 0; i < h.times; i++)
            h.result = h.writes ? pipes::write(h.pipe, h.at, h.bytes) : pipes::read(h.pipe, h.at, h.bytes);
        h.busy = false;
    }
}

void ask(Helper &h, L4_ThreadId_t pipe, bool writes, char *at, Word bytes, unsigned times = 1)
{
    h.pipe = pipe, h.at = at, h.bytes = bytes, h.times = times, h.result = {};
    h.writes = writes;
    h.busy = true;
}

/// Whether it is done within that time.
bool ends(const Helper &h, unsigned milliseconds)
{
    for (unsigned i = 0; i < milliseconds && h.busy; i++) L4_Sleep(L4_TimePeriod(1000));
    return !h.busy;
}

constexpr unsigned soon = 10, at_last = 5000; // ms

// -------------------------------------------------------------------------------------------------------- the checks

constinit char out[2 * capacity] = {}, in[2 * capacity] = {};
constinit L4_ThreadId_t stream = {};

char pattern(Word at) { return static_cast<char>(at * 31 + at / 251); }

bool is(Moved moved, Word bytes) { return moved.status == Status::done && moved.bytes == bytes; }
bool is(Moved moved, Status status) { return moved.status == status; }

void empty()
{
    while (pipes::read(stream, in, sizeof in, Wait::no).bytes) {}
}

void order()
{
    for (Word i = 0; i < sizeof out; i++) out[i] = pattern(i);
    ask(helpers[0], stream, true, out, sizeof out, 8);
    Word there = 0;
    bool right = true;
    for (Word size = 1; there < 8 * sizeof out; size = size * 3 % 5003) {
        const Moved got = pipes::read(stream, in, size);
        right = right && is(got, Status::done) && got.bytes && got.bytes <= size;
        for (Word i = 0; i < got.bytes; i++, there++) right = right && in[i] == pattern(there % sizeof out);
        if (!right) break;
    }
    check(right && there == 8 * sizeof out, "stream.each_byte_once_and_in_order");
    check(ends(helpers[0], at_last) && is(helpers[0].result, sizeof out), "stream.a_write_writes_all");
}

void reads()
{
    check(is(pipes::read(stream, in, 10, Wait::no), Status::again), "read.nothing_there_without_waiting");
    check(is(pipes::write(stream, "0123456789", 10), 10), "write.what_there_is_room_for");
    check(is(pipes::read(stream, in, 100), 10) && in[0] == '0' && in[9] == '9', "read.as_much_as_there_is");
    pipes::write(stream, "abc", 3);
    check(is(pipes::read(stream, in, 2), 2) && is(pipes::read(stream, in + 2, 2), 1) && in[2] == 'c',
          "read.the_rest_stays");
    check(is(pipes::read(stream, in, 0), 0), "read.of_nothing");
    check(is(pipes::write(stream, out, 0), 0) && is(pipes::read(stream, in, 1, Wait::no), Status::again),
          "write.of_nothing");
    ask(helpers[0], stream, false, in, 100);
    check(!ends(helpers[0], soon), "read.waits");
    pipes::write(stream, "x", 1);
    check(ends(helpers[0], at_last) && is(helpers[0].result, 1) && in[0] == 'x', "read.until_there_is_a_byte");
}

void writes()
{
    check(is(pipes::write(stream, out, capacity - 100), capacity - 100), "write.nearly_all_of_the_buffer");
    check(is(pipes::write(stream, out, 101, Wait::no), Status::again), "write.a_small_one_is_not_parted");
    check(is(pipes::write(stream, out, record + 1, Wait::no), 100), "write.a_large_one_is_without_waiting");
    check(is(pipes::write(stream, out, 1, Wait::no), Status::again), "write.no_room_without_waiting");
    ask(helpers[0], stream, true, out, 1);
    check(!ends(helpers[0], soon), "write.waits");
    check(is(pipes::read(stream, in, 1), 1) && ends(helpers[0], at_last) && is(helpers[0].result, 1),
          "write.until_there_is_room");
    empty();
}

/// Two threads write records of one letter each.
void pieces()
{
    constexpr unsigned each = 20;
    static constinit char letters[2][record] = {};
    memset(letters[0], 'a', record);
    memset(letters[1], 'b', record);
    for (int i = 0; i < 2; i++) ask(helpers[i], stream, true, letters[i], record, each);
    Word there = 0, of_a = 0;
    bool right = true;
    char letter = 0;
    while (there < 2 * each * record) {
        const Moved got = pipes::read(stream, in, 3001);
        if (!is(got, Status::done)) break;
        for (Word i = 0; i < got.bytes; i++, there++) {
            if (there % record == 0) letter = in[i];
            right = right && in[i] == letter;
            of_a += in[i] == 'a';
        }
    }
    check(right && there == 2 * each * record, "write.pieces_of_up_to_4096_bytes_stay_whole");
    check(of_a == each * record && ends(helpers[0], at_last) && ends(helpers[1], at_last), "write.of_both_all");
}

void other_spaces()
{
    L4_ThreadId_t server = {.raw = ask_init<init::Open>(init::Name("drain")).value};
    auto seen = drain.call<Drain::Read>(stream.raw, Word{100});
    check(seen && seen.value.status == static_cast<Word>(Status::refused), "spaces.only_readers_read");
    const auto written = drain.call<Drain::Write>(stream.raw);
    check(written && written.value == static_cast<Word>(Status::refused), "spaces.only_the_pipes_own_writes");
    check(pipes::open_reader(stream, server) == Status::done, "spaces.one_more_reader");
    Word sum = 0;
    for (Word i = 0; i < sizeof out; i++) sum += static_cast<unsigned char>(out[i] = pattern(i)) * (i + 1);
    check(pipes::open_writer(stream) == Status::done && pipes::close_writer(stream) == Status::done,
          "ends.one_more_writer_and_one_less");
    ask(helpers[0], stream, true, out, capacity);
    check(ends(helpers[0], at_last), "ends.it_is_open_still");
    // the rest is written while the other program reads; then the last end for writing is closed
    ask(helpers[0], stream, true, out + capacity, sizeof out - capacity);
    static constinit char closing_stack[4096] = {};
    ask_init<init::MakeThread>(reinterpret_cast<Word>(+[] {
        while (helpers[0].busy) L4_Sleep(L4_TimePeriod(500));
        pipes::close_writer(stream);
        for (;;) L4_Sleep(L4_Never);
    }),
                               reinterpret_cast<Word>(closing_stack + sizeof closing_stack - 16));
    seen = drain.call<Drain::Read>(stream.raw, Word{5000});
    check(seen && seen.value.bytes == sizeof out && seen.value.sum == sum, "spaces.all_of_it_arrives_there");
    check(seen && seen.value.status == static_cast<Word>(Status::done), "ends.then_it_has_ended");
    check(is(pipes::read(stream, in, 1), 0), "ends.for_every_reader");
    check(is(pipes::write(stream, out, 1), Status::refused), "ends.nobody_writes_any_more");
}

constinit char second_ring[pipes::atomic] = {};
constinit pipes::Pipe second_pipe(second_ring, sizeof second_ring);

void broken()
{
    const L4_ThreadId_t second = make_thread([] { second_pipe.serve(); });
    check(is(pipes::write(second, out, 1), Status::broken), "ends.a_write_that_nobody_will_read");
    pipes::open_reader(second, L4_Myself());
    ask(helpers[0], second, true, out, sizeof second_ring + 1);
    check(!ends(helpers[0], soon), "ends.a_write_that_waits");
    check(pipes::close_reader(second) == Status::done && ends(helpers[0], at_last) &&
              is(helpers[0].result, Status::broken),
          "ends.is_broken_with_its_last_reader");
    check(is(pipes::read(second, in, 1), Status::refused), "ends.which_reads_no_more");
    check(is(pipes::read(L4_GlobalId(4000, 1), in, 1), Status::dead), "ends.a_pipe_that_is_not_there");
    L4_Set_MsgTag(L4_MsgTag_t{.raw = 0x7FFFu << 16});
    check(L4_Label(L4_Call(second)) == static_cast<Word>(Status::refused), "ends.an_unknown_operation");
}

} // namespace

int cobnut_main(const char *)
{
    stream = make_thread(pipe_thread);
    helpers[0].thread = make_thread(helper_thread<0>);
    helpers[1].thread = make_thread(helper_thread<1>);
    pipes::open_reader(stream, L4_Myself());
    pipes::open_reader(stream, helpers[0].thread);
    order();
    reads();
    writes();
    pieces();
    other_spaces();
    broken();
    cobnut_printf("pipechecks: %d failed\n", cobnut::failed_checks);
    return cobnut::failed_checks;
}
