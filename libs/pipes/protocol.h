// SPDX-License-Identifier: BSD-2-Clause
// What the ends of a pipe and its thread say to each other. The label is an operation's number; an answer's label is a
// Status, its first word a number of bytes. The bytes of a read follow: in the words behind it if there are no more
// than `most_in_words`, otherwise as one string, of two parts where they are at both ends of the ring.
#pragma once

#include "pipe.h"

namespace pipes {

/// Words: write: address, bytes, Wait; read: bytes, Wait; open_reader: thread; the others: none.
enum Operation : Word {
    write_label = 0x201,
    read_label,
    open_writer_label,
    close_writer_label,
    open_reader_label,
    close_reader_label,
};

inline constexpr Word most_in_words = 60 * sizeof(Word);

/// A descriptor of a string item or of one of its parts (manual 5.4): `more` follow.
constexpr Word string_part(Word bytes, bool more) { return bytes << 10 | (more ? 1u << 9 : 0); }

} // namespace pipes
