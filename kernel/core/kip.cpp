// SPDX-License-Identifier: BSD-2-Clause
#include "core/kip.hpp"

namespace kip {

bool add(MemoryDescriptor d) {
    Word n = descriptor_count();
    if ((n + 1) * sizeof(MemoryDescriptor) > descriptors_room) return false;
    descriptors()[n] = d;
    kip.memory_info += 1;
    return true;
}

Word memory_type(Word address) {
    for (Word i = descriptor_count(); i-- > 0;) {
        MemoryDescriptor d = descriptors()[i];
        if (!d.is_virtual() && d.first() <= address && address <= d.last()) return d.type();
    }
    return 0;
}

}  // namespace kip
