// SPDX-License-Identifier: BSD-2-Clause
#include "machine.h"

#include "../network/ethernet.h"

#include <system/memory.h>

#include <l4/schedule.h>
#include <lwip/init.h>
#include <lwip/timeouts.h>
#include <netif/ethernet.h>

namespace {

using rpc::Word;

constexpr Word longest_ms = 250; // as servers/network/alarm.cc

} // namespace

constinit Machine the_machine;

bool Machine::begin()
{
    const auto device = cobnut::ask_init<init::FindDevice>();
    const auto made = cobnut::make_memory(NicMemory::pages);
    if (!device || !made) return false;
    auto &memory = *reinterpret_cast<NicMemory *>(made.value.address);
    received_.begin(memory.received);
    in_.begin(memory.received);
    out_.begin(memory.sent);
    sent_.begin(memory.sent);
    if (!card_.begin(device.value, memory, made.value.handle)) return false;
    lwip_init();
    ip4_addr_t address, mask, gateway = {};
    IP4_ADDR(&address, 10, 0, 9, 2);
    IP4_ADDR(&mask, 255, 255, 255, 0);
    netif_add(&interface_, &address, &mask, &gateway, nullptr, added, ethernet_input);
    card_.address(interface_.hwaddr);
    netif_set_default(&interface_);
    netif_set_up(&interface_);
    netif_set_link_up(&interface_);
    card_.work(received_, sent_);
    return bool(cobnut::ask_init<init::TakeInterrupt>(device.value.line));
}

signed char Machine::added(netif *interface) { return begin_ethernet(interface, transmit); }

signed char Machine::transmit(netif *, pbuf *frame)
{
    Machine &self = the_machine;
    char *const room = self.out_.next();
    if (!room) return ERR_BUF;
    pbuf_copy_partial(frame, room, frame->tot_len, 0);
    self.out_.filled(frame->tot_len);
    if (self.card_.load(self.sent_)) self.card_.transmit();
    return ERR_OK;
}

void Machine::take_frames()
{
    card_.acknowledge();
    card_.work(received_, sent_);
    Word size;
    while (const char *const frame = in_.next(size)) {
        if (pbuf *const p = pbuf_alloc(PBUF_RAW, static_cast<u16_t>(size), PBUF_POOL)) {
            pbuf_take(p, frame, static_cast<u16_t>(size));
            if (interface_.input(p, &interface_) != ERR_OK) pbuf_free(p);
        }
        in_.emptied();
    }
    card_.collect(received_);
}

void Machine::wait()
{
    const L4_Time_t patience = L4_TimePeriod(L4_Word64_t{longest_ms} * 1000);
    L4_ThreadId_t from;
    L4_Set_MsgTag(L4_Niltag);
    const L4_MsgTag_t tag =
        L4_IsNilThread(line_) ? L4_Wait_Timeout(patience, &from) : L4_ReplyWait_Timeout(line_, patience, &from);
    line_ = L4_nilthread;
    if (L4_IpcFailed(tag)) {
        sys_check_timeouts();
    } else if (from != L4_Pager()) { // init's messages are about clients
        line_ = from;
        take_frames();
    }
}
