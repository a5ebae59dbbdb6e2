// SPDX-License-Identifier: BSD-2-Clause
// The driver of an 82540EM and lwIP in one space with their only user, as a library OS has them: what isolation costs
// is what a system of servers takes more (`net/http`). There is one thread; the kernel's part is interrupts alone.
#pragma once

#include <e1000/card.h>

#include <lwip/netif.h>

class Machine {
public:
    using Word = rpc::Word;

    /// Starts card and stack, which has the address 10.0.9.2; false if the card does not answer.
    bool begin();
    /// Waits for the card's interrupt, or as long as lwIP's timers let it, and does what there is to do.
    void wait();

private:
    static signed char added(netif *interface);
    static signed char transmit(netif *interface, pbuf *frame);
    void take_frames();

    E1000 card_;
    FrameSink received_, out_; ///< filled by the card, and by lwIP
    FrameSource in_, sent_; ///< emptied by lwIP, and by the card
    netif interface_ = {};
    L4_ThreadId_t line_ = {}; ///< to be opened again; nilthread: it is open
};

extern Machine the_machine;
