// SPDX-License-Identifier: BSD-2-Clause
// What the shell can be asked for.
#pragma once

#include <rpc/rpc.h>

#include <cobnut/options.h>

namespace shell {

/// Writes to the console of the system.
void write(const char *text, size_t size);
/// Prints to it, at most 255 characters.
void print(const char *text, ...) __attribute__((format(printf, 1, 2)));

/// Does what one line says; returns false if it is the last one (`exit`), with the code to end with.
bool execute(const char *line, int &code);

// What the commands themselves share, in commands.cc and in the other files.

/// Takes the first word off a text.
cobnut::Text next_word(cobnut::Text &text);
/// Says what is wrong with a word, as the last thing that a command does.
bool complain(cobnut::Text what, rpc::Error error);

// files.cc: what a file server has (interfaces/files.h)
bool ls(cobnut::Text arguments, int &code);
bool cat(cobnut::Text arguments, int &code);
bool append(cobnut::Text arguments, int &code);
bool mkdir(cobnut::Text arguments, int &code);
bool rm(cobnut::Text arguments, int &code);

// trace.cc: init's trace (interfaces/init.h)
bool trace(cobnut::Text arguments, int &code);

} // namespace shell
