// SPDX-License-Identifier: BSD-2-Clause
// Mach's objects, as the server `mach` has them: ports with rights, messages that carry rights and memory, memory
// objects with external pagers, and tasks that are made as copies. Rashid and others, "Mach: a foundation for open
// systems" (1989), and Young and others, "The duality of memory and communication" (1987), say what these are; names
// and numbers of notifications and of pagers' messages are Mach 3's.
//
// A task calls its pager, which is the server, and is known by its thread. The names of its rights are its own. A
// program of the system that has joined (Join) is a task in all but its space, which stays init's.
#pragma once

#include <rpc/rpc.h>

namespace mach {

using rpc::Nothing, rpc::Word;

using Name = Word; ///< of a right that a task has; 0: none

/// What a task has by a name, as bits: send and receive rights for one port have one name.
enum Rights : Word { send_right = 1, receive_right = 2, port_set = 4, dead_name = 8 };

/// How a right gets into a message. A receiver finds send_right or receive_right in its place.
enum class Disposition : Word { move_receive = 1, copy_send, make_send, move_send };

struct Right {
    Name name;
    Word kind; ///< a Disposition, or received: of Rights
};
struct Memory {
    /// Whole pages; the receiver gets a copy, made when one of the two writes. Received with address 0: there was no
    /// room for it.
    Word address, bytes;
};

/// Sent: `port` is where to, a send right; `reply` a port of the sender's to which the receiver gets a send right.
/// Received: `port` is the name at which it came in, `reply` that send right.
struct Message {
    static constexpr Word most_words = 16, most_rights = 4, most_memory = 2;
    Name port = 0, reply = 0;
    Word id = 0;
    Word word_count = 0, right_count = 0, memory_count = 0;
    Word words[most_words] = {};
    Right rights[most_rights] = {};
    Memory memory[most_memory] = {};
};

enum class Wait : Word { no, yes };

/// Messages that the server sends by itself; words[0] is the dead name, or what is said there.
inline constexpr Word dead_name_notification = 72;
/// To a memory object's port, as its pager: words are the object, the offset in it, and its bytes.
inline constexpr Word data_request = 2203;
/// Likewise: words are the object, the offset and the bytes of memory[0], pages that were modified.
inline constexpr Word data_return = 2208;
inline constexpr Word most_returned = 16; ///< pages of one such message
/// Likewise: words[0] is the object, which nobody has mapped any more. What was modified has been returned before.
inline constexpr Word object_terminated = 2201;

/// How long a task waits for a pager that does not answer, in microseconds; it is ended then.
inline constexpr Word pager_timeout_us = 2'000'000;

inline constexpr Word page_size = 4096;

// ------------------------------------------------------------------------------------------------------------- ports
// Errors of all operations: not_found, there is no such name; denied, it is not a right of that kind; full, no room.

/// A new port, with its receive right; a new port set.
using PortAllocate = rpc::Operation<0x300, Name()>;
using PortSetAllocate = rpc::Operation<0x301, Name()>;
/// A send right to a port of which the caller has the receive right, by the same name.
using PortInsertSend = rpc::Operation<0x302, Nothing(Name name)>;
/// Gives a right up. With its receive right a port dies: its messages are gone, and other names of it are dead names.
using PortDeallocate = rpc::Operation<0x303, Nothing(Name name)>;
/// Puts a port whose receive right the caller has into a set, or into none (0).
using PortMoveMember = rpc::Operation<0x304, Nothing(Name member, Name set)>;
/// When `name` is a dead name, dead_name_notification is sent to the port `notify` of the caller's, once.
using PortNotify = rpc::Operation<0x305, Nothing(Name name, Name notify)>;
/// Of Rights. Errors: not_found.
using PortType = rpc::Operation<0x306, Word(Name name)>;

/// As Mach's name service: all tasks may have a send right to `port` by the name `service`, until it dies. For programs
/// that have joined, of their own ports; tasks are denied. Errors: full (another live port has it).
using CheckIn = rpc::Operation<0x307, Nothing(rpc::Name service, Name port)>;
/// A send right to what was checked in. Errors: not_found (nothing was, or it has died).
using LookUp = rpc::Operation<0x308, Name(rpc::Name service)>;

// ---------------------------------------------------------------------------------------------------------- messages

/// Errors: not_running (the port is dead), denied (a right is not there), bad_value (memory is not there, or a receive
/// right would be in a message that it alone receives), full (with Wait::no, five messages wait already).
using Send = rpc::Operation<0x310, Nothing(Message message, Wait wait)>;
/// The next message of a port or a set. Errors: full (with Wait::no, there is none), not_running (it has died).
using Receive = rpc::Operation<0x311, Message(Name name, Wait wait)>;
/// Both in one call, as Mach's mach_msg(): sends, and then receives at `name`. Errors of both.
using Call = rpc::Operation<0x312, Message(Message message, Name name)>;

// ------------------------------------------------------------------------------------------------------------ memory
// A program that has joined has its memory from init: here it may allocate, send and receive in the window that it has
// joined with, and VmMap, VmInherit and TaskCreate are denied.

/// Pages of zeros; where they are.
using VmAllocate = rpc::Operation<0x320, Word(Word bytes)>;
/// Takes away what was allocated, mapped or received at `address`.
using VmDeallocate = rpc::Operation<0x321, Nothing(Word address)>;
/// A memory object, by a send right to the port of its pager, from the page `offset` on. The object is the same for
/// all who map it. With `copy`, what is written stays the caller's own.
using VmMap = rpc::Operation<0x322, Word(Name pager, Word bytes, Word offset, Word copy)>;
enum class Inheritance : Word { copy, share, none };
/// What becomes of it in a task that is made as a copy of the caller.
using VmInherit = rpc::Operation<0x323, Nothing(Word address, Inheritance kind)>;

/// For a pager, whose port `port` is: the data of a page that was asked for, from the caller's memory at `address`; 0:
/// there is none, the page is zeros.
using DataProvided = rpc::Operation<0x328, Nothing(Name port, Word object, Word offset, Word address)>;
/// For a pager: pages of its object that were modified are returned (data_return), and none stays. Errors: full (there
/// is no room to return more now; the others are still there).
using Flush = rpc::Operation<0x329, Nothing(Name port, Word object)>;
/// For a pager: it cannot give a page that was asked for. The tasks that wait for it are ended.
using DataError = rpc::Operation<0x32A, Nothing(Name port, Word object, Word offset)>;

// ------------------------------------------------------------------------------------------------------------- tasks

/// A new task: a copy of the caller's memory, each page until one of the two writes to it, and a thread that begins at
/// `ip` with the stack pointer `sp`. Its only right is a send right by the name 1, to the port `bootstrap` of the
/// caller's. The answer is a send right to the new task's own port, which dies with it.
using TaskCreate = rpc::Operation<0x330, Name(Word ip, Word sp, Name bootstrap)>;
/// Ends the caller, or the task of that port. `code` is the answer to Boot, of the first task. A program that has
/// joined has then left.
using TaskTerminate = rpc::Operation<0x331, Nothing(Name task, Word code)>;

struct Statistics {
    Word free_pages, ports, messages, objects, tasks;
};
using GetStatistics = rpc::Operation<0x332, Statistics()>;

using Operations = rpc::List<PortAllocate, PortSetAllocate, PortInsertSend, PortDeallocate, PortMoveMember, PortNotify,
                             PortType, CheckIn, LookUp, Send, Receive, Call, VmAllocate, VmDeallocate, VmMap, VmInherit,
                             DataProvided, Flush, DataError, TaskCreate, TaskTerminate, GetStatistics>;

/// For a program of init's that uses `mach`: the first task, whose memory is a copy of the dataspace `handle`, held by
/// the server and by the caller, at `address`. Returns when it has ended, its code. Errors: full (there is one),
/// no_memory, not_found (one of them does not hold it), bad_value.
using Boot = rpc::Operation<0x3F0, Word(Word handle, Word address, Word pages, Word ip, Word sp)>;

/// For a program of init's that uses `mach`: its thread is a task from now on, without any right. Its window is the
/// dataspace `handle` of `pages` pages, held by the server and by the caller, which has it at `address`: memory in
/// messages is copied to and from there. It leaves when it ends. Errors: full, not_found (one of them does not hold
/// it), denied (read-only), bad_value.
using Join = rpc::Operation<0x3F1, Nothing(Word handle, Word address, Word pages)>;

/// What a program may call before it has joined.
using ProgramOperations = rpc::List<Boot, Join>;

/// What pagers that are programs of the system answer at the port that they have checked in (libs/mach/pager.h):
/// `words` are a path, with bytes 0 behind it. The answer's id is the same, words[0] an rpc::Error, words[1] the bytes
/// of what has that path, and rights[0] a send right to its memory object.
inline constexpr Word open_request = 3000;

// On the wire: four words, and then as many as there are.
inline void put(Word *&to, const Message &m)
{
    *to++ = m.port;
    *to++ = m.reply;
    *to++ = m.id;
    *to++ = m.word_count | m.right_count << 8 | m.memory_count << 16;
    for (Word i = 0; i < m.word_count; i++) *to++ = m.words[i];
    for (Word i = 0; i < m.right_count; i++) *to++ = m.rights[i].name, *to++ = m.rights[i].kind;
    for (Word i = 0; i < m.memory_count; i++) *to++ = m.memory[i].address, *to++ = m.memory[i].bytes;
}
inline bool get(const Word *&from, const Word *end, Message &m)
{
    constexpr Word header = 4;
    if (static_cast<Word>(end - from) < header) return false;
    m.port = *from++, m.reply = *from++, m.id = *from++;
    const Word counts = *from++;
    m.word_count = counts & 0xFF, m.right_count = counts >> 8 & 0xFF, m.memory_count = counts >> 16;
    if (m.word_count > Message::most_words || m.right_count > Message::most_rights ||
        m.memory_count > Message::most_memory ||
        static_cast<Word>(end - from) < m.word_count + 2 * (m.right_count + m.memory_count))
        return false;
    for (Word i = 0; i < m.word_count; i++) m.words[i] = *from++;
    for (Word i = 0; i < m.right_count; i++) m.rights[i].name = *from++, m.rights[i].kind = *from++;
    for (Word i = 0; i < m.memory_count; i++) m.memory[i].address = *from++, m.memory[i].bytes = *from++;
    return true;
}

} // namespace mach

template <> inline constexpr bool rpc::detail::fixed<mach::Message> = false;
