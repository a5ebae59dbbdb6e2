// SPDX-License-Identifier: BSD-2-Clause
// What the description of a system says of one program. The command puts it on the command line of the program's
// module, checked (lab/cobnut/systems.py has what each word means), and init reads it from there:
//
//   FILE name=N priority=N memory=PAGES stack=PAGES provides=A+B uses=A+B files=A+B ports=FIRST-LAST+.. lines=N+N
//        registers=FIRST-LAST+.. framebuffer=PAGES device=IDENTITY dma=0|1 slot=MB[@MB]|large restart=0|1 start=0|1
//        ends=0|1 [-- ARGUMENTS]
//   FILE file=NAME
#pragma once

#include <interfaces/init.h>

#include <cobnut/boot.h>
#include <cobnut/options.h>

namespace init {

/// Services by number, in the order in which they were first named.
class Services {
public:
    static constexpr Word most = 32;
    /// The number of a service, made if it is new; `most` if there are too many.
    Word number_of(cobnut::Text name);
    /// Of one that is known; `most` if it is not.
    Word find(const rpc::Name &name) const;

private:
    rpc::Name names_[most] = {};
    Word count_ = 0;
};

struct Range {
    Word first, last;
    bool contains(Word n) const { return n >= first && n <= last; }
};

struct Description {
    static constexpr size_t most_ranges = 8;

    rpc::Name name;
    Word priority = 100, memory = 256, stack = 4; ///< pages
    Word provides = 0, uses = 0; ///< a bit a service
    cobnut::Text files; ///< names with + between them
    Range ports[most_ranges] = {};
    size_t port_ranges = 0;
    Range registers[most_ranges] = {}; ///< of devices that no bus describes
    size_t register_ranges = 0;
    Word framebuffer = 0; ///< pages of memory in one piece that the device reads by itself: a power of two, or none
    Word lines = 0; ///< a bit an interrupt
    Word device = 0; ///< the identity of a device on the bus; 0: none
    bool dma = false; ///< the device may use memory by itself
    bool large = false; ///< never in a slot
    Word slot_mb = 0, slot_offset_mb = ~0u; ///< a slot of that size, and where; ~0: wherever one is free
    bool restart = false, start = true, ends = false;
    const char *arguments = "";

    /// False if a word of the command line is not what it should be.
    bool read(const char *command_line, Services &services);
    bool may_use_file(const rpc::Name &file) const;
    bool may_use_port(Word port) const;
};

/// The name of a file of the boot image; empty if the module is a program.
rpc::Name file_name(const char *command_line);

} // namespace init
