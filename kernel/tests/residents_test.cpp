// SPDX-License-Identifier: BSD-2-Clause
// Which holder loses its tag: the promises of docs/tags-arm.md, and everything against a model that keeps each tag's
// whole history.
#include "domains/residents.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <map>
#include <random>
#include <set>
#include <vector>

namespace {

using domains::Residents;

Word set_of(const std::set<Word>& tags) {
    Word set = 0;
    for (Word tag : tags) set |= 1u << tag;
    return set;
}

// By the rules as they are written down, tag by tag.
class Model {
public:
    explicit Model(Word capacity) : capacity_(capacity) {
        for (Word tag = 1; tag <= capacity; ++tag) free_.insert(tag);
    }

    struct Loss {
        Word when;                          // the interval that began with it
        bool left;
    };

    bool comes_back(const Loss* loss) {
        absent_.clear();
        if (!loss || interval_ - loss->when >= 8) return false;
        if (!loss->left) {
            going_round_ = true;
            return false;
        }
        Word others = interval_ - loss->when;
        for (auto [tag, when] : last_run_) others += when >= loss->when;
        if (2 * others >= last_run_.size()) {
            for (auto [tag, when] : last_run_)
                if (going_round_ && when < loss->when) absent_.insert(tag);
            return false;
        }
        going_round_ = false;
        return true;
    }
    Word take_free(bool server) {
        if (free_.empty()) return 0;
        Word tag = *free_.begin();
        free_.erase(tag);
        dirty_.erase(tag);
        last_run_[tag] = interval_;
        if (server) servers_.insert(tag);
        return tag;
    }
    void ran(Word tag) {
        if (!held(tag)) return;
        last_run_[tag] = interval_;
        dirty_.insert(tag);
    }
    std::set<Word> make_room(const std::set<Word>& pinned, Word left) {
        std::vector<Word> order, idle;
        for (auto [tag, when] : last_run_) {
            if (pinned.count(tag) || tag == left) continue;
            order.push_back(tag);
            if (when / 32 + 1 < interval_ / 32 || absent_.count(tag)) idle.push_back(tag);
        }
        bool left_can = held(left) && !pinned.count(left);
        bool left_goes = left_can && (order.empty() || (going_round_ && idle.empty() && !servers_.count(left)));
        std::set<Word> victims = left_goes ? std::set<Word>{left} : oldest(idle.empty() ? order : idle);
        for (Word tag : victims) give_up(tag);
        ++interval_;
        if (interval_ % 32 == 0) servers_.clear();
        loss_ = {interval_, left_goes};
        return victims;
    }
    Loss loss() const { return loss_; }
    void give_up(Word tag) {
        last_run_.erase(tag);
        servers_.erase(tag);
        retired_.insert(tag);
    }
    void purged() {
        free_.insert(retired_.begin(), retired_.end());
        retired_.clear();
    }
    void cleaned() { dirty_.clear(); }

    bool held(Word tag) const { return last_run_.count(tag); }
    bool dirty(Word tag) const { return dirty_.count(tag); }
    std::set<Word> holders() const {
        std::set<Word> all;
        for (auto [tag, when] : last_run_) all.insert(tag);
        return all;
    }

private:
    std::set<Word> oldest(std::vector<Word> order) const {
        auto age = [&](Word tag) { return std::min(interval_ - last_run_.at(tag), 8u); };
        std::stable_sort(order.begin(), order.end(), [&](Word a, Word b) { return age(a) > age(b); });
        std::size_t unused = std::count_if(order.begin(), order.end(), [&](Word tag) { return age(tag) >= 2; });
        std::size_t most = std::max<std::size_t>(1, std::min<std::size_t>(std::max(capacity_ / 4, 1u), unused));
        return {order.begin(), order.begin() + static_cast<std::ptrdiff_t>(std::min(most, order.size()))};
    }

    Word capacity_, interval_ = 0;
    std::map<Word, Word> last_run_;         // of the tags that are held, by interval
    std::set<Word> free_, retired_, dirty_, servers_, absent_;
    Loss loss_ = {};
    bool going_round_ = false;
};

TEST(Residents, DoWhatTheModelDoes) {
    constexpr unsigned seed = 2003;
    RecordProperty("seed", seed);
    std::mt19937 random(seed);
    for (Word capacity : {1u, 3u, 4u, 15u, 31u}) {
        Residents residents(capacity);
        Model model(capacity);
        std::vector<std::pair<Word, Model::Loss>> losses;
        Word left = 0, asleep = 0;
        for (int step = 0; step < 20000; ++step) {
            auto any = [&](Word n) { return static_cast<Word>(random() % n); };
            if (step % 1000 == 0) asleep = random() & random();
            switch (any(8)) {
            case 0:
            case 1:
            case 2: {       // a space asks for a tag, perhaps again
                bool again = !losses.empty() && any(4);
                std::pair<Word, Model::Loss> loss =
                    again ? losses[losses.size() - 1 - any(std::min<Word>(losses.size(), 12))]
                          : std::pair<Word, Model::Loss>{};
                bool server = residents.comes_back(again ? loss.first : 0);
                ASSERT_EQ(server, model.comes_back(again ? &loss.second : nullptr))
                    << capacity << " tags, step " << step;
                Word tag = residents.take_free(server);
                ASSERT_EQ(tag, model.take_free(server));
                if (tag || model.holders().empty()) break;
                std::set<Word> pinned;
                for (Word t : model.holders())
                    if (pinned.size() + 1 < std::min<std::size_t>(4, model.holders().size()) && any(6) == 0)
                        pinned.insert(t);
                std::set<Word> expected = model.make_room(pinned, left);
                ASSERT_EQ(residents.make_room(set_of(pinned), left), set_of(expected))
                    << capacity << " tags, step " << step;
                ASSERT_FALSE(expected.empty());
                for (Word t : expected) ASSERT_FALSE(pinned.count(t));
                losses.emplace_back(residents.loss(), model.loss());
                break;
            }
            case 3:
            case 4:
            case 5: {       // some run, perhaps also one that has no tag any more
                Word set = random() & random() & ~asleep & ((2u << capacity) - 2);
                residents.ran(set);
                for (Word t = 1; t <= capacity; ++t)
                    if (set >> t & 1) model.ran(left = t);
                break;
            }
            case 6:
                if (any(4) == 0) {
                    residents.purged_translations(), model.purged();
                } else if (any(8) == 0) {
                    residents.cleaned_caches(), model.cleaned();
                }
                break;
            case 7: {
                Word tag = 1 + any(capacity);
                if (model.held(tag) && any(3) == 0) residents.retire(tag), model.give_up(tag);
                break;
            }
            }
            for (Word t = 1; t <= capacity; ++t)
                ASSERT_EQ(residents.dirty(t), model.dirty(t)) << capacity << " tags, step " << step;
        }
    }
}

TEST(Residents, AreFreeOnlyAfterAPurge) {
    Residents residents(15);
    for (Word tag = 1; tag <= 15; ++tag) EXPECT_EQ(residents.take_free(), tag);
    EXPECT_EQ(residents.take_free(), 0u);
    Word victims = residents.make_room(0, 0);
    EXPECT_NE(victims, 0u);
    residents.retire(15);
    EXPECT_EQ(residents.take_free(), 0u);
    residents.purged_translations();
    for (Word n = __builtin_popcount(victims | 1u << 15); n; --n) EXPECT_NE(residents.take_free(), 0u);
    EXPECT_EQ(residents.take_free(), 0u);
}

// Of those that have not run for long, a quarter goes at once: one purge of the TLB pays for all of them.
TEST(Residents, GoInBatchesWhenTheyAreIdle) {
    Residents residents(15);
    for (Word n = 0; n < 15; ++n) residents.take_free();
    EXPECT_EQ(residents.make_room(0, 0), 1u << 1) << "all ran just now: one alone";
    residents.purged_translations();
    residents.take_free();
    for (Word busy = 0; busy < 2; ++busy) {
        residents.ran(0xff00);
        residents.make_room(0, 0);
        residents.purged_translations();
        while (residents.take_free()) {}
    }
    residents.ran(0xff00);
    EXPECT_EQ(__builtin_popcount(residents.make_room(0, 0) & 0x00fe), 3);
}

// Holders that take tags, lose them and come back, and are switched to.
class Holders {
public:
    explicit Holders(Word count) : tag_(count), loss_(count) {}

    void run(Word who, Word pinned = 0) {
        if (!tag_[who]) take(who, pinned);
        residents_.ran(1u << tag_[who]);
        left_ = tag_[who];
    }
    bool has(Word who) const { return tag_[who]; }
    Word misses = 0, purges = 0;

private:
    void take(Word who, Word pinned) {
        ++misses;
        bool server = residents_.comes_back(loss_[who]);
        if ((tag_[who] = residents_.take_free(server))) return;
        ++purges;
        Word victims = residents_.make_room(pinned, left_);
        for (Word other = 0; other < tag_.size(); ++other) {
            if (!(victims >> tag_[other] & 1)) continue;      // tag 0 is nobody's
            tag_[other] = 0;
            loss_[other] = residents_.loss();
        }
        residents_.purged_translations();
        tag_[who] = residents_.take_free(server);
    }

    Residents residents_{15};
    std::vector<Word> tag_, loss_;
    Word left_ = 0;
};

// A server and many clients, called at random. The server, which is left for a client, stays; of the others the most
// recent do: hardly more miss than must.
TEST(Residents, ServeRandomClients) {
    std::mt19937 random(14);
    constexpr Word clients = 40, calls = 10000;
    Holders holders(1 + clients);
    Word without_server = 0;
    for (Word n = 0; n < calls; ++n) {
        without_server += !holders.has(0);
        holders.run(0);
        holders.run(1 + random() % clients);
    }
    // The best that can be: 26 of 40 miss. And several share a purge.
    EXPECT_LT(holders.misses, calls * 70 / 100);
    EXPECT_LT(holders.purges, calls * 30 / 100);
    EXPECT_LT(without_server, calls / 100);
}

// More holders than tags in strict turns: the next is always the one that has not run for longest. All but a few keep
// their tags.
TEST(Residents, KeepMostOfThoseThatTakeTurns) {
    for (Word count : {16u, 17u, 20u, 24u, 32u}) {
        Holders holders(count);
        Word before = 0;
        constexpr Word rounds = 100;
        for (Word round = 0; round < 2 * rounds; ++round) {
            if (round == rounds) before = holders.misses;
            for (Word who = 0; who < count; ++who) holders.run(who);
        }
        // The best that can be: each miss spares one, which is then found 14 times, as nobody is displaced by himself.
        EXPECT_LT(holders.misses - before, rounds * (count - 14) * 115 / 100) << count;
    }
}

// A space that comes once while others take turns does not keep the tag it gets for more than a turn or two.
TEST(Residents, GoWhenTheyTakeNoPart) {
    constexpr Word count = 17;
    Holders holders(count + 1);
    for (Word round = 0; round <= 22; ++round) {
        for (Word who = 0; who < count; ++who) holders.run(who);
        if (round == 20) holders.run(count);
    }
    EXPECT_FALSE(holders.has(count));
}

// Before those that have not run for some intervals.
TEST(Residents, GoFirstIfTheyHaveNotRunForLong) {
    Residents residents(15);
    while (residents.take_free()) {}
    constexpr Word changing = 1u << 14, idle = 1u << 15, all = 0xfffe;
    for (Word interval = 0; interval < 70; ++interval) {
        if (interval == 40) residents.ran(all & ~idle);
        ASSERT_EQ(residents.make_room(all & ~changing, 0), changing);
        residents.purged_translations();
        ASSERT_EQ(residents.take_free(), 14u);
    }
    EXPECT_EQ(residents.make_room(0, 0), idle);
}

// First turns, then two that call each other while others come now and then: those two are taken for part of the round
// no longer than once each.
TEST(Residents, NoticeThatNobodyTakesTurnsAnyMore) {
    constexpr Word count = 17;
    Holders holders(count);
    for (Word round = 0; round < 20; ++round)
        for (Word who = 0; who < count; ++who) holders.run(who);
    Word missed = 0;
    for (Word n = 0; n < 1000; ++n) {
        for (Word pair : {0u, 1u}) {
            missed += !holders.has(pair);
            holders.run(pair);
        }
        if (n % 10 == 0) holders.run(2 + n / 10 % 15);
    }
    EXPECT_LE(missed, 10u);
}

}  // namespace
