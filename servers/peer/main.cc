// SPDX-License-Identifier: BSD-2-Clause
// A script's frames for a system with a network, for the laboratory (cobnut/lab.h). Arguments: what=ping or what=http,
// rounds=N, warmup=N. Each frame that it sends is a region of a case; those of the rounds that only warm up are of case
// 100.
//   ping    0    an ICMP echo of 56 bytes
//   http    0    a request for a page, all over one connection
//           1    the same, each over a connection of its own, which the server ends
#include "cable.h"
#include "stream.h"

#include <cobnut/options.h>
#include <cobnut/payload.h>
#include <string.h>

namespace {

using Word = rpc::Word;

constexpr unsigned warming = 100;
constexpr unsigned web_port = 80, first_port = 5000;

constinit Cable cable;
constinit unsigned waits = 0, page_bytes = 0;

/// One echo and its answer, which is there when the system has nothing more to do.
bool ping(unsigned number, unsigned round)
{
    constexpr Word size = 56;
    Byte *const out = cable.packet(protocol_icmp);
    out[at::icmp_kind] = echo_request;
    put16(out + at::icmp_number, round);
    for (Word i = 0; i < size; i++) out[at::icmp_data + i] = static_cast<Byte>(i);
    constexpr Word all = at::icmp_data - at::data + size;
    put16(out + at::icmp_sum, folded(add(out + at::data, all)));
    cable.send(number, all);
    const Byte *end = nullptr, *const in = cable.receive(protocol_icmp, end);
    return in && in[at::icmp_kind] == echo_reply && get16(in + at::icmp_number) == round &&
           !memcmp(in + at::icmp_data, out + at::icmp_data, size) && end == in + at::data + all;
}

bool pings(unsigned warmup, unsigned rounds)
{
    for (unsigned round = 0; round < warmup + rounds; round++)
        if (!ping(round < warmup ? warming : 0, round)) return false;
    return true;
}

/// How many bytes an answer has in all, by its head, whose end is there; 0: it is not, or not as it should be.
Word whole(const char *answer)
{
    constexpr char status[] = "HTTP/1.1 200 ", length[] = "Content-Length: ";
    const char *const end = strstr(answer, "\r\n\r\n"), *const size = strstr(answer, length);
    if (strncmp(answer, status, sizeof status - 1) || !end || !size) return 0;
    Word bytes = 0;
    for (const char *p = size + sizeof length - 1; *p >= '0' && *p <= '9'; p++) bytes = bytes * 10 + (*p - '0');
    return static_cast<Word>(end + 4 - answer) + bytes;
}

/// A request and its whole answer. False if that is not right.
bool request(Stream &stream, bool closes)
{
    static char answer[8192];
    stream.send(closes ? "GET / HTTP/1.1\r\nHost: 10.0.9.2\r\nConnection: close\r\n\r\n"
                       : "GET / HTTP/1.1\r\nHost: 10.0.9.2\r\n\r\n");
    Word got = 0;
    do {
        const Word more = stream.receive(answer + got, sizeof answer - 1 - got);
        if (!more) return false;
        got += more;
        answer[got] = 0;
    } while (!whole(answer) || got < whole(answer));
    page_bytes = got;
    return got == whole(answer);
}

bool over_one(unsigned warmup, unsigned rounds)
{
    Stream stream(cable, warming, first_port);
    bool right = stream.connect(web_port);
    const unsigned at_first = stream.waits(); // the server may not have been there yet
    for (unsigned round = 0; round < warmup + rounds && right; round++) {
        stream.set_number(round < warmup ? warming : 0);
        right = request(stream, false);
    }
    waits += stream.waits() - at_first;
    return right;
}

bool over_many(unsigned warmup, unsigned rounds)
{
    for (unsigned round = 0; round < warmup + rounds; round++) {
        Stream stream(cable, round < warmup ? warming : 1, first_port + 1 + round);
        if (!stream.connect(web_port) || !request(stream, true)) return false;
        stream.close();
        waits += stream.waits();
    }
    return true;
}

bool requests(unsigned warmup, unsigned rounds)
{
    if (!over_one(warmup, rounds) || !over_many(warmup, rounds)) return false;
    cobnut_printf("peer: %u bytes an answer, %u waits\n", page_bytes, waits);
    return true;
}

} // namespace

int cobnut_main(const char *command_line)
{
    const cobnut::Options options(command_line);
    const unsigned warmup = options.number("warmup", 8), rounds = options.number("rounds", 32);
    if (!cable.begin()) {
        cobnut_printf("peer: FAIL: nobody has the system's address\n");
        return 1;
    }
    if (!(options.find("what") == "http" ? requests : pings)(warmup, rounds)) {
        cobnut_printf("peer: FAIL: an answer is missing or wrong\n");
        return 1;
    }
    cobnut_printf("peer: done\n");
    return 0;
}
