// SPDX-License-Identifier: BSD-2-Clause
// Checks of a disk's driver by the service `disk`, a part of it. Arguments: `seed=N`, fills the part and flushes it;
// `verify=N`, whether all of it has been filled so; `bad=N`, of a disk of which block N cannot be read, block N + 8 not
// be written, and which cannot be flushed; none of these, checks of limits and of a driver that dies, which leave the
// part filled with seed 7. One line for each check; it ends with the number of those that failed.
#include <system/check.h>
#include <system/disk.h>

#include <cobnut/options.h>
#include <l4/schedule.h>

namespace {

using cobnut::ask_init, cobnut::check, cobnut::comes_true;
using rpc::Error, rpc::Word;

constexpr Word pages = 16, words_a_block = Disk::block_size / sizeof(Word); // 128 blocks, as many as a call takes
constexpr Word kept_seed = 7;
constexpr int patience_ms = 10'000; // for a driver that is started again

constinit cobnut::DiskPart disk("disk");
constinit Word blocks = 0;

Word *words() { return reinterpret_cast<Word *>(disk.buffer()); }
Word pattern(Word seed, Word block, Word i) { return (block * words_a_block + i) * 2654435761u + seed; }

Word piece(Word block) { return blocks - block < Disk::most_blocks ? blocks - block : Disk::most_blocks; }

bool fill(Word seed)
{
    for (Word block = 0; block < blocks; block += piece(block)) {
        for (Word i = 0; i < piece(block) * words_a_block; i++) words()[i] = pattern(seed, block, i);
        if (!disk.write(block, piece(block))) return false;
    }
    return true;
}

bool filled(Word seed)
{
    for (Word block = 0; block < blocks; block += piece(block)) {
        if (!disk.read(block, piece(block))) return false;
        for (Word i = 0; i < piece(block) * words_a_block; i++)
            if (words()[i] != pattern(seed, block, i)) return false;
    }
    return true;
}

void contents()
{
    check(fill(kept_seed) && filled(kept_seed), "contents.what_is_written_is_read_back");
    words()[0] = words()[words_a_block] = 1;
    check(disk.read(5, 1, Disk::block_size) && words()[0] == 1 && words()[words_a_block] == pattern(kept_seed, 5, 0),
          "contents.a_block_goes_where_it_is_asked_for");
    check(bool(disk.flush()), "contents.flush");
}

void limits()
{
    check(bool(disk.read(blocks - 1, 1)), "limits.the_last_block");
    check(disk.read(blocks, 1).error == Error::bad_value, "limits.a_block_behind_the_last");
    check(disk.write(blocks, 1).error == Error::bad_value, "limits.not_to_be_written_either");
    check(disk.read(blocks - 1, 2).error == Error::bad_value, "limits.some_blocks_behind_the_last");
    check(disk.read(~0u, 2).error == Error::bad_value, "limits.a_sum_that_overflows");
    check(disk.read(0, 0).error == Error::bad_value, "limits.no_blocks");
    check(disk.read(0, Disk::most_blocks + 1).error == Error::bad_value, "limits.too_many_blocks");
    check(disk.read(0, 2, pages * 4096 - Disk::block_size).error == Error::bad_value, "limits.behind_the_buffer");
    check(disk.read(0, 1, 2).error == Error::bad_value, "limits.an_offset_that_is_none");
    cobnut::Session session("disk");
    check(session.call<Disk::Open>(init::Name("other")).error == Error::denied, "limits.a_part_that_is_not_ours");
    check(session.call<Disk::Open>(init::Name("none")).error == Error::not_found, "limits.a_part_that_is_not_there");
    check(session.call<Disk::Read>(Word{1}, Word{0}, Word{1}, Word{0}).error == Error::not_found,
          "limits.a_part_that_is_not_open");
    check(session.call<Disk::Buffer>(Word{1}).error == Error::not_found, "limits.a_buffer_of_the_drivers");
}

/// A client closes the memory that the driver works in.
void closed_buffer()
{
    const auto made = ask_init<init::Create>(Word{1});
    cobnut::Session session("disk");
    const auto part = session.call<Disk::Open>(init::Name("disk"));
    ask_init<init::Pass>(made.value, session.server().raw, Word{1});
    check(part && session.call<Disk::Buffer>(made.value), "buffer.another_one");
    check(disk.read(0, 9).error == Error::bad_value, "buffer.the_new_one_counts");
    ask_init<init::Close>(made.value);
    check(disk.read(0, 1).error == Error::not_found, "buffer.one_that_is_closed");
    check(bool(disk.open(pages)) && filled(kept_seed), "buffer.the_driver_goes_on");
}

void broken(Word bad)
{
    check(disk.read(bad, 1).error == Error::failed, "broken.a_block_that_cannot_be_read");
    check(disk.read(bad - 2, 4).error == Error::failed, "broken.blocks_of_which_one_cannot_be_read");
    check(disk.read(bad - 1, 1) && disk.read(bad + 1, 1), "broken.its_neighbours");
    check(disk.write(bad + 8, 1).error == Error::failed, "broken.a_block_that_cannot_be_written");
    check(disk.write(bad + 6, 4).error == Error::failed, "broken.blocks_of_which_one_cannot_be_written");
    check(bool(disk.write(bad + 7, 1)), "broken.another_one");
    check(disk.flush().error == Error::failed, "broken.flush");
    check(bool(disk.read(0, Disk::most_blocks)), "broken.the_rest");
}

rpc::Result<Word> number_of(const char *program)
{
    for (Word i = 0;; i++) {
        const auto found = ask_init<init::Describe>(i);
        if (!found) return found.error;
        if (found.value.name == program) return i;
    }
}

constinit volatile bool stop = false;
constinit volatile Word finished = 0, lost = 0;
alignas(16) constinit char stack[4096];

/// Reads all the time, and opens the part again when the driver has died.
[[noreturn]] void load()
{
    while (!stop) {
        if (disk.read(0, Disk::most_blocks)) {
            finished = finished + 1;
            continue;
        }
        lost = lost + 1;
        while (!stop && !disk.open(pages)) L4_Sleep(L4_TimePeriod(1000));
    }
    stop = false;
    for (;;) L4_Sleep(L4_Never);
}

void deaths()
{
    constexpr Word most = 3;
    ask_init<init::MakeThread>(reinterpret_cast<Word>(load), reinterpret_cast<Word>(stack + sizeof stack - 16));
    const auto driver = number_of("ide");
    for (Word death = 0; death < most; death++) {
        finished = 0;
        check(comes_true(patience_ms, [] { return finished > 3; }), "deaths.clients_are_served");
        check(bool(ask_init<init::Kill>(driver.value)), "deaths.the_driver_is_killed_at_work");
    }
    finished = 0;
    check(comes_true(patience_ms, [] { return finished > 3; }), "deaths.the_next_session_works");
    check(lost >= most, "deaths.each_is_an_error_of_a_call");
    stop = true;
    check(comes_true(patience_ms, [] { return !stop; }) && filled(kept_seed), "deaths.what_was_flushed_is_there");
}

} // namespace

int cobnut_main(const char *arguments)
{
    const cobnut::Options options(arguments);
    const auto opened = disk.open(pages);
    blocks = opened.value;
    check(opened && blocks, "open");
    if (!opened) return 1;
    if (options.find("seed")) {
        check(fill(options.number("seed", 0)) && disk.flush(), "filled");
    } else if (options.find("verify")) {
        check(filled(options.number("verify", 0)), "verified");
    } else if (options.find("bad")) {
        broken(options.number("bad", 0));
    } else {
        contents();
        limits();
        closed_buffer();
        deaths();
    }
    cobnut_printf("diskchecks: %d failed\n", cobnut::failed_checks);
    return cobnut::failed_checks;
}
