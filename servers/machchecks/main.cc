// SPDX-License-Identifier: BSD-2-Clause
// Checks of what Mach's objects promise (interfaces/mach.h), from tasks that are made as copies of the first one. One
// line each; it ends with the number of those that failed.
#include <mach/mach.h>
#include <system/check.h>
#include <system/files.h>
#include <system/system.h>

#include <cobnut/payload.h>
#include <l4/schedule.h>

namespace {

using cobnut::check;
using mach::ask, mach::Disposition, mach::Message, mach::Name, mach::Wait, mach::Word;
using rpc::Error;

constexpr Word page = mach::page_size;
constexpr Word most_handles = 256; // of init's, in a system as small as this

volatile Word *words(Word address) { return reinterpret_cast<volatile Word *>(address); }

Name new_port(bool with_send = true)
{
    const Name name = ask<mach::PortAllocate>().value;
    if (with_send) ask<mach::PortInsertSend>(name);
    return name;
}

Message message_to(Name port, Word id, Word first = 0)
{
    Message m;
    m.port = port, m.id = id, m.word_count = 1, m.words[0] = first;
    return m;
}

Error send(const Message &m, Wait wait = Wait::yes) { return ask<mach::Send>(m, wait).error; }
rpc::Result<Message> receive(Name name, Wait wait = Wait::yes) { return ask<mach::Receive>(name, wait); }
Error receive_error(Name name) { return receive(name, Wait::no).error; }
Word type(Name name) { return ask<mach::PortType>(name).value; }

constexpr Name bootstrap = 1; // a new task's only right

/// A task that does `body` with its right to `port`, and ends.
template <typename Body> Name make_task(Name port, Body body)
{
    const auto made = mach::fork(port);
    if (made && !made.value) {
        body();
        mach::exit(0);
    }
    return made.value;
}

template <typename... N> void drop_all(N... names) { (ask<mach::PortDeallocate>(names), ...); }
template <typename... A> void free_all(A... addresses) { (ask<mach::VmDeallocate>(addresses), ...); }

// ------------------------------------------------------------------------------------------------------------- ports

void rights()
{
    const Name port = new_port(false);
    check(type(port) == mach::receive_right, "rights.a_new_port_has_a_receive_right");
    check(send(message_to(port, 1)) == Error::denied, "rights.which_is_none_to_send");
    check(bool(ask<mach::PortInsertSend>(port)) && type(port) == (mach::send_right | mach::receive_right),
          "rights.both_by_one_name");
    check(send(message_to(port, 7, 42)) == Error::none, "rights.then_it_sends");
    const auto got = receive(port);
    check(got && got.value.id == 7 && got.value.words[0] == 42 && got.value.port == port, "rights.and_it_receives");
    check(receive_error(port) == Error::full, "rights.no_message_without_waiting");
    check(send(message_to(29, 1)) == Error::not_found, "rights.an_unknown_name");
    check(bool(ask<mach::PortDeallocate>(port)) && ask<mach::PortType>(port).error == Error::not_found,
          "rights.a_name_ends");
    Message back = message_to(new_port(), 1);
    back.reply = 29;
    check(send(back) == Error::not_found, "rights.an_unknown_port_to_reply_to");
    ask<mach::PortDeallocate>(back.port);
}

void queues()
{
    const Name port = new_port();
    for (Word i = 0; i < 5; i++) send(message_to(port, 1, i));
    check(send(message_to(port, 1, 5), Wait::no) == Error::full, "queue.five_messages_wait");
    const Name child = make_task(port, [] {
        for (Word i = 5; i < 8; i++) send(message_to(bootstrap, 1, i));
    });
    L4_Sleep(L4_TimePeriod(20'000));
    check(ask<mach::GetStatistics>().value.messages == 5 + 1, "queue.no_more_of_a_sender_that_waits");
    bool ordered = true;
    for (Word i = 0; i < 8; i++) ordered = receive(port).value.words[0] == i && ordered;
    check(child && ordered, "queue.in_order_and_a_sender_waits_for_room");
    drop_all(child, port);
}

/// Many senders, one receiver; an answer finds who has asked.
void tasks_call()
{
    const Name port = new_port();
    Name children[3];
    for (Word n = 0; n < 3; n++)
        children[n] = make_task(port, [n] {
            Message m = message_to(bootstrap, 100 + n, n);
            m.reply = new_port(false);
            const auto got = ask<mach::Call>(m, m.reply);
            m.reply = 0;
            m.id = got && got.value.words[0] == n * n + 1 ? 200 : 201;
            send(m);
        });
    Word answered = 0, right = 0;
    while (answered < 3) {
        const auto got = receive(port);
        if (got.value.id >= 200) {
            right += got.value.id == 200;
            answered++;
            continue;
        }
        send(message_to(got.value.reply, 1, got.value.words[0] * got.value.words[0] + 1));
        ask<mach::PortDeallocate>(got.value.reply);
    }
    check(right == 3, "call.three_senders_get_their_own_answers");
    drop_all(port, children[0], children[1], children[2]);
}

void moved_rights()
{
    const Name to = new_port(), port = new_port();
    Message m = message_to(to, 1);
    m.right_count = 2;
    m.rights[0] = {port, static_cast<Word>(Disposition::copy_send)};
    m.rights[1] = {port, static_cast<Word>(Disposition::move_receive)};
    check(send(m) == Error::none && type(port) == mach::send_right, "moved.the_receive_right_is_gone");
    check(send(message_to(port, 3, 9)) == Error::none, "moved.messages_wait_for_the_next_receiver");
    const Name child = make_task(to, [] {
        const Name mine = new_port();
        Message ask_for = message_to(bootstrap, 2);
        ask_for.reply = mine;
        send(ask_for); // the other side has a send right to us now
        const auto got = receive(mine);
        const auto first = receive(got.value.rights[1].name);
        send(message_to(bootstrap, 4, first.value.words[0]));
    });
    const auto with_rights = receive(to);
    const auto asked = receive(to);
    Message forward = message_to(asked.value.reply, 5);
    forward.right_count = 2;
    forward.rights[0] = {with_rights.value.rights[0].name, static_cast<Word>(Disposition::copy_send)};
    forward.rights[1] = {with_rights.value.rights[1].name, static_cast<Word>(Disposition::move_receive)};
    check(with_rights.value.rights[1].kind == mach::receive_right, "moved.it_arrives");
    check(send(forward) == Error::none, "moved.to_another_task");
    const auto seen = receive(to);
    check(seen.value.id == 4 && seen.value.words[0] == 9, "moved.which_receives_what_waited");
    Message wrong = message_to(to, 1);
    wrong.right_count = 1;
    wrong.rights[0] = {port, static_cast<Word>(Disposition::make_send)};
    check(send(wrong) == Error::denied, "moved.who_has_no_receive_right_makes_no_send_right");
    wrong.rights[0].kind = 9;
    check(send(wrong) == Error::bad_value, "moved.an_unknown_disposition");
    drop_all(port, to, asked.value.reply, child);
}

/// A receive right in a message that only its holder could receive is lost to all.
void circles()
{
    const Word ports = ask<mach::GetStatistics>().value.ports;
    const Name a = new_port(), b = new_port();
    const auto carry = [](Name port, Name to) {
        Message m = message_to(to, 1);
        m.right_count = 1;
        m.rights[0] = {port, static_cast<Word>(Disposition::move_receive)};
        return send(m);
    };
    check(carry(a, a) == Error::bad_value && type(a) == (mach::send_right | mach::receive_right),
          "circles.not_to_the_port_itself");
    check(carry(a, b) == Error::none && carry(b, a) == Error::bad_value, "circles.nor_to_one_that_is_on_its_way_there");
    check(receive(b).value.rights[0].name == a && carry(b, a) == Error::none, "circles.when_it_has_arrived_it_may_go");
    drop_all(a, b);
    check(ask<mach::GetStatistics>().value.ports == ports, "circles.nothing_is_left");
}

void sets()
{
    const Name set = ask<mach::PortSetAllocate>().value, a = new_port(), b = new_port(), c = new_port();
    check(bool(ask<mach::PortMoveMember>(a, set)) && bool(ask<mach::PortMoveMember>(b, set)), "set.two_members");
    check(ask<mach::PortMoveMember>(a, b).error == Error::denied, "set.a_port_is_none");
    send(message_to(b, 2));
    send(message_to(c, 3));
    const auto first = receive(set);
    check(first && first.value.port == b && first.value.id == 2, "set.says_which_member");
    check(receive_error(set) == Error::full, "set.others_are_not_received");
    ask<mach::PortMoveMember>(b, Name{0});
    send(message_to(b, 4));
    check(receive_error(set) == Error::full && receive(b).value.id == 4, "set.nor_those_that_have_left");
    const Name child = make_task(a, [] { send(message_to(bootstrap, 5)); });
    check(receive(set).value.id == 5, "set.waits_for_all");
    drop_all(set, a, b, c, child);
}

void dead_names()
{
    const Name notify = new_port(false), to = new_port();
    const Name child = make_task(to, [] {
        Message m = message_to(bootstrap, 1);
        m.reply = new_port(false);
        send(m);
        receive(m.reply); // until it is killed
    });
    const Name theirs = receive(to).value.reply;
    ask<mach::PortNotify>(theirs, notify);
    check(receive_error(notify) == Error::full && type(theirs) == mach::send_right, "dead.not_yet");
    check(bool(ask<mach::TaskTerminate>(child, Word{0})), "dead.a_task_is_ended_by_its_port");
    const auto told = receive(notify);
    check(told && told.value.id == mach::dead_name_notification && told.value.words[0] == theirs,
          "dead.its_ports_are_told");
    check(type(theirs) == mach::dead_name && type(child) == mach::dead_name, "dead.names_are_dead");
    check(send(message_to(theirs, 1)) == Error::not_running, "dead.nothing_is_sent_there");
    ask<mach::PortNotify>(theirs, notify);
    check(receive(notify, Wait::no).value.words[0] == theirs, "dead.told_at_once_when_it_is_already");
    // a receive right in a message that nobody will get
    const Name lost = new_port(), holder = new_port();
    Message m = message_to(holder, 1);
    m.right_count = 1;
    m.rights[0] = {lost, static_cast<Word>(Disposition::move_receive)};
    send(m);
    ask<mach::PortDeallocate>(holder);
    check(type(lost) == mach::dead_name, "dead.so_is_a_port_on_its_way_to_a_dead_one");
    drop_all(theirs, child, lost, notify, to);
}

// ------------------------------------------------------------------------------------------------------------ memory

void memory()
{
    const auto at = ask<mach::VmAllocate>(3 * page);
    check(at && *words(at.value) == 0 && *words(at.value + 3 * page - 4) == 0, "memory.it_is_zero");
    for (Word i = 0; i < 3; i++) *words(at.value + i * page) = 10 + i;
    const Name to = new_port();
    Message m = message_to(to, 1);
    m.memory_count = 1;
    m.memory[0] = {at.value + page, 2 * page};
    check(send(m) == Error::none, "memory.in_a_message");
    *words(at.value + page) = 99; // behind the sending
    const auto got = receive(to);
    const mach::Memory arrived = got.value.memory[0];
    check(got.value.memory_count == 1 && arrived.bytes == 2 * page && arrived.address != at.value + page,
          "memory.it_arrives_elsewhere");
    check(*words(arrived.address) == 11 && *words(arrived.address + page) == 12, "memory.as_it_was_when_it_was_sent");
    *words(arrived.address + page) = 77;
    check(*words(at.value + 2 * page) == 12 && *words(at.value + page) == 99, "memory.and_each_has_its_own");
    // the other part of what is shared already
    m.memory[0] = {at.value, page};
    send(m);
    *words(at.value) = 33;
    const mach::Memory part = receive(to).value.memory[0];
    check(*words(part.address) == 10 && *words(at.value) == 33, "memory.so_it_is_part_by_part");
    free_all(part.address);
    m.memory[0] = {at.value + page, 3 * page};
    check(send(m) == Error::bad_value, "memory.more_than_there_is");
    m.memory[0] = {at.value + 4, page};
    check(send(m) == Error::bad_value, "memory.not_whole_pages");
    check(bool(ask<mach::VmDeallocate>(at.value)) && *words(arrived.address) == 11, "memory.the_copy_stays");
    check(ask<mach::VmDeallocate>(at.value).error == Error::not_found, "memory.deallocated_once");
    ask<mach::VmDeallocate>(arrived.address);
    ask<mach::PortDeallocate>(to);
}

void forks()
{
    const Word copied = ask<mach::VmAllocate>(page).value, shared = ask<mach::VmAllocate>(page).value,
               none = ask<mach::VmAllocate>(page).value;
    ask<mach::VmInherit>(shared, mach::Inheritance::share);
    ask<mach::VmInherit>(none, mach::Inheritance::none);
    *words(copied) = 1;
    *words(shared) = 1;
    *words(none) = 1;
    static constinit volatile Word of_the_image = 5;
    const Name port = new_port();
    const Name child = make_task(port, [=] {
        const Name mine = new_port();
        Message m = message_to(bootstrap, 1, *words(copied) * 100 + of_the_image);
        m.reply = mine;
        *words(copied) = 2;
        *words(shared) = 3;
        of_the_image = 6;
        ask<mach::Call>(m, mine);
        send(message_to(bootstrap, 2, *words(copied) * 10 + *words(shared)));
    });
    const auto first = receive(port);
    check(child && first.value.words[0] == 105, "fork.the_copy_has_what_was_there");
    check(*words(copied) == 1 && of_the_image == 5, "fork.what_it_writes_is_its_own");
    check(*words(shared) == 3, "fork.what_is_shared_is_seen");
    *words(copied) = 8;
    *words(shared) = 4;
    send(message_to(first.value.reply, 1));
    check(receive(port).value.words[0] == 24, "fork.so_is_what_the_parent_writes");
    // a copy of a copy
    const Name second = make_task(port, [=] {
        *words(copied) = 20;
        const auto grandchild = mach::fork(0);
        if (grandchild && !grandchild.value) {
            send(message_to(bootstrap, 3)); // which it does not have
            *words(copied) = 30;
            mach::exit(0);
        }
        send(message_to(bootstrap, 3, *words(copied)));
    });
    check(receive(port).value.words[0] == 20 && *words(copied) == 8, "fork.and_of_a_copys_copy");
    // one that faults where nothing is
    const Name notify = new_port(false);
    const Name lost = make_task(port, [=] {
        *words(none) = 1;
        send(message_to(bootstrap, 9));
    });
    ask<mach::PortNotify>(lost, notify);
    check(receive(notify).value.words[0] == lost && receive_error(port) == Error::full,
          "fork.what_is_not_inherited_is_not_there");
    free_all(copied, shared, none);
    drop_all(child, second, first.value.reply, lost, notify, port);
}

/// A pager that makes each word of a page its offset plus 1, and says in the end what was returned to it.
void pager_task()
{
    const Name port = new_port();
    const Word buffer = ask<mach::VmAllocate>(page).value;
    Message hello = message_to(bootstrap, 1);
    hello.reply = port;
    send(hello);
    Word asked = 0, returned = 0, terminated = 0;
    for (;;) {
        const auto got = receive(port);
        const Message &m = got.value;
        if (m.id == mach::data_request) {
            asked++;
            for (Word i = 0; i < page; i += 4) *words(buffer + i) = m.words[1] + i + 1;
            ask<mach::DataProvided>(port, m.words[0], m.words[1], m.words[1] == 3 * page ? 0 : buffer);
            hello.words[1] = m.words[0];
        } else if (m.id == mach::data_return) {
            for (Word at = 0; at < m.words[2]; at += page)
                returned += *words(m.memory[0].address + at) + m.words[1] + at;
            ask<mach::VmDeallocate>(m.memory[0].address);
        } else if (m.id == mach::object_terminated) {
            terminated++;
        } else if (m.id == 50) { // flush; then the returned pages are there
            ask<mach::Flush>(port, hello.words[1]);
            send(message_to(port, 51));
        } else if (m.id == 51) {
            Message answer = message_to(bootstrap, 2, returned);
            answer.word_count = 3;
            answer.words[1] = asked;
            answer.words[2] = terminated;
            send(answer);
            asked = returned = terminated = 0;
        }
    }
}

void pagers()
{
    const Name port = new_port();
    const Name child = make_task(port, pager_task);
    const Name object = receive(port).value.reply;
    const auto at = ask<mach::VmMap>(object, 4 * page, Word{0}, Word{0});
    const auto again = ask<mach::VmMap>(object, 2 * page, page, Word{0});
    const auto own = ask<mach::VmMap>(object, page, Word{0}, Word{1});
    check(at && again && own, "pager.an_object_is_mapped");
    check(*words(at.value + 8) == 9 && *words(at.value + page) == page + 1, "pager.its_data_is_what_the_pager_gives");
    check(*words(again.value + 4) == page + 5, "pager.from_an_offset_on");
    check(*words(at.value + 3 * page + 8) == 0, "pager.zeros_where_it_has_none");
    *words(at.value + page) = 1000;
    check(*words(again.value) == 1000, "pager.it_is_one_object");
    *words(own.value) = 5;
    check(*words(at.value) == 1 && *words(own.value + 4) == 5, "pager.a_copy_is_the_writers_own");
    send(message_to(object, 50));
    const auto flushed = receive(port);
    check(flushed.value.words[0] == 1000 + page, "pager.what_was_modified_is_returned");
    check(flushed.value.words[1] == 3, "pager.each_page_was_asked_for_once");
    check(*words(at.value + page) == page + 1 && *words(own.value) == 5, "pager.a_flushed_page_is_asked_for_again");
    // the last region that is of the object, not of the copy's
    *words(at.value) = 50;
    *words(at.value + page) = 60;
    free_all(at.value, again.value);
    send(message_to(object, 51));
    check(receive(port).value.words[2] == 0, "pager.an_object_is_there_as_long_as_somebody_has_it");
    ask<mach::VmDeallocate>(own.value);
    send(message_to(object, 51));
    const auto last = receive(port).value;
    check(last.words[0] == 50 + 60 + page, "pager.it_returns_when_the_object_ends");
    check(last.words[2] == 1, "pager.who_is_told_of_its_end");
    const Word anew = ask<mach::VmMap>(object, 2 * page, Word{0}, Word{0}).value;
    check(*words(anew + page) == page + 1, "pager.then_it_begins_anew");
    const Name notify = new_port(false);
    const auto late_at = ask<mach::VmMap>(object, page, 10 * page, Word{0});
    check(ask<mach::DataProvided>(object, Word{1}, Word{0}, Word{0}).error == Error::denied,
          "pager.only_the_pager_gives");
    ask<mach::PortNotify>(child, notify);
    ask<mach::TaskTerminate>(child, Word{0});
    check(receive(notify).value.words[0] == child, "pager.it_ends");
    check(*words(anew + page) == page + 1, "pager.what_is_here_stays");
    const Name late = make_task(0, [&] { *words(late_at.value) = 1; });
    ask<mach::PortNotify>(late, notify);
    check(receive(notify).value.words[0] == late, "pager.and_who_needs_it_then_ends");
    free_all(anew, late_at.value);
    drop_all(child, object, notify, late, port);
}

// -------------------------------------------------------------------------- pagers that are programs of the system

constexpr char guide[] = "writing-a-server.md"; // some pages
constinit Word file_bytes = 0, file_sum = 0; // as the file server has them; in the first task, too: it is a copy

Word sum_of(const char *data, Word bytes)
{
    Word sum = 0;
    for (Word i = 0; i < bytes; i++) sum = sum * 31 + static_cast<unsigned char>(data[i]);
    return sum;
}

void file_pager()
{
    const auto mapped = mach::map_object("files", guide);
    check(mapped && mapped.value.bytes == file_bytes, "file.it_is_mapped");
    if (!mapped) return;
    const char *const at = reinterpret_cast<const char *>(mapped.value.address);
    check(sum_of(at, file_bytes) == file_sum, "file.it_is_what_the_file_server_has");
    check(file_bytes > page && (file_bytes % page == 0 || !at[file_bytes]), "file.zeros_behind_its_end");
    const auto copy = mach::map_object("files", guide, true);
    *words(copy.value.address) = 0;
    check(copy && at[0] && sum_of(at, file_bytes) == file_sum, "file.a_copy_is_the_writers_own");
    check(mach::map_object("files", "none").error == Error::not_found, "file.no_such_path");
    check(mach::map_object("files", "").error == Error::bad_value, "file.a_folder_is_none");
    check(mach::map_object("nobody", "x").error == Error::not_found, "file.no_such_pager");
    const Name port = new_port();
    check(ask<mach::CheckIn>(rpc::Name("mine"), port).error == Error::denied, "file.a_task_is_no_service");
    free_all(mapped.value.address, copy.value.address);
    ask<mach::PortDeallocate>(port);
}

/// How long it takes, in microseconds, until a task has ended that reads the first page that badpager has by `path`.
Word reads_and_ends(const char *path)
{
    const Name notify = new_port(false), port = new_port();
    const auto mapped = mach::map_object("badpager", path);
    const L4_Clock_t begin = L4_SystemClock();
    const Name child = make_task(port, [&] { send(message_to(bootstrap, 1, *words(mapped.value.address))); });
    ask<mach::PortNotify>(child, notify);
    const bool ended = mapped && child && receive(notify).value.words[0] == child;
    const Word us = static_cast<Word>(L4_SystemClock().raw - begin.raw);
    const bool has_read = bool(receive(port, Wait::no));
    free_all(mapped.value.address);
    drop_all(child, notify, port);
    return ended && !has_read ? us : ~0u;
}

void bad_pager()
{
    const auto first = mach::map_object("badpager", "kept");
    check(first && *words(first.value.address) == 0, "bad.it_serves");
    *words(first.value.address + 4) = 44;
    *words(first.value.address + page) = 55;
    free_all(first.value.address);
    const auto again = mach::map_object("badpager", "kept");
    check(*words(again.value.address + 4) == 44 && *words(again.value.address + page) == 55,
          "bad.what_was_written_is_with_the_pager");
    free_all(again.value.address);
    check(reads_and_ends("fails") < mach::pager_timeout_us / 4, "bad.who_needs_a_page_that_it_has_not_ends");
    const Word waited = reads_and_ends("sleeps");
    check(waited >= mach::pager_timeout_us && waited < mach::pager_timeout_us + 500'000,
          "bad.who_waits_for_it_ends_in_time");
    const auto after = mach::map_object("badpager", "kept");
    check(after && *words(after.value.address + 4) == 44, "bad.it_is_served_again_when_it_answers");
    check(reads_and_ends("dies") < mach::pager_timeout_us / 4, "bad.who_waits_for_it_when_it_dies_ends");
    check(*words(after.value.address + 4) == 44, "bad.what_is_here_stays");
    free_all(after.value.address);
    const bool back = mach::is_there("badpager");
    const auto next = mach::map_object("badpager", "kept");
    check(back && next && *words(next.value.address + 4) == 0, "bad.its_next_start_serves");
    free_all(next.value.address);
}

int all()
{
    check(mach::is_there("files") && mach::is_there("badpager"), "join.pagers_are_there");
    // pagers keep a port for what they have opened
    free_all(mach::map_object("files", guide).value.address, mach::map_object("badpager", "kept").value.address);
    const auto before = ask<mach::GetStatistics>().value;
    rights();
    queues();
    tasks_call();
    moved_rights();
    circles();
    sets();
    dead_names();
    memory();
    forks();
    pagers();
    file_pager();
    bad_pager();
    const auto after = ask<mach::GetStatistics>().value;
    check(after.ports == before.ports && after.messages == before.messages && after.tasks == before.tasks,
          "end.ports_messages_and_tasks_are_back");
    check(after.objects == before.objects && after.free_pages == before.free_pages, "end.so_is_memory");
    cobnut_printf("machchecks: %d failed\n", cobnut::failed_checks);
    return cobnut::failed_checks;
}

} // namespace

int cobnut_main(const char *)
{
    // what the server has of init, others have not
    check(cobnut::ask_init<init::MakeSpace>().error == Error::denied, "init.spaces_are_for_those_that_may_use_them");
    check(cobnut::ask_init<init::EndSpace>(L4_Myself().raw).error == Error::denied, "init.nor_are_they_ended");
    const auto small = cobnut::ask_init<init::Create>(Word{1});
    const auto server = cobnut::ask_init<init::Open>(init::Name("mach"));
    bool refused = true;
    for (Word handle = 0; handle < most_handles; handle++) {
        const auto booted = rpc::call<mach::Boot>(L4_ThreadId_t{.raw = server.value}, handle, Word{0x400000}, Word{1},
                                                  Word{0x400000}, Word{0x401000});
        refused = refused && booted.error == Error::not_found;
    }
    check(refused, "boot.no_memory_but_what_the_caller_has_passed");
    cobnut::ask_init<init::Pass>(small.value, server.value, Word{0});
    const auto large = rpc::call<mach::Boot>(L4_ThreadId_t{.raw = server.value}, small.value, Word{0x400000}, Word{2},
                                             Word{0x400000}, Word{0x401000});
    check(large.error == Error::bad_value, "boot.no_more_than_the_dataspace_has");
    cobnut::FileSystem files;
    const auto file = files.map(guide);
    if (file) file_bytes = file.value.bytes, file_sum = sum_of(file.value.data, file_bytes);
    const auto code = mach::boot(all);
    if (!code) cobnut_printf("machchecks: not booted: %s\n", rpc::describe(code.error));
    return code ? static_cast<int>(code.value) + cobnut::failed_checks : 1;
}
