// SPDX-License-Identifier: BSD-2-Clause
// Random sequences of map, grant, unmap and flush between agents, compared with a small model of the mapping tree. What
// the manual leaves open is not tried: remapping one frame over itself from elsewhere, mapping a page over one of its
// own ancestors, granting back to where a page came from.
#include "harness.h"

namespace x2test {
namespace {

constexpr Word spaces = 4, slots = 6;

/// What the model says of one page of one agent. `up` is the node that it was mapped from, null for main's arena.
struct Node {
    bool present = false, writable = false;
    Word frame = 0;
    const Node *up = nullptr;
};

class Tree {
public:
    Node &at(Word space, Word slot) { return nodes_[space][slot]; }

    bool is_below(const Node &node, const Node &ancestor) const
    {
        for (const Node *n = &node; n; n = n->up)
            if (n == &ancestor) return true;
        return false;
    }

    /// Removes everything below a node, and the node itself if asked.
    void revoke(Node &top, bool own, bool write_only)
    {
        bool hit[spaces][slots];
        for (Word s = 0; s < spaces; s++)
            for (Word v = 0; v < slots; v++)
                hit[s][v] = nodes_[s][v].present && is_below(nodes_[s][v], top) && (own || &nodes_[s][v] != &top);
        for (Word s = 0; s < spaces; s++)
            for (Word v = 0; v < slots; v++)
                if (hit[s][v]) take(nodes_[s][v], write_only);
    }

    void revoke_frame(Word frame, bool write_only)
    {
        for (Word s = 0; s < spaces; s++)
            for (Word v = 0; v < slots; v++)
                if (nodes_[s][v].present && nodes_[s][v].frame == frame) take(nodes_[s][v], write_only);
    }

    void move(Node &from, Node &to)
    {
        to = from;
        for (Word s = 0; s < spaces; s++)
            for (Word v = 0; v < slots; v++)
                if (nodes_[s][v].present && nodes_[s][v].up == &from) nodes_[s][v].up = &to;
        from = Node{};
    }

private:
    static void take(Node &n, bool write_only)
    {
        if (write_only) n.writable = false;
        else n = Node{};
    }

    Node nodes_[spaces][slots];
};

constinit Tree tree;
constinit Agent *agents[spaces] = {};

Word address(Word slot) { return free_area + slot * page_size; }

void from_main(Random &random)
{
    const Word s = random.below(spaces), v = random.below(slots), frame = random.below(slots);
    const bool writable = random.below(4) != 0;
    Node &to = tree.at(s, v);
    if (to.present && to.frame == frame && to.up) return;
    give_page(agents[s], frame, address(v), writable ? L4_FullyAccessible : L4_ReadeXecOnly);
    if (to.present && to.frame == frame) {
        to.writable |= writable;
        return;
    }
    if (to.present) tree.revoke(to, true, false);
    to = Node{true, writable, frame, nullptr};
}

void between_agents(Random &random, bool grant)
{
    const Word s1 = random.below(spaces), s2 = random.below(spaces), v1 = random.below(slots), v2 = random.below(slots);
    const bool writable = random.below(4) != 0;
    Node &from = tree.at(s1, v1), &to = tree.at(s2, v2);
    if (s1 == s2) return;
    if (to.present && (from.present && to.frame == from.frame) && (grant || to.up != &from)) return;
    for (Word v = 0; grant && v < slots; v++)
        if (tree.at(s2, v).up == &from || from.up == &tree.at(s2, v)) return;
    const L4_Fpage_t f = page_at(address(v1), writable || grant ? L4_FullyAccessible : L4_ReadeXecOnly);
    if (!pass(agents[s1], agents[s2], f, 0, page_at(address(v2), 0), grant)) fail("the item is not sent");
    if (!from.present) return; // a hole leaves the target alone
    if (to.present && to.up == &from) {
        to.writable |= writable && from.writable;
        return;
    }
    if (to.present) tree.revoke(to, true, false);
    if (grant) tree.move(from, to);
    else to = Node{true, writable && from.writable, from.frame, &from};
}

void unmap(Random &random)
{
    const bool write_only = random.below(3) == 0, flush = random.below(3) == 0;
    const Word rights = write_only ? L4_Writable : L4_FullyAccessible;
    if (random.below(4) == 0) {
        const Word frame = random.below(slots);
        L4_Unmap(page_at(arena_page(frame), rights));
        tree.revoke_frame(frame, write_only);
        return;
    }
    const Word s = random.below(spaces), v = random.below(slots);
    ask(agents[s], do_flush, page_at(address(v), rights).raw, flush ? 0x40 : 0);
    if (tree.at(s, v).present) tree.revoke(tree.at(s, v), flush, write_only);
}

/// Compares one page of one agent with the model; false after fail().
bool check(Word step, Word s, Word v, bool also_write)
{
    Node &node = tree.at(s, v);
    const Outcome &out = ask(agents[s], do_read, address(v));
    const bool faulted = out.faults != 0;
    const Word value = out.value;
    scratch_reset();
    if (faulted == node.present || (node.present && value != node.frame + 1)) {
        fail("seed %u, step %u, agent %u, page %u: %s %x, model: frame %x", wish.seed, step, s, v,
             faulted ? "faults, reads" : "reads", value, node.present ? node.frame + 1 : 0);
        return false;
    }
    if (!node.present || !also_write) return true;
    const bool refused = faults_on_write(agents[s], address(v) + 8);
    if (refused == node.writable) {
        fail("seed %u, step %u, agent %u, page %u: write %s", wish.seed, step, s, v, refused ? "refused" : "allowed");
        return false;
    }
    if (refused) tree.revoke(node, true, false); // the page that resolved the fault took its place
    return true;
}

void run(Kind kind, Word steps)
{
    tree = Tree{};
    for (Word s = 0; s < spaces; s++)
        if (!(agents[s] = agent(kind))) return;
    for (Word i = 0; i < slots; i++) arena_word(i) = i + 1;
    Random random(wish.seed + static_cast<Word>(kind));
    for (Word step = 0; step < steps; step++) {
        switch (random.below(8)) {
        case 0:
        case 1: from_main(random); break;
        case 2:
        case 3:
        case 4: between_agents(random, false); break;
        case 5: between_agents(random, true); break;
        default: unmap(random);
        }
        for (int i = 0; i < 2; i++)
            if (!check(step, random.below(spaces), random.below(slots), random.below(3) == 0)) return;
        if (step % 64 == 63)
            for (Word s = 0; s < spaces; s++)
                for (Word v = 0; v < slots; v++)
                    if (!check(step, s, v, false)) return;
    }
}

void random_large() { run(Kind::large, 600); }
void random_small() { run(Kind::small, 600); }

} // namespace

const Test tree_tests[] = {
    {"tree.random_large", random_large},
    {"tree.random_small", random_small},
    {nullptr, nullptr},
};

} // namespace x2test
