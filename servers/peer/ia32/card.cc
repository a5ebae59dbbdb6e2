// SPDX-License-Identifier: BSD-2-Clause
#include "../card.h"

#include <e1000/card.h>
#include <system/system.h>

namespace card {
namespace {

constinit E1000 e1000;

} // namespace

bool begin(NicMemory &memory, rpc::Word handle)
{
    const auto device = cobnut::ask_init<init::FindDevice>();
    return device && e1000.begin(device.value, memory, handle);
}

void address(unsigned char *bytes) { e1000.address(bytes); }
void collect(FrameSink &received) { e1000.collect(received); }
bool load(FrameSource &sent) { return e1000.load(sent); }
void transmit() { e1000.transmit(); }

} // namespace card
