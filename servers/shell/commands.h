// SPDX-License-Identifier: BSD-2-Clause
// What the shell can be asked for.
#pragma once

namespace shell {

/// Prints to the console of the system.
void print(const char *text, ...) __attribute__((format(printf, 1, 2)));

/// Does what one line says; returns false if it is the last one (`exit`), with the code to end with.
bool execute(const char *line, int &code);

} // namespace shell
