// SPDX-License-Identifier: BSD-2-Clause
// The driver of an IDE disk. Arguments: `drive=0` or 1, and the parts of the disk (parts.h).
//
// The drive works on the first request of a queue, and its interrupts bring that to its end. The driver itself never
// waits, but for the moment in which a drive takes a command.
#include "drive.h"
#include "parts.h"
#include "requests.h"

#include <interfaces/disk.h>
#include <system/server.h>

#include <cobnut/payload.h>
#include <l4/schedule.h>

namespace {

using ide::Command, ide::Progress;
using rpc::Error, rpc::Nothing, rpc::Result, rpc::Word;

constexpr L4_Word64_t patience_us = 60'000'000; // for one command: a flush may take longer than 30 s (8.12)

/// What the driver knows of a client's program.
struct Account {
    Word parts = 0;                      ///< a bit for each that it has opened
    Word handle = 0, buffer = 0, size = 0; ///< its buffer: the dataspace, where it is, bytes
};

struct Server {
    using Client = rpc::Client;

    Result<Disk::Part> handle(Disk::Open, Client &client, const rpc::Name &service)
    {
        const Word number = parts.find(service);
        if (number == ide::Parts::none) return Error::not_found;
        const auto granted = cobnut::ask_init<init::MayUse>(client.thread.raw, service);
        if (!granted) return granted.error;
        accounts[client.program].parts |= 1u << number;
        return Disk::Part{number, parts[number].blocks};
    }

    Result<Nothing> handle(Disk::Buffer, Client &client, Word handle)
    {
        if (requests.has(client.program)) return Error::bad_value;
        Account &account = accounts[client.program];
        detach(account.buffer);
        account.handle = account.size = 0;
        const auto pages = cobnut::ask_init<init::Shared>(handle, client.thread.raw, Word{1});
        if (!pages) return pages.error;
        const auto at = cobnut::ask_init<init::Attach>(handle, Word{0}, Word{1});
        if (!at) return at.error;
        account.handle = handle;
        account.buffer = at.value;
        account.size = pages.value * init::page_size;
        return Nothing{};
    }

    Result<Nothing> handle(Disk::Read, Client &client, Word part, Word block, Word count, Word offset)
    {
        return transfer(Command::read, client, part, block, count, offset);
    }

    Result<Nothing> handle(Disk::Write, Client &client, Word part, Word block, Word count, Word offset)
    {
        return transfer(Command::write, client, part, block, count, offset);
    }

    Result<Nothing> handle(Disk::Flush, Client &client, Word part)
    {
        if (!opened(client, part)) return Error::not_found;
        return ask({client, Command::flush, 0, 0, nullptr});
    }

    Result<Nothing> transfer(Command command, Client &client, Word part, Word block, Word count, Word offset)
    {
        const Account &account = accounts[client.program];
        if (!opened(client, part)) return Error::not_found;
        const Word blocks = parts[part].blocks, bytes = count * Disk::block_size;
        if (!count || count > Disk::most_blocks || block >= blocks || count > blocks - block) return Error::bad_value;
        if (offset % sizeof(Word) || offset > account.size || bytes > account.size - offset) return Error::bad_value;
        if (!cobnut::ask_init<init::Shared>(account.handle, client.thread.raw, Word{1})) return Error::not_found;
        char *const memory = reinterpret_cast<char *>(account.buffer + offset);
        return ask({client, command, parts[part].first + block, count, memory});
    }

    bool opened(const Client &client, Word part) const
    {
        return part < parts.count() && accounts[client.program].parts >> part & 1;
    }

    Result<Nothing> ask(const ide::Request &request)
    {
        if (requests.full()) return Error::full;
        const bool idle = requests.empty();
        requests.add(request);
        if (idle) work();
        return Error::later;
    }

    /// Gives the drive the first request.
    void work()
    {
        while (!requests.empty()) {
            const ide::Request &request = requests.first();
            if (drive.start(request.command, request.block, request.count, request.memory)) {
                until = L4_SystemClock().raw + patience_us;
                return;
            }
            const bool there = drive.reset();
            answer(Error::failed);
            while (!there && !requests.empty()) answer(Error::failed); // each would wait as long
        }
        until = 0;
    }

    /// Answers the first request.
    void answer(Error error)
    {
        const Client client = requests.first().client;
        requests.remove_first();
        if (L4_IsNilThread(client.thread)) return detach(abandoned);
        rpc::answer<Disk::Flush>(client.thread, error == Error::none ? Result<Nothing>(Nothing{}) : error);
    }

    void interrupted(Word)
    {
        const Progress progress = drive.interrupted();
        if (requests.empty() || progress == Progress::goes_on) return;
        answer(progress == Progress::done ? Error::none : Error::failed);
        work();
    }

    /// How long it may wait for a message: until the drive has to have finished.
    L4_Time_t patience()
    {
        if (!until) return L4_Never;
        const L4_Word64_t now = L4_SystemClock().raw;
        if (now < until) return L4_TimePeriod(until - now);
        drive.reset();
        answer(Error::failed);
        work();
        return L4_ZeroTime;
    }

    void left(Word program)
    {
        // the drive may be at work on the buffer; the program's next start has another one
        if (requests.forget(program)) abandoned = accounts[program].buffer;
        else detach(accounts[program].buffer);
        accounts[program] = {};
    }

    void detach(Word &buffer)
    {
        if (buffer) cobnut::ask_init<init::Detach>(buffer);
        buffer = 0;
    }

    ide::Drive drive;
    ide::Parts parts;
    ide::Requests requests;
    Account accounts[init::most_programs] = {};
    Word abandoned = 0;    ///< the buffer of the first request if that is nobody's
    L4_Word64_t until = 0; ///< when the drive has to have finished; 0: it does nothing
};

constinit Server server;

} // namespace

int cobnut_main(const char *arguments)
{
    const cobnut::Options options(arguments);
    if (!cobnut::ask_init<init::TakeInterrupt>(Word{ide::Drive::line})) return 1;
    if (!server.drive.begin(options.number("drive", 0) & 1)) cobnut_printf("ide: there is no disk\n");
    else if (!server.parts.read(arguments, server.drive.blocks())) {
        cobnut_printf("ide: the disk has %u blocks, which does not fit %s\n", server.drive.blocks(), arguments);
        return 2;
    }
    cobnut::serve(server, Disk::Operations{});
}
