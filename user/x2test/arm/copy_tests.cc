// SPDX-License-Identifier: BSD-2-Clause
// What the kernel copies for threads, out of memory and into memory that others have in the caches (docs/tags-arm.md,
// Aliases). A sanitizer sees more of it.
#include "../harness.h"
#include "../strings.h"

#include <cobnut/pager.h>

namespace x2test {
namespace {

constexpr Word mb = 1u << 20, everywhere = 0x40000000; // not relocated, and in no program's image

/// Two spaces have a page at the same place, but share no region, as one has another page beside it. One waits to send
/// it as a string while the other writes to it: what is sent is what has been written, though it is in the cache.
void copy_of_what_a_neighbour_wrote()
{
    Agent *sender = agent(Kind::other), *neighbour = agent(Kind::other), *receiver = agent(Kind::other);
    if (!sender || !neighbour || !receiver) return;
    constexpr Word bytes = 64;
    give_page(sender, 0, everywhere, L4_FullyAccessible);
    give_page(neighbour, 0, everywhere, L4_FullyAccessible);
    give_page(neighbour, 1, everywhere + page_size, L4_FullyAccessible);
    ask(sender, do_write, everywhere, 0x01D);
    strings::clear();
    strings::send(everywhere, bytes);
    strings::accept(strings::target(), bytes);
    begin(sender, strings::do_send, receiver->id.raw, second.raw);
    pause(2000);
    ask(neighbour, do_write, everywhere + page_size, 1);
    ask(neighbour, do_write, everywhere, 0x2E3);
    begin(receiver, strings::do_receive, sender->id.raw, second.raw);
    strings::wait(sender, receiver);
    CHECK(strings::arrived());
    CHECK_EQUAL(*reinterpret_cast<volatile Word *>(strings::target()), 0x2E3);
}

/// A page is missing where a string comes from. Its pager writes to one, which no other has seen yet, and gives that:
/// what is sent is what has been written, though the pager's space was the last to run.
void copy_of_what_a_pager_wrote()
{
    constexpr Word bytes = 64, old = 0x5EC2E7;
    Agent *sender = agent(Kind::other), *receiver = agent(Kind::other);
    if (!sender || !receiver) return;
    arena_word(0) = old;
    strings::clear();
    strings::send(free_area, bytes);
    strings::accept(strings::target(), bytes);
    strings::start(sender, receiver);
    pause(2000);
    CHECK(cobnut::is_page_fault(L4_Receive_Timeout(sender->id, second)));
    __builtin_memset(reinterpret_cast<void *>(arena_page(0)), 0, bytes);
    cobnut::load_answer(L4_MapItem(page_at(arena_page(0), L4_FullyAccessible), free_area));
    CHECK(L4_IpcSucceeded(L4_Reply(sender->id)));
    strings::wait(sender, receiver);
    CHECK(strings::arrived());
    CHECK_EQUAL(*reinterpret_cast<volatile Word *>(strings::target()), 0);
}

/// A thread waits for a string in memory that main's space has, too, and writes to before another thread of main's
/// sends it: what has been written does not come back from the cache.
void copy_to_where_the_sender_wrote()
{
    constexpr Word bytes = 64, sent = 0x2E3;
    Agent *receiver = agent(Kind::other), *sender = agent(Kind::here);
    if (!sender || !receiver) return;
    auto &first = *reinterpret_cast<volatile Word *>(strings::target());
    strings::clear();
    strings::send(strings::source(), bytes);
    strings::accept(strings::target(), bytes);
    *reinterpret_cast<volatile Word *>(strings::source()) = sent;
    begin(receiver, strings::do_receive, sender->id.raw, second.raw);
    pause(2000);
    first = 0x01D;
    begin(sender, strings::do_send, receiver->id.raw, second.raw);
    finish(sender);
    CHECK_EQUAL(first, sent);
    finish(receiver);
    CHECK(strings::arrived());
    CHECK_EQUAL(first, sent);
}

/// A string from a page that as many have at one place as may, and could write to, to one that as many could read.
void strings_of_shared_pages()
{
    constexpr Word sharers = 17, bytes = page_size - 64, many = everywhere + 2 * mb, from = everywhere + 8 * mb,
                   to = everywhere + 10 * mb, rounds = 3;
    if (!wish.latency) return;
    Agent *all[sharers], *sender = agent(Kind::other), *receiver = agent(Kind::other);
    if (!sender || !receiver) return;
    give_page(sender, 0, from, L4_FullyAccessible);
    give_page(receiver, 1, to, L4_FullyAccessible);
    for (Word i = 0; i < sharers; i++) {
        if (!(all[i] = agent(Kind::other))) return;
        give_page(all[i], 0, everywhere, L4_FullyAccessible);
        give_page(all[i], 2, everywhere + (1 + i) * page_size, L4_FullyAccessible); // else they share a region
        give_page(all[i], 1, many + i * page_size, L4_FullyAccessible);
    }
    for (Word round = 0; round < rounds; round++) {
        for (Word i = 0; i < sharers; i++) {
            ask(all[i], do_write, everywhere + 4 * i, round);
            ask(all[i], do_read, many + i * page_size);
        }
        strings::clear();
        strings::send(from + 1, bytes);
        strings::accept(to, bytes);
        strings::transfer(sender, receiver);
        CHECK(strings::arrived());
    }
}

} // namespace

const Test copy_tests[] = {
    {"domains.copy_of_what_a_neighbour_wrote", copy_of_what_a_neighbour_wrote},
    {"domains.copy_of_what_a_pager_wrote", copy_of_what_a_pager_wrote},
    {"domains.copy_to_where_the_sender_wrote", copy_to_where_the_sender_wrote},
    {"latency.strings_of_shared_pages", strings_of_shared_pages},
    {nullptr, nullptr},
};

} // namespace x2test
