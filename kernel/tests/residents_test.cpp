// SPDX-License-Identifier: BSD-2-Clause
// Who gives a tag up: what is promised (docs/tags-arm.md), and everything against a model that keeps each tag's whole past.
#include "tags/residents.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <map>
#include <random>
#include <set>
#include <vector>

namespace {

using tags::Residents;

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

    Word take_free() {
        if (free_.empty()) return 0;
        Word tag = *free_.begin();
        free_.erase(tag);
        dirty_.erase(tag);
        last_run_[tag] = interval_;
        return tag;
    }
    void ran(Word tag) {
        if (!held(tag)) return;
        last_run_[tag] = interval_;
        dirty_.insert(tag);
    }
    std::set<Word> make_room(const std::set<Word>& pinned) {
        std::vector<Word> order;
        for (auto [tag, when] : last_run_)
            if (!pinned.count(tag)) order.push_back(tag);
        auto age = [&](Word tag) { return std::min(interval_ - last_run_[tag], 8u); };
        std::stable_sort(order.begin(), order.end(), [&](Word a, Word b) { return age(a) > age(b); });
        std::size_t idle = std::count_if(order.begin(), order.end(), [&](Word tag) { return age(tag) >= 2; });
        std::size_t most = std::max<std::size_t>(1, std::min<std::size_t>(std::max(capacity_ / 4, 1u), idle));
        std::set<Word> victims(order.begin(), order.begin() + static_cast<std::ptrdiff_t>(std::min(most, order.size())));
        for (Word tag : victims) give_up(tag);
        ++interval_;
        return victims;
    }
    void give_up(Word tag) {
        last_run_.erase(tag);
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
    Word capacity_, interval_ = 0;
    std::map<Word, Word> last_run_;         // of the tags that are held, by interval
    std::set<Word> free_, retired_, dirty_;
};

TEST(Residents, DoWhatTheModelDoes) {
    constexpr unsigned seed = 2003;
    RecordProperty("seed", seed);
    std::mt19937 random(seed);
    for (Word capacity : {1u, 3u, 4u, 15u, 31u}) {
        Residents residents(capacity);
        Model model(capacity);
        for (int step = 0; step < 6000; ++step) {
            auto any = [&](Word n) { return static_cast<Word>(random() % n); };
            switch (any(8)) {
            case 0:
            case 1:
            case 2: {       // somebody wants a tag
                Word tag = residents.take_free();
                ASSERT_EQ(tag, model.take_free());
                if (tag || model.holders().empty()) break;
                std::set<Word> pinned;
                for (Word t : model.holders())
                    if (pinned.size() + 1 < std::min<std::size_t>(4, model.holders().size()) && any(6) == 0) pinned.insert(t);
                std::set<Word> expected = model.make_room(pinned);
                ASSERT_EQ(residents.make_room(set_of(pinned)), set_of(expected)) << capacity << " tags, step " << step;
                ASSERT_FALSE(expected.empty());
                for (Word t : expected) ASSERT_FALSE(pinned.count(t));
                break;
            }
            case 3:
            case 4:
            case 5: {       // some run, perhaps also one that has no tag any more
                Word set = random() & random() & ((2u << capacity) - 2);
                residents.ran(set);
                for (Word t = 1; t <= capacity; ++t)
                    if (set >> t & 1) model.ran(t);
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
                if (model.held(tag) && any(8) == 0) residents.retire(tag), model.give_up(tag);
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
    Word victims = residents.make_room(0);
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
    EXPECT_EQ(residents.make_room(0), 1u << 1) << "all ran just now: one alone";
    residents.purged_translations();
    residents.take_free();
    for (Word busy = 0; busy < 2; ++busy) {
        residents.ran(0xff00);
        residents.make_room(0);
        residents.purged_translations();
        while (residents.take_free()) {}
    }
    residents.ran(0xff00);
    EXPECT_EQ(__builtin_popcount(residents.make_room(0) & 0x00fe), 3);
}

// A server and many clients, called at random. The server, which is left for a client, is pinned; of the others, those of
// late stay: hardly more miss than must.
TEST(Residents, ServeRandomClients) {
    std::mt19937 random(14);
    Residents residents(15);
    constexpr Word clients = 40;
    Word server = residents.take_free(), tag_of[clients] = {}, misses = 0;
    constexpr Word calls = 10000;
    for (Word n = 0; n < calls; ++n) {
        Word client = random() % clients;
        residents.ran(1u << server);
        if (!tag_of[client]) {
            ++misses;
            tag_of[client] = residents.take_free();
            if (!tag_of[client]) {
                Word victims = residents.make_room(1u << server);
                ASSERT_FALSE(victims >> server & 1);
                for (Word& tag : tag_of)
                    if (victims >> tag & 1) tag = 0;
                residents.purged_translations();
                tag_of[client] = residents.take_free();
            }
        }
        residents.ran(1u << tag_of[client]);
    }
    // The best that can be: 26 of 40 miss.
    EXPECT_LT(misses, calls * 72 / 100);
}

}  // namespace
