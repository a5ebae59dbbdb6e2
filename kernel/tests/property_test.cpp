// SPDX-License-Identifier: BSD-2-Clause
// The properties on pseudo-random operations; libFuzzer looks for worse ones (fuzz/).
#include <gtest/gtest.h>

#include "choices.hpp"

namespace {

class Properties : public testing::TestWithParam<unsigned> {};

TEST_P(Properties, MappingDatabase) {
    RandomChoices choices(GetParam(), 10000);
    mapping_property(choices);
}
TEST_P(Properties, Scheduler) {
    RandomChoices choices(GetParam(), 100000);
    schedule_property(choices);
}
TEST_P(Properties, Timeouts) {
    RandomChoices choices(GetParam(), 100000);
    timeout_property(choices);
}
INSTANTIATE_TEST_SUITE_P(Seeds, Properties, testing::Values(1995u, 2002u, 20021u));

}  // namespace
