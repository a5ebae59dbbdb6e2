// SPDX-License-Identifier: BSD-2-Clause
// What the counter's clients say to it. The request is the label; the answer has the same label, or COUNTER_UNKNOWN.
#ifndef COUNTER_H
#define COUNTER_H

#define COUNTER_NAME "counter"

enum {
    COUNTER_ADD = 1,  // MR1: how much. The answer's MR1: the value afterwards
    COUNTER_READ = 2, // the answer's MR1: the value
    COUNTER_UNKNOWN = 3,
};

#endif
