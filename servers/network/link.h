// SPDX-License-Identifier: BSD-2-Clause
// The card as lwIP's network interface. A thread waits for the card's driver, so that nothing else does; a driver that
// has died is looked for until it is there again; what was in its rings is lost, as frames are.
#pragma once

#include <interfaces/nic.h>
#include <interfaces/network.h>

#include <lwip/netif.h>

class Link {
public:
    /// Makes the interface and the thread; false if there is none left. Without an address lwIP's DHCP client asks
    /// for one.
    bool begin(const Network::Addresses &addresses);
    /// The thread has called: the card is there, or has frames.
    void notified();
    /// Sees to it that the driver hears of frames that have been queued since; before the answer to `notified`.
    void flush();

    netif &interface() { return interface_; }
    Network::State state() const;

private:
    [[noreturn]] static void wait_for_driver();
    static signed char added(netif *interface);
    static signed char transmit(netif *interface, pbuf *frame);
    bool find_driver();
    bool take_rings();
    void input(const char *frame, rpc::Word size);

    netif interface_ = {};
    NicMemory *memory_ = nullptr; ///< nullptr: there has been no driver yet
    FrameSource received_;
    FrameSink sent_;
    L4_ThreadId_t driver_ = {}; ///< nilthread: there is none
    Nic::Card card_ = {};
    bool up_ = false, found_ = false, automatic_ = false, to_flush_ = false;
    bool asks_ = false; ///< the thread is to be answered, and asks the driver for frames then
    rpc::Word frames_in_ = 0, frames_out_ = 0, dropped_ = 0, drivers_ = 0, longest_outage_us_ = 0;
    L4_Word64_t left_at_ = 0; ///< when the last driver has ended
};

extern Link the_link;
