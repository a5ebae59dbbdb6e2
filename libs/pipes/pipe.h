// SPDX-License-Identifier: BSD-2-Clause
// Pipes at user level: POSIX's, without signals and file descriptors. A byte stream from the threads of one space, the
// writers', to threads of any space.
//
// A thread in the writers' space holds the buffer and serves both ends (H97 section 6.1: "an additional thread is
// responsible for buffering and cross-address-space communication with the receiver"). A write is a call within the
// space, and the thread copies from the writer's memory; a read is a call from another space, and the answer brings the
// bytes: in message registers if they are few, as a string otherwise. So nothing is shared between spaces, and a
// writer goes on as soon as the buffer has its bytes.
//
// What holds, as POSIX says of read() and write() on pipes:
//   - bytes arrive once and in the order in which they were written;
//   - a read waits until there is a byte, and returns what there is, up to what it asked for; 0 once no end for writing
//     is open and the buffer is empty;
//   - a write waits until all of its bytes are in the buffer, and they are in one piece there, whoever else writes
//     (POSIX wants that of up to `atomic` bytes);
//   - without waiting, a read of an empty pipe and a write without room is Status::again, and a write of more than
//     `atomic` bytes may write a part;
//   - a write without a reader is Status::broken (POSIX sends SIGPIPE as well).
#pragma once

#include <l4/ipc.h>
#include <stddef.h>

namespace pipes {

using Word = L4_Word_t;

inline constexpr Word atomic = 4096; ///< PIPE_BUF
inline constexpr Word most_at_once = 1 << 20; ///< bytes of one read; what is beyond is not asked for

enum class Status : Word {
    done,
    again, ///< it would have to wait, and must not (EAGAIN)
    broken, ///< there is no reader (EPIPE)
    refused, ///< the caller has no such end of this pipe (EBADF)
    full, ///< too many threads wait already
    dead, ///< the pipe's thread is gone
};

/// How many bytes were moved, and how it ended.
struct Moved {
    Status status = Status::done;
    Word bytes = 0;
};

enum class Wait : Word { no, yes };

// -------------------------------------------------------------------------------------------------------- both ends

/// Writes `bytes` from `from`. Only from the space of the pipe's thread.
Moved write(L4_ThreadId_t pipe, const void *from, Word bytes, Wait wait = Wait::yes);

/// Reads up to `bytes` to `to`, all of which must be writable memory of the caller's.
Moved read(L4_ThreadId_t pipe, void *to, Word bytes, Wait wait = Wait::yes);

/// One more end for writing, as by dup() or fork(); a new pipe has one. Only from the space of the pipe's thread.
Status open_writer(L4_ThreadId_t pipe);
Status close_writer(L4_ThreadId_t pipe);

/// Lets the thread `reader` read, which is one more end for reading. Only from the space of the pipe's thread.
Status open_reader(L4_ThreadId_t pipe, L4_ThreadId_t reader);
/// The caller does not read any more.
Status close_reader(L4_ThreadId_t pipe);

// ------------------------------------------------------------------------------------------------- the pipe's thread

/// The buffer and who waits for it; all of it is the thread's that runs serve().
class Pipe {
public:
    /// `buffer` has `capacity` bytes, of at least `atomic`, which stay there.
    constexpr Pipe(char *buffer, Word capacity) : buffer_(buffer), capacity_(capacity) {}

    /// Serves for ever.
    [[noreturn]] void serve();

private:
    static constexpr size_t most_waiting = 16, most_readers = 16;

    struct Write {
        L4_ThreadId_t thread;
        const char *from;
        Word left, all;
        Wait wait;
    };
    struct Read {
        L4_ThreadId_t thread;
        Word most;
    };
    /// First in, first out.
    template <typename T> struct Queue {
        T waiting[most_waiting] = {};
        size_t first = 0, count = 0;

        bool empty() const { return !count; }
        bool full() const { return count == most_waiting; }
        T &front() { return waiting[first]; }
        void push(const T &one) { waiting[(first + count++) % most_waiting] = one; }
        void pop() { first = (first + 1) % most_waiting, count--; }
    };

    void request(L4_ThreadId_t from, L4_MsgTag_t tag);
    void request_write(L4_ThreadId_t from, Word address, Word bytes, Wait wait);
    void request_read(L4_ThreadId_t from, Word bytes, Wait wait);
    void move();
    bool take();
    bool give();
    void append(const char *from, Word bytes);

    L4_ThreadId_t *reader(L4_ThreadId_t thread);
    Word in_ring(Word at) const { return at < capacity_ ? at : at - capacity_; }

    // Answers: one is loaded in the message registers and goes out with the next wait, or before another is loaded.
    void answer(L4_ThreadId_t to, Status status, Word bytes);
    void answer_bytes(L4_ThreadId_t to, Word bytes);
    void flush();

    char *buffer_;
    Word capacity_;
    Word first_ = 0, used_ = 0; ///< of the ring: where its oldest byte is, and how many there are
    Word writers_ = 1, reader_count_ = 0; ///< ends that are open
    L4_ThreadId_t readers_[most_readers] = {}; ///< nilthread: nobody
    Queue<Write> writes_;
    Queue<Read> reads_;
    L4_ThreadId_t answered_ = {}; ///< whose answer is loaded; nilthread: nobody's
};

} // namespace pipes
