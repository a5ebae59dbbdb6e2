// SPDX-License-Identifier: BSD-2-Clause
// What the shell says of the network.
#pragma once

#include <cobnut/options.h>

namespace shell {

/// The command `net`.
bool net(cobnut::Text arguments, int &code);

} // namespace shell
