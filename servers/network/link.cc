// SPDX-License-Identifier: BSD-2-Clause
#include "link.h"

#include "ethernet.h"
#include "sockets.h"

#include <system/system.h>

#include <l4/schedule.h>
#include <lwip/dhcp.h>
#include <lwip/pbuf.h>
#include <netif/ethernet.h>
#include <string.h>

using cobnut::ask_init;
using rpc::Word;

namespace {

constexpr Word writable = 1;
constexpr Word largest_frame = 1514;
constexpr L4_Word_t search_us = 2000;

alignas(16) constinit char stack[4096];
constinit L4_ThreadId_t main_thread = {};

ip4_addr_t address_of(Word address) { return {.addr = address}; }

/// An empty message to the main thread, which answers when it has done what there is to do.
void call_main()
{
    L4_Set_MsgTag(L4_Niltag);
    L4_Call(main_thread);
}

} // namespace

constinit Link the_link;

bool Link::begin(const Network::Addresses &addresses)
{
    automatic_ = !addresses.address;
    const ip4_addr_t address = address_of(addresses.address), mask = address_of(addresses.mask),
                     gateway = address_of(addresses.gateway);
    netif_add(&interface_, &address, &mask, &gateway, nullptr, added, ethernet_input);
    netif_set_default(&interface_);
    main_thread = L4_Myself(); // the kernel's fast path knows no local ids
    return bool(ask_init<init::MakeThread>(reinterpret_cast<Word>(wait_for_driver),
                                           reinterpret_cast<Word>(stack + sizeof stack - 16)));
}

signed char Link::added(netif *interface) { return begin_ethernet(interface, transmit); }

// ---------------------------------------------------------------------------------------- the thread for the driver

bool Link::find_driver()
{
    const auto found = ask_init<init::Open>(init::Name("nic"));
    if (!found) return false;
    const auto begun = rpc::call<Nic::Begin>(L4_ThreadId_t{.raw = found.value});
    if (!begun) return false;
    card_ = begun.value;
    driver_.raw = found.value;
    const Word away_us = static_cast<Word>(L4_SystemClock().raw - left_at_);
    if (drivers_++ && away_us > longest_outage_us_) longest_outage_us_ = away_us;
    found_ = true;
    call_main();
    return true;
}

void Link::wait_for_driver()
{
    for (;;) {
        if (L4_IsNilThread(the_link.driver_) && !the_link.find_driver()) {
            L4_Sleep(L4_TimePeriod(search_us));
            continue;
        }
        if (rpc::call<Nic::Wait>(the_link.driver_)) {
            call_main();
            continue;
        }
        the_link.driver_ = L4_nilthread;
        the_link.left_at_ = L4_SystemClock().raw;
    }
}

// ------------------------------------------------------------------------------------------------- the main thread

/// Goes on with the rings of a driver that has been found.
bool Link::take_rings()
{
    const auto pages = ask_init<init::Shared>(card_.handle, driver_.raw, writable);
    if (!pages || pages.value != NicMemory::pages) return false;
    if (memory_) ask_init<init::Detach>(reinterpret_cast<Word>(memory_));
    memory_ = nullptr;
    auto at = ask_init<init::Attach>(card_.handle, card_.at, writable);
    if (!at && card_.at) at = ask_init<init::Attach>(card_.handle, Word{0}, writable);
    if (!at) return false;
    memory_ = reinterpret_cast<NicMemory *>(at.value);
    received_.begin(memory_->received);
    sent_.begin(memory_->sent);
    return true;
}

void Link::notified()
{
    if (found_) {
        found_ = false;
        if (!take_rings()) return;
        if (!up_) {
            memcpy(interface_.hwaddr, card_.address, interface_.hwaddr_len);
            netif_set_up(&interface_);
            netif_set_link_up(&interface_);
            if (automatic_) dhcp_start(&interface_);
            up_ = true;
        }
    }
    asks_ = true;
    if (!memory_) return;
    // one ring full, then others have their turn; Nic::Wait returns at once if there is more
    for (Word n = 0; n < FrameRing::slots; n++) {
        Word size;
        const char *const frame = received_.next(size);
        if (!frame) return;
        input(frame, size);
        received_.emptied();
    }
}

void Link::input(const char *frame, Word size)
{
    frames_in_++;
    if (the_sockets.overfilled_by(frame, size)) {
        dropped_++;
        return;
    }
    pbuf *const p = pbuf_alloc(PBUF_RAW, static_cast<u16_t>(size), PBUF_POOL);
    if (!p) {
        dropped_++;
        PBUF_CHECK_FREE_OOSEQ();
        return;
    }
    pbuf_take(p, frame, static_cast<u16_t>(size));
    if (interface_.input(p, &interface_) != ERR_OK) pbuf_free(p);
}

signed char Link::transmit(netif *, pbuf *frame)
{
    Link &self = the_link;
    char *const room = self.memory_ ? self.sent_.next() : nullptr;
    if (frame->tot_len > largest_frame) return ERR_BUF;
    if (!room) {
        self.dropped_++;
        return ERR_BUF;
    }
    pbuf_copy_partial(frame, room, frame->tot_len, 0);
    self.sent_.filled(frame->tot_len);
    self.frames_out_++;
    self.to_flush_ = true;
    return ERR_OK;
}

void Link::flush()
{
    const bool asks = asks_;
    asks_ = false;
    if (!to_flush_ || L4_IsNilThread(driver_)) return;
    to_flush_ = false;
    if (asks) return; // the thread goes on with Nic::Wait, at which the driver looks at the ring as well
    L4_Set_MsgTag(L4_MsgTag_t{.raw = Nic::Kick::number << 16});
    L4_Send_Timeout(driver_, L4_ZeroTime); // a driver at work looks at the ring before it waits
}

Network::State Link::state() const
{
    Network::State state = {};
    state.up = up_ && !L4_IsNilThread(driver_);
    memcpy(state.hardware, card_.address, sizeof state.hardware);
    state.addresses = {netif_ip4_addr(&interface_)->addr, netif_ip4_netmask(&interface_)->addr,
                       netif_ip4_gw(&interface_)->addr};
    state.frames_in = frames_in_;
    state.frames_out = frames_out_;
    state.dropped = dropped_;
    state.drivers = drivers_;
    state.longest_outage_us = longest_outage_us_;
    return state;
}
