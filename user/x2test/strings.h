// SPDX-License-Identifier: BSD-2-Clause
// What the tests of strings stand on: one agent sends `message` to another, and what came of it is noted there.
#ifndef COBNUT_X2TEST_STRINGS_H
#define COBNUT_X2TEST_STRINGS_H
#include "harness.h"

namespace x2test::strings {

/// All agents and main share it, as they share the image.
struct Message {
    // What the sender sends, and the receiver accepts. Times are L4_Timeouts().
    L4_Msg_t msg;
    Word send_xfer;
    Word acceptor;
    L4_MsgBuffer_t buffers;
    Word receive_xfer;
    // What came of it: the tags that Ipc returned, ErrorCode, and the receiver's registers.
    Word sent, sent_error;
    Word got, got_error, from, actual_sender, mr[64];
};
extern Message message;

/// Nothing to send, no buffers; strings are accepted, transfers take their time.
void clear();

// The first half of the arena is where strings come from, the second where they go to.
inline constexpr Word half = arena_pages / 2 * page_size;
inline Word source(Word at = 0) { return arena_page(0) + at; }
inline Word target(Word at = 0) { return arena_page(arena_pages / 2) + at; }
inline void *bytes_at(Word address) { return reinterpret_cast<void *>(address); }

/// Appends a simple string to the message; a simple buffer to the receiver's.
inline void send(Word address, Word bytes)
{
    L4_MsgAppendSimpleStringItem(&message.msg, L4_StringItem(static_cast<int>(bytes), bytes_at(address)));
}
inline void accept(Word address, Word bytes)
{
    L4_MsgBufferAppendSimpleRcvString(&message.buffers, L4_StringItem(static_cast<int>(bytes), bytes_at(address)));
}

/// A message of `bytes` from the first half to the second, whose data are known to arrive.
void prepare(Word bytes, Word from = 0, Word to = 0);
/// As long as the tests of faults want it.
inline constexpr Word pages = 4, all = pages * page_size;

/// What the second half shall hold afterwards: begins as rubbish, which fill() also puts there.
extern unsigned char expected[half];
void fill();
/// Expects `bytes` from source(from) at target(to).
void expect(Word to, Word from, Word bytes);
bool target_as_expected();

Word do_send(Word to, Word timeout, Word);
Word do_receive(Word from, Word timeout, Word);

/// The transfer of `message`; start() does not wait for its end.
void start(Agent *sender, Agent *receiver);
void transfer(Agent *sender, Agent *receiver);
/// Waits for the end of a transfer that start() began.
void wait(Agent *sender, Agent *receiver);

/// Both sides are content, and all of the message's tag has arrived.
bool arrived();
/// Both were told of an error after `offset` bytes; the receiver knows the message.
bool failed(Word sender_code, Word receiver_code, Word offset);
enum Code : Word { overflow = 4, mine = 5, partners = 6, aborted = 7 };

/// Takes pages of the image from an agent of its own space, which gets them back from main at its next fault.
void lose(Agent *a, Word address, Word pages);

} // namespace x2test::strings
#endif
