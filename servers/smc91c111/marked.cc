// SPDX-License-Identifier: BSD-2-Clause
// The driver of an SMC91C111 for the laboratory (cobnut/lab.h): as main.cc has it, but a case that is being measured
// ends when the card has been given a frame to send.
#include "card.h"

#include <nic/driver.h>

#include <cobnut/lab.h>
#include <cobnut/payload.h>

namespace {

class Marked : public Smc91c111 {
public:
    void work(FrameSink &received, FrameSource &sent)
    {
        const Word before = sent.count();
        Smc91c111::work(received, sent);
        if (sent.count() == before) return;
        cobnut_lab_mark(COBNUT_LAB_ITER, 0);
        cobnut_lab_mark(COBNUT_LAB_END, 0);
    }
};

constinit Marked card;

} // namespace

int cobnut_main(const char *) { return cobnut::drive(card, Smc91c111::rings_at); }
