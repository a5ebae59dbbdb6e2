// SPDX-License-Identifier: BSD-2-Clause
#include "stress/model.h"

#include <gtest/gtest.h>

namespace stress {
namespace {

constexpr Node a = node_of(0, 0), b = node_of(1, 0), c = node_of(2, 3);

TEST(StressModel, WhatIsMappedShowsThePageWithRightsThatOnlyShrink)
{
    Model m;
    EXPECT_FALSE(m.permits(a, false));
    m.map(root_of(5), a, read, false);
    EXPECT_EQ(m.page(a), 5u);
    EXPECT_TRUE(m.permits(a, false));
    EXPECT_FALSE(m.permits(a, true));
    m.map(a, b, read | write, false);
    EXPECT_FALSE(m.permits(b, true));
}

TEST(StressModel, UnmapTakesWhatWasDerived)
{
    Model m;
    m.map(root_of(1), a, all, false);
    m.map(a, b, all, false);
    m.map(b, c, all, false);
    m.unmap(a, all, false);
    EXPECT_TRUE(m.present(a));
    EXPECT_FALSE(m.present(b) || m.present(c));
    m.unmap(a, all, true);
    EXPECT_FALSE(m.present(a));
}

TEST(StressModel, WritingIsTakenFromThoseBelowAndWithFlushHere)
{
    Model m;
    m.map(root_of(1), a, all, false);
    m.map(a, b, all, false);
    m.unmap(a, write, false);
    EXPECT_TRUE(m.permits(a, true) && m.permits(b, false) && !m.permits(b, true));
    m.unmap(a, write, true);
    EXPECT_FALSE(m.permits(a, true));
}

TEST(StressModel, AGrantTakesTheSourcesPlace)
{
    Model m;
    m.map(root_of(1), a, all, false);
    m.map(a, b, all, false);
    m.map(a, c, all, true);
    EXPECT_TRUE(!m.present(a) && m.present(b) && m.page(c) == 1);
    m.unmap(c, all, false);
    EXPECT_FALSE(m.present(b));
}

TEST(StressModel, AnAccessMayBeNotedForWhoHasThePageAtTheSamePlace)
{
    constexpr Node beside = node_of(2, 0);
    Model m;
    m.shares_status = true;
    m.map(root_of(1), a, all, false);
    m.map(root_of(1), b, all, false);
    m.map(root_of(2), beside, all, false);
    m.accessed(a, true);
    const Status other = m.unmap(b, 0, false);
    EXPECT_TRUE(other == 0u && other == Word{all});
    EXPECT_EQ(m.unmap(a, 0, false), Word{all});
    EXPECT_FALSE(m.unmap(beside, 0, false) == Word{all});
}

TEST(StressModel, MappingAgainAddsRightsAndNothingElse)
{
    Model m;
    m.map(root_of(1), a, read, false);
    EXPECT_EQ(m.denier(a), root_of(1));
    m.map(a, b, read, false);
    m.map(root_of(1), a, read | write, false);
    EXPECT_TRUE(m.permits(a, true) && m.present(b));
    m.map(root_of(2), a, read, false);
    EXPECT_TRUE(m.page(a) == 2 && !m.present(b));
}

TEST(StressModel, AMappingOverItsOwnSourceEndsBoth)
{
    Model m;
    m.map(root_of(1), a, all, false);
    m.map(a, b, all, false);
    m.map(b, a, all, false);
    EXPECT_FALSE(m.present(a) || m.present(b));
}

TEST(StressModel, StatusGoesUpAndIsResetAlone)
{
    Model m;
    m.map(root_of(1), a, all, false);
    m.map(a, b, all, false);
    m.accessed(b, true);
    EXPECT_EQ(m.unmap(a, 0, false), Word{all});
    EXPECT_EQ(m.unmap(a, 0, false), 0u);
    EXPECT_EQ(m.unmap(root_of(1), 0, false), Word{all});
    EXPECT_EQ(m.unmap(b, 0, false), Word{all});
    m.accessed(b, false);
    EXPECT_EQ(m.unmap(root_of(1), 0, false), Word{read | execute});
}

TEST(StressModel, ADeletedSpaceTakesWhatItMapped)
{
    Model m;
    m.map(root_of(1), a, all, false);
    m.map(a, b, all, false);
    m.forget_space(0);
    EXPECT_FALSE(m.present(a) || m.present(b));
    EXPECT_TRUE(m.present(root_of(1)));
}

TEST(StressModel, MapSaysWhetherAPageHasCome)
{
    Model m;
    EXPECT_FALSE(m.map(a, b, all, false)) << "nothing is there";
    EXPECT_FALSE(m.map(root_of(1), a, 0, false)) << "no rights";
    EXPECT_TRUE(m.map(root_of(1), a, read, false));
    EXPECT_FALSE(m.map(root_of(1), a, read | write, false)) << "rights are added";
    EXPECT_TRUE(m.map(root_of(2), a, read, false)) << "another page";
    EXPECT_TRUE(m.map(a, b, all, true));
}

} // namespace
} // namespace stress
