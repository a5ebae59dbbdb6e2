// SPDX-License-Identifier: BSD-2-Clause
// The mapping database does what a table of (space, page) with parents does, in which every rule is carried out by
// definition.
#include <map>
#include <memory>
#include <vector>

#include "choices.hpp"
#include "core/mapping.hpp"
#include "core/space.hpp"
#include "fake_port.hpp"

namespace {

constexpr int spaces = 5;
constexpr VAddr pages = 16;
constexpr bool several_sizes = paging::sizes[0] != page_log2;

struct Model {
    using Key = std::pair<int, VAddr>;
    struct Node {
        PAddr frame;
        bool writable;
        Key parent;             // itself: a root
        Word status;            // what it and all ever derived from it have seen since it was last asked
        Word maybe = 0;         // what was seen while it was asked: that may have been reported or not
        int noted[2] = {}, last[2] = {};        // by bit: when `status` got it, and when it was seen last
        int writable_since = 0;
        int born = 0;
    };
    std::map<Key, Node> nodes;
    int now = 0;

    std::vector<Key> children(Key k) const {
        std::vector<Key> found;
        for (auto& [key, n] : nodes)
            if (n.parent == k && key != k) found.push_back(key);
        return found;
    }
    void remove_children(Key k) {
        for (Key c : children(k)) remove(c);
    }
    void remove(Key k) {
        remove_children(k);
        nodes.erase(k);
    }
    // From all that had it before `start`.
    void take_write_below(Key k, int start) {
        for (Key c : children(k)) {
            if (nodes[c].writable_since < start) nodes[c].writable = false;
            take_write_below(c, start);
        }
    }
    void touch(Key k, Word status) {
        Node& n = nodes[k];
        for (Word i = 0; i < 2; ++i) {
            if (!(status & 1u << i)) continue;
            if (!(n.status & 1u << i)) n.noted[i] = now;
            n.last[i] = now;
        }
        n.status |= status;
        if (n.parent != k) touch(n.parent, status);
    }
    void map(Key from, Key to, bool writable, bool grant) {
        if (from.first == 0 && !nodes.count(from))
            nodes[from] = {.frame = from.second,
                .writable = true,
                .parent = from,
                .status = 0,
                .writable_since = now,
                .born = now};
        if (!nodes.count(from)) return;
        Node source = nodes[from];
        if (nodes.count(to)) {
            Node& old = nodes[to];
            if (!grant && old.frame == source.frame && old.parent == from && to != from) {
                if (writable && source.writable && !old.writable) old.writable = true, old.writable_since = now;
                return;
            }
            remove(to);
            if (!nodes.count(from)) return;
        }
        bool may_write = source.writable && writable;
        if (!grant) {
            nodes[to] = {.frame = source.frame,
                .writable = may_write,
                .parent = from,
                .status = 0,
                .writable_since = now,
                .born = now};
            return;
        }
        bool root = source.parent == from;
        nodes.erase(from);
        nodes[to] = source;
        nodes[to].writable = may_write;
        if (root) nodes[to].parent = to;
        for (auto& [key, n] : nodes)
            if (n.parent == from) n.parent = to;
    }
    // Begun at `start` and done now. What has to be reported, what may be, and what is still to be if it is not.
    struct Status {
        Word wanted = 0, possible = 0, or_later = 0;
    };
    Status unmap(Key k, bool everything, bool write, bool flush, int start) {
        if (!nodes.count(k)) return {};
        if (everything) remove_children(k);
        if (write) take_write_below(k, start);
        Node& n = nodes[k];
        if (write && flush && n.writable_since < start) n.writable = false;
        Status found{.possible = n.status | n.maybe};
        Word later = 0;
        for (Word i = 0; i < 2; ++i) {
            if (n.status & 1u << i && n.noted[i] < start) found.wanted |= 1u << i;
            if (found.possible & 1u << i && n.last[i] >= start) later |= 1u << i;
        }
        found.or_later = n.status & later;
        n.status = 0, n.maybe = later;
        if (everything && flush) remove(k);
        return found;
    }
};

// An Unmap that may be between two of its parts.
struct Unmapping {
    int space;
    Fpage fpage;
    Word rights;
    bool flush;
    VAddr next;
    Word status = 0;
    Model::Status expected = {};
    mappings::Sweep sweep = {};
    // The pages in hand, each with what it was when this began with it.
    std::map<VAddr, int> born = {};
    int start = 0;

    bool everything() const { return rights == rights_all; }
    bool write() const { return rights & right_write; }
};

Word as_rights(Word status) {
    return (status & paging::accessed ? Word{right_read | right_execute} : 0) |
           (status & paging::dirty ? Word{right_write} : 0);
}

struct Property {
    Choices& choices;
    int operation = 0;
    Word parts = 0;
    using Key = Model::Key;
    Model model;
    std::vector<std::unique_ptr<Space>> space;
    std::vector<std::unique_ptr<Unmapping>> open;

    explicit Property(Choices& c) : choices(c) {
        for (int i = 0; i < spaces; ++i) space.push_back(std::make_unique<Space>());
        space[0]->idempotent = true;
    }
    ~Property() {
        for (auto& u : open) mappings::abandon(u->sweep);
        for (int i = spaces; i-- > 0;)
            unmap_whole(*space[static_cast<unsigned>(i)], Fpage::complete().with_rights(rights_all), true);
        expect(mappings::in_use() == 0, "mappings are left over");
    }
    void expect(bool holds, const char* what) { require(holds, what, operation); }
    Space& at(int s) { return *space[static_cast<unsigned>(s)]; }
    int any_space() { return static_cast<int>(choices.below(spaces)); }
    // Aligned, of 1 to 8 pages.
    Fpage any_fpage(unsigned* log2_pages) {
        *log2_pages = choices.one_in(3) ? choices.below(4) : 0;
        VAddr first = choices.below(pages) & ~((1u << *log2_pages) - 1);
        return Fpage::memory(first << 12, 12 + *log2_pages);
    }

    // Few mappings at a time: one to three. With several sizes a small page counts as four, and a large one becomes
    // several with a whole budget only.
    Word little(Word count) {
        if (!several_sizes || count == ~Word{0}) return count;
        return ++parts % 3 ? 4 * count : mappings::between_points;
    }

    void transfer() {
        int a = any_space(), b = 1 + static_cast<int>(choices.below(spaces - 1));
        unsigned source, target;
        Fpage send = any_fpage(&source), window = any_fpage(&target);
        Word rights = choices.below(8);
        VAddr base = choices.below(pages) << 12;
        bool grant = a != 0 && choices.one_in(4);
        Word left, each = 1 + choices.below(3), count = 0;
        mappings::Progress progress{};
        mappings::Mapped mapped;
        while ((mapped = mappings::transfer(at(a), send.with_rights(rights), at(b), window, base, grant, progress,
                    left = little(each))) == mappings::Mapped::part)
            for (auto& s : space)
                expect(mappings::consistent(*s, count), "the lists are not consistent between two parts");
        expect(mapped == mappings::Mapped::all, "transfer() ran out of memory");
        if (a == b || !rights) return;
        // Manual 5.2: the smaller of the two fpages, at the place in the larger one that the send base names.
        VAddr from = send.base(), to = window.base(), size = page_size << (source < target ? source : target);
        VAddr larger = page_size << (source < target ? target : source);
        (source < target ? to : from) += base % larger / size * size;
        for (VAddr offset = 0; offset < size; offset += page_size)
            model.map({a, from + offset}, {b, to + offset}, rights & right_write, grant);
    }

    // A page in hand has lost some of what was derived from it, last ones first.
    void follow_removal(Key page) {
        for (Key c : model.children(page)) {
            follow_removal(c);
            bool present = paging::get(at(c.first), c.second).present;
            expect(present || model.children(c).empty(), "a page is gone before what was derived from it");
            if (!present) model.nodes.erase(c);
        }
    }

    // A page in hand, and some below it, cannot be written to any more.
    void follow_write(Key page, bool below) {
        if (model.nodes.count(page) && !paging::get(at(page.first), page.second).writable)
            model.nodes[page].writable = false;
        if (!below) return;
        for (Key c : model.children(page)) follow_write(c, true);
    }

    // A part of an Unmap; true if that was the last.
    bool go_on(Unmapping& u, Word budget) {
        budget = little(budget);
        VAddr page = u.next;
        unsigned log2 = paging::log2_of(at(u.space), page);
        bool done =
            mappings::unmap(at(u.space), u.fpage.with_rights(u.rights), u.flush, u.next, u.status, u.sweep, budget);
        // What was mapped meanwhile as one page is unmapped as one: also what lies before the place where this went on.
        if ((done || u.next > page) && log2 <= u.fpage.log2()) page &= ~((1u << log2) - 1);
        for (; page <= u.fpage.last() && (done || page < u.next); page += page_size) {
            Key k{u.space, page};
            bool begun =
                u.born.count(page) && model.nodes.count(k) && (several_sizes || model.nodes[k].born == u.born[page]);
            if (u.write()) follow_write(k, !u.everything());
            auto status = model.unmap(k, u.everything(), u.write(), u.flush, begun ? u.start : operation);
            u.expected.wanted |= status.wanted, u.expected.possible |= status.possible;
            u.expected.or_later |= status.or_later;
        }
        if (done) return true;
        VAddr bytes = 1u << paging::log2_of(at(u.space), u.next), in_hand = u.next & ~(bytes - 1);
        auto before = u.born;
        u.born.clear();
        bool same = true;
        for (VAddr part = in_hand; part < in_hand + bytes; part += page_size) {
            Key k{u.space, part};
            if (u.everything()) follow_removal(k);
            if (u.write()) follow_write(k, !u.everything());
            if (!model.nodes.count(k)) continue;
            u.born[part] = model.nodes[k].born;
            same = same && before.count(part) && before[part] == u.born[part];
        }
        if (!same) u.start = operation;
        return false;
    }

    void check_status(const Unmapping& u) {
        Word found = mappings::as_rights(u.status), wanted = as_rights(u.expected.wanted),
             possible = as_rights(u.expected.possible);
        // What one part of a large page has seen, all have.
        if (several_sizes) found &= possible;
        expect((found & wanted) == wanted && (found & possible) == found, "unmap() returns another status");
        // What was seen meanwhile and not reported is still to be; nobody knows where another Unmap may have
        // reported it.
        if (several_sizes || u.fpage.last() - u.fpage.base() != page_mask ||
            !model.nodes.count({u.space, u.fpage.base()}))
            return;
        auto& n = model.nodes[{u.space, u.fpage.base()}];
        n.status |= u.expected.or_later & ~u.status;
        for (Word i = 0; i < 2; ++i) n.noted[i] = n.last[i];
    }

    // The thread that unmaps can be deleted between two parts. The invariants hold then, down to the status, which
    // later operations look at. And others unmap, map and use pages meanwhile.
    void unmap() {
        constexpr unsigned at_once = 3;
        if (open.size() == at_once || (!open.empty() && choices.one_in(2))) {
            auto u = open.begin() + choices.below(static_cast<unsigned>(open.size()));
            bool done = go_on(**u, 1 + choices.below(3));
            if (done) check_status(**u);
            if (!done && !choices.one_in(8)) return;
            mappings::abandon((*u)->sweep);
            open.erase(u);
            return;
        }
        unsigned log2_pages;
        int s = any_space();
        Fpage fpage = any_fpage(&log2_pages);
        Word rights = choices.below(8);
        auto u = std::make_unique<Unmapping>(Unmapping{
            .space = s, .fpage = fpage, .rights = rights, .flush = choices.one_in(2), .next = fpage.base()});
        bool done = go_on(*u, choices.one_in(4) ? ~Word{0} : 1 + choices.below(3));
        while (!done && choices.one_in(2)) done = go_on(*u, 1 + choices.below(3));
        if (done) check_status(*u);
        else open.push_back(std::move(u));
    }

    void touch() {
        if (model.nodes.empty()) return;
        auto node = std::next(model.nodes.begin(), choices.below(static_cast<unsigned>(model.nodes.size())));
        auto [s, page] = node->first;
        Word status = choices.one_in(2) ? paging::accessed : paging::accessed | paging::dirty;
        at(s).arch.pages.at(page).status |= status;
        model.touch({s, page}, status);
    }

    void compare() {
        Word count = 0;
        for (int s = 0; s < spaces; ++s) {
            for (VAddr page = 0; page < pages * page_size; page += page_size) {
                auto i = model.nodes.find({s, page});
                paging::Page found = paging::get(at(s), page);
                expect(found.present == (i != model.nodes.end()), "a page is there, or is not");
                if (!found.present) continue;
                expect(found.frame == i->second.frame, "a page has another frame");
                expect(found.writable == i->second.writable, "a page has other rights");
            }
            expect(mappings::consistent(at(s), count), "the lists are not consistent");
        }
        expect(count == mappings::in_use() && (several_sizes || count == model.nodes.size()), "mappings were lost");
    }

    void run() {
        for (; choices.more(); ++operation) {
            model.now = operation;
            switch (choices.below(8)) {
            case 0:
            case 1: unmap(); break;
            case 2:
            case 3: touch(); break;
            default: transfer();
            }
            compare();
        }
    }
};

}  // namespace

void mapping_property(Choices& choices) { Property{choices}.run(); }
