// SPDX-License-Identifier: BSD-2-Clause
#pragma once

namespace fake {
// How many more pages of kernel memory there are; -1: no end.
extern int pages_left;
}
