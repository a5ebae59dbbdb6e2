// SPDX-License-Identifier: BSD-2-Clause
// An external pager of Mach's over the network, by the name `net`: its pages are with a store elsewhere, which connects
// to port 4000 by TCP and answers one request after the other:
//
//   request: operation (0 open, 1 read, 2 write), number, offset, bytes; behind open a path of so many bytes, behind
//            write so many bytes of data
//   answer:  an rpc::Error, bytes; of open the length of what has the path, of read so many bytes of data behind it
//
// All of it are words of four bytes, the upper one first. A store that goes, or has not answered for a second, has
// failed; the next one that connects takes its place.
#include <mach/pager.h>

#include <cobnut/payload.h>
#include <errno.h>
#include <netinet/in.h>
#include <poll.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

namespace {

using rpc::Word;

constexpr int port = 4000, patience_ms = 1000;
enum Operation : Word { open_path, read_page, write_page };

bool is_ready(int fd)
{
    pollfd one = {fd, POLLIN, 0};
    return poll(&one, 1, patience_ms) > 0;
}

class NetBacking : public mach::Backing {
public:
    bool begin()
    {
        sockaddr_in here = {};
        here.sin_family = AF_INET;
        here.sin_port = htons(port);
        listener_ = socket(AF_INET, SOCK_STREAM, 0);
        return listener_ >= 0 && !bind(listener_, reinterpret_cast<sockaddr *>(&here), sizeof here) &&
               !listen(listener_, 1);
    }

    rpc::Result<Word> open(Word number, const Path &path) override
    {
        const auto length = ask(open_path, number, 0, path.size, path.data);
        return length.error == rpc::Error::failed ? rpc::Error::not_running : length;
    }
    bool read(Word number, Word offset, char *to, Word bytes) override
    {
        const auto there = ask(read_page, number, offset, bytes, nullptr);
        return there && (there.value == bytes || lose()) && (takes(to, bytes) || lose());
    }
    bool write(Word number, Word offset, const char *from, Word bytes) override
    {
        return bool(ask(write_page, number, offset, bytes, from));
    }

private:
    /// The second word of the answer.
    rpc::Result<Word> ask(Operation what, Word number, Word offset, Word bytes, const char *data)
    {
        if (store_ < 0 && is_ready(listener_)) store_ = accept(listener_, nullptr, nullptr);
        if (store_ < 0) return rpc::Error::failed;
        const Word request[] = {htonl(what), htonl(number), htonl(offset), htonl(bytes)};
        Word answer[2];
        const bool done =
            gives(request, sizeof request) && (!data || gives(data, bytes)) && takes(answer, sizeof answer);
        if (!done) lose();
        if (!done) return rpc::Error::failed;
        if (answer[0]) return static_cast<rpc::Error>(ntohl(answer[0]));
        return ntohl(answer[1]);
    }
    bool lose()
    {
        close(store_);
        store_ = -1;
        return false;
    }
    bool gives(const void *data, size_t size)
    {
        for (const char *p = static_cast<const char *>(data); size;) {
            const ssize_t sent = send(store_, p, size, 0);
            if (sent <= 0) return false;
            p += sent, size -= static_cast<size_t>(sent);
        }
        return true;
    }
    bool takes(void *data, size_t size)
    {
        for (char *p = static_cast<char *>(data); size;) {
            const ssize_t got = is_ready(store_) ? recv(store_, p, size, 0) : 0;
            if (got <= 0) return false;
            p += got, size -= static_cast<size_t>(got);
        }
        return true;
    }

    int listener_ = -1, store_ = -1;
};

constinit NetBacking pages;

} // namespace

int cobnut_main(const char *)
{
    if (!pages.begin()) {
        cobnut_printf("netpager: no port %d\n", port);
        return 1;
    }
    return mach::serve_objects("net", pages);
}
