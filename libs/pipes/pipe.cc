// SPDX-License-Identifier: BSD-2-Clause
// The pipe's thread.
#include "protocol.h"

extern "C" void *memcpy(void *, const void *, size_t);

namespace pipes {
namespace {

Word smaller(Word a, Word b) { return a < b ? a : b; }

/// Threads of the pipe's own space have local ids.
bool is_ours(L4_ThreadId_t thread) { return L4_IsLocalId(thread); }

} // namespace

void Pipe::serve()
{
    L4_Accept(L4_UntypedWordsAcceptor);
    for (;;) {
        // whoever does not wait for the answer has lost it
        const L4_ThreadId_t to = answered_;
        L4_ThreadId_t from;
        answered_ = L4_nilthread;
        L4_MsgTag_t tag = L4_ReplyWait(to, &from);
        if (L4_IpcFailed(tag)) tag = L4_Wait(&from);
        if (L4_IpcFailed(tag)) continue;
        request(from, tag);
        move();
    }
}

void Pipe::request(L4_ThreadId_t from, L4_MsgTag_t tag)
{
    Word words[4] = {};
    L4_StoreMRs(1, 3, words + 1);
    const Word expected = L4_UntypedWords(tag);
    switch (L4_Label(tag)) {
    case write_label:
        if (!is_ours(from) || expected != 3) break;
        return request_write(from, words[1], words[2], static_cast<Wait>(words[3]));
    case read_label:
        if (!reader(from) || expected != 2) break;
        return request_read(from, words[1], static_cast<Wait>(words[2]));
    case open_writer_label:
        if (!is_ours(from) || !writers_) break;
        writers_++;
        return answer(from, Status::done, 0);
    case close_writer_label:
        if (!is_ours(from) || !writers_) break;
        writers_--;
        return answer(from, Status::done, 0);
    case open_reader_label:
        if (!is_ours(from) || expected != 1) break;
        for (L4_ThreadId_t &one : readers_) {
            if (!L4_IsNilThread(one)) continue;
            one.raw = words[1];
            reader_count_++;
            return answer(from, Status::done, 0);
        }
        return answer(from, Status::full, 0);
    case close_reader_label:
        if (L4_ThreadId_t *const open = reader(from)) {
            *open = L4_nilthread;
            reader_count_--;
            return answer(from, Status::done, 0);
        }
    }
    answer(from, Status::refused, 0);
}

void Pipe::request_write(L4_ThreadId_t from, Word address, Word bytes, Wait wait)
{
    if (!writers_) return answer(from, Status::refused, 0);
    if (!reader_count_) return answer(from, Status::broken, 0);
    if (writes_.full()) return answer(from, Status::full, 0);
    const bool room = writes_.empty() && capacity_ - used_ >= (bytes <= atomic ? bytes : 1);
    if (wait == Wait::no && !room) return answer(from, Status::again, 0);
    writes_.push({from, reinterpret_cast<const char *>(address), bytes, bytes, wait});
}

void Pipe::request_read(L4_ThreadId_t from, Word bytes, Wait wait)
{
    if (!bytes) return answer(from, Status::done, 0);
    if (reads_.full()) return answer(from, Status::full, 0);
    if (wait == Wait::no && !used_ && writes_.empty() && writers_) return answer(from, Status::again, 0);
    reads_.push({from, smaller(bytes, most_at_once)});
}

/// Goes on until those that wait have to wait still.
void Pipe::move()
{
    while (take() || give()) {}
}

/// Does something for the first of those who write, if it can. The others wait until that one has written all: no
/// write is in pieces between another's.
bool Pipe::take()
{
    if (writes_.empty()) return false;
    Write &w = writes_.front();
    if (!reader_count_) {
        answer(w.thread, Status::broken, w.all - w.left);
        writes_.pop();
        return true;
    }
    const Word room = capacity_ - used_, bytes = smaller(room, w.left);
    if (w.left && !bytes) return false;
    append(w.from, bytes);
    w.from += bytes;
    w.left -= bytes;
    if (!w.left || w.wait == Wait::no) {
        answer(w.thread, Status::done, w.all - w.left);
        writes_.pop();
    }
    return true;
}

/// Does something for the first of those who read, if it can.
bool Pipe::give()
{
    if (reads_.empty() || (!used_ && (writers_ || !writes_.empty()))) return false;
    const Read r = reads_.front();
    reads_.pop();
    answer_bytes(r.thread, smaller(r.most, used_));
    return true;
}

void Pipe::append(const char *from, Word bytes)
{
    if (bytes) flush(); // what is loaded may be bytes of the ring that this would overwrite
    const Word at = in_ring(first_ + used_), before_end = smaller(bytes, capacity_ - at);
    memcpy(buffer_ + at, from, before_end);
    memcpy(buffer_, from + before_end, bytes - before_end);
    used_ += bytes;
}

/// The end of a thread that may read; nullptr if it may not.
L4_ThreadId_t *Pipe::reader(L4_ThreadId_t thread)
{
    for (L4_ThreadId_t &one : readers_)
        if (one == thread) return &one;
    if (!is_ours(thread)) return nullptr;
    const L4_ThreadId_t global = L4_GlobalId(thread); // which costs a system call
    for (L4_ThreadId_t &one : readers_)
        if (one == global) return &one;
    return nullptr;
}

void Pipe::flush()
{
    if (L4_IsNilThread(answered_)) return;
    L4_Reply(answered_);
    answered_ = L4_nilthread;
}

void Pipe::answer(L4_ThreadId_t to, Status status, Word bytes)
{
    flush();
    L4_Set_MsgTag(L4_MsgTag_t{.raw = static_cast<Word>(status) << 16 | 1});
    L4_LoadMR(1, bytes);
    answered_ = to;
}

/// The ring's first bytes, which leave it.
void Pipe::answer_bytes(L4_ThreadId_t to, Word bytes)
{
    answer(to, Status::done, bytes);
    const Word before_end = smaller(bytes, capacity_ - first_), rest = bytes - before_end;
    if (bytes <= most_in_words) {
        char *const words = reinterpret_cast<char *>(const_cast<Word *>(__L4_Utcb()) + 2);
        memcpy(words, buffer_ + first_, before_end);
        memcpy(words + before_end, buffer_, rest);
        L4_Set_MsgTag(L4_MsgTag_t{.raw = 1 + (bytes + sizeof(Word) - 1) / sizeof(Word)});
    } else {
        const Word typed = rest ? 4 : 2;
        L4_LoadMR(2, string_part(before_end, rest));
        L4_LoadMR(3, reinterpret_cast<Word>(buffer_ + first_));
        if (rest) {
            L4_LoadMR(4, string_part(rest, false));
            L4_LoadMR(5, reinterpret_cast<Word>(buffer_));
        }
        L4_Set_MsgTag(L4_MsgTag_t{.raw = typed << 6 | 1});
    }
    first_ = in_ring(first_ + bytes);
    used_ -= bytes;
}

} // namespace pipes
