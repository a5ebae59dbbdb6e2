// SPDX-License-Identifier: BSD-2-Clause
#include "core/kip.hpp"

namespace kip {

bool describe(Word type_and_subtype, Word first, Word last) {
    Word n = descriptor_count();
    if ((n + 1) * sizeof(MemoryDescriptor) > descriptors_room) return false;
    constexpr Word unit = 0x400;
    descriptors()[n] = {(first & -unit) | type_and_subtype, last & -unit};
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
