// SPDX-License-Identifier: BSD-2-Clause
#include "pingpong.h"

#include <cobnut/options.h>
#include <cobnut/program.h>

namespace pingpong {
namespace {

bool complain(const char *what, cobnut::Text text)
{
    cobnut::print("pingpong: FAIL %s=%.*s is not possible\n", what, static_cast<int>(text.size), text.data);
    return false;
}

bool parse_pair(cobnut::Text pair, Wish &wish)
{
    if (!pair || pair == "large_large") return true;
    wish.small_client = pair == "small_small" || pair == "small_large";
    wish.small_server = pair == "small_small" || pair == "large_small";
    wish.intra = pair == "intra";
    return wish.small_client || wish.small_server || wish.intra;
}

bool parse_work(cobnut::Text gen, Wish &wish)
{
    if (!gen || gen == "none") return true;
    if (gen == "nops") wish.work = Work::nops;
    else if (gen == "jumps") wish.work = Work::jumps;
    else if (gen == "reads") wish.work = Work::reads;
    else if (gen == "walks") wish.work = Work::walks;
    else if (gen == "turns") wish.work = Work::turns;
    return wish.work != Work::none;
}

} // namespace

bool parse(const char *command_line, Wish &wish)
{
    const cobnut::Options options(command_line);
    wish = Wish{};
    if (!parse_pair(options.find("pair"), wish)) return complain("pair", options.find("pair"));
    if (!parse_work(options.find("gen"), wish)) return complain("gen", options.find("gen"));
    const cobnut::Text sizes = options.find("sizes");
    if (sizes && !cobnut::parse_range(sizes, wish.first, wish.last, wish.step)) return complain("sizes", sizes);
    const struct {
        const char *key;
        unsigned *value;
        unsigned low, high;
    } numbers[] = {
        {"rounds", &wish.rounds, 1, 100000000}, {"warmup", &wish.warmup, 0, 100000000},
        {"slot", &wish.slot_mb, 16, 256},       {"words", &wish.words, 0, 63},
        {"calls", &wish.calls, 0, 1},           {"servers", &wish.servers, 1, 2},
        {"halves", &wish.halves, 0, 1},         {"distance", &wish.distance, 4, 1 << 20},
        {"reads", &wish.reads, 0, 1 << 20},     {"served", &wish.served, 0, 1 << 20},
        {"also", &wish.also, 0, 1 << 20},
    };
    for (const auto &n : numbers) {
        bool bad = false;
        *n.value = options.number(n.key, *n.value, &bad);
        if (bad || *n.value < n.low || *n.value > n.high) return complain(n.key, options.find(n.key));
    }
    if (wish.last > largest_size(wish)) return complain("sizes", sizes);
    if (wish.also && (wish.also < wish.first || wish.also > wish.last)) return complain("also", options.find("also"));
    if (wish.reads > largest_reads(wish)) return complain("reads", options.find("reads"));
    if (wish.served > largest_served(wish)) return complain("served", options.find("served"));
    if (wish.work == Work::turns && (wish.servers > 1 || !wish.calls)) return complain("gen", options.find("gen"));
    if (wish.intra && wish.servers > 1) return complain("servers", options.find("servers"));
    if (wish.slot_mb & (wish.slot_mb - 1)) return complain("slot", options.find("slot"));
    wish.verbose = options.number("verbose", 0) != 0;
    return true;
}

} // namespace pingpong
