// SPDX-License-Identifier: BSD-2-Clause
// A case for the laboratory (cobnut/lab.h) of something that is done again and again. In C++, on any kernel.
#pragma once

#include <cobnut/lab.h>

namespace cobnut {

/// Does `once` first `warmup` times and then, as the case `number`, `rounds` times, each an iteration. It gets the
/// number of its turn, counted from 0 through both.
template <unsigned warmup, unsigned rounds, typename Once> void measure_rounds(unsigned number, Once once)
{
    for (unsigned i = 0; i < warmup; i++) once(i);
    cobnut_lab_mark(COBNUT_LAB_BEGIN, number);
    for (unsigned i = 0; i < rounds; i++) {
        cobnut_lab_mark(COBNUT_LAB_ITER, 0);
        once(warmup + i);
    }
    cobnut_lab_mark(COBNUT_LAB_ITER, 0);
    cobnut_lab_mark(COBNUT_LAB_END, number);
}

} // namespace cobnut
