// SPDX-License-Identifier: BSD-2-Clause
// The ends of a pipe: what its users call.
#include "protocol.h"

extern "C" void *memcpy(void *, const void *, size_t);

namespace pipes {
namespace {

/// Calls with the `words` that are loaded.
L4_MsgTag_t call(L4_ThreadId_t pipe, Operation label, Word words)
{
    L4_Set_MsgTag(L4_MsgTag_t{.raw = label << 16 | words});
    return L4_Call(pipe);
}

Moved moved(L4_MsgTag_t tag)
{
    if (L4_IpcFailed(tag)) return {Status::dead, 0};
    Word bytes;
    L4_StoreMR(1, &bytes);
    return {static_cast<Status>(L4_Label(tag)), bytes};
}

} // namespace

Moved write(L4_ThreadId_t pipe, const void *from, Word bytes, Wait wait)
{
    L4_LoadMR(1, reinterpret_cast<Word>(from));
    L4_LoadMR(2, bytes);
    L4_LoadMR(3, static_cast<Word>(wait));
    return moved(call(pipe, write_label, 3));
}

Moved read(L4_ThreadId_t pipe, void *to, Word bytes, Wait wait)
{
    if (bytes > most_at_once) bytes = most_at_once;
    L4_Accept(L4_StringItemsAcceptor);
    L4_LoadBR(1, string_part(bytes, false));
    L4_LoadBR(2, reinterpret_cast<Word>(to));
    L4_LoadMR(1, bytes);
    L4_LoadMR(2, static_cast<Word>(wait));
    const L4_MsgTag_t tag = call(pipe, read_label, 2);
    L4_Accept(L4_UntypedWordsAcceptor);
    const Moved result = moved(tag);
    if (result.status == Status::done && !L4_TypedWords(tag) && result.bytes <= most_in_words && result.bytes <= bytes)
        memcpy(to, const_cast<Word *>(__L4_Utcb()) + 2, result.bytes);
    return result;
}

Status open_writer(L4_ThreadId_t pipe) { return moved(call(pipe, open_writer_label, 0)).status; }
Status close_writer(L4_ThreadId_t pipe) { return moved(call(pipe, close_writer_label, 0)).status; }

Status open_reader(L4_ThreadId_t pipe, L4_ThreadId_t reader)
{
    L4_LoadMR(1, reader.raw);
    return moved(call(pipe, open_reader_label, 1)).status;
}
Status close_reader(L4_ThreadId_t pipe) { return moved(call(pipe, close_reader_label, 0)).status; }

} // namespace pipes
