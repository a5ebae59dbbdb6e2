// SPDX-License-Identifier: BSD-2-Clause
// libFuzzer's way to mapping_property.
#include "choices.hpp"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
    GivenChoices choices(data, size);
    mapping_property(choices);
    return 0;
}
