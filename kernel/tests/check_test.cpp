// SPDX-License-Identifier: BSD-2-Clause
#include "core/check.hpp"

#include <gtest/gtest.h>

#include "core/list.hpp"

int evaluated_without_checks();

namespace {

struct Element {
    Link<Element> link;
};
using Elements = List<Element, &Element::link>;

TEST(Check, NamesTheConditionThatDoesNotHold) {
    int two = 2;
    check(two == 2);
    EXPECT_DEATH(check(two == 3), "check failed: two == 3 at .*check_test.cpp:");
}

TEST(Check, IsNotEvaluatedInTheOrdinaryKernel) { EXPECT_EQ(evaluated_without_checks(), 0); }

TEST(Check, CountersBeginShortlyBeforeTheyWrap) {
    Word counter = checks::counter_start;
    EXPECT_GT(counter, 0u);
    EXPECT_EQ(counter += 100, 0u);
}

TEST(Check, AnElementIsInOnePlaceOfAList) {
    Elements list;
    Element element, other;
    EXPECT_DEATH(list.remove(element), "queued");
    list.push_back(element);
    EXPECT_DEATH(list.push_back(element), "queued");
    EXPECT_DEATH(list.push_front(element), "queued");
    EXPECT_DEATH(list.insert_before(element, &element), "queued");
    EXPECT_DEATH(list.insert_before(other, &other), "queued");
    EXPECT_DEATH(list.rotate(element), "queued");
    Elements empty;
    EXPECT_DEATH(empty.remove(element), "head_");
    EXPECT_DEATH(empty.rotate(other), "head_");
}

}  // namespace
