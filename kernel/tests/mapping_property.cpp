// SPDX-License-Identifier: BSD-2-Clause
// The mapping database does what a table of (space, page) with parents does, in which every rule is carried out by definition.
#include <map>
#include <memory>
#include <vector>

#include "choices.hpp"
#include "core/mapping.hpp"
#include "core/space.hpp"

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
    };
    std::map<Key, Node> nodes;

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
    void take_write_below(Key k) {
        for (Key c : children(k)) nodes[c].writable = false, take_write_below(c);
    }
    void touch(Key k, Word status) {
        nodes[k].status |= status;
        if (nodes[k].parent != k) touch(nodes[k].parent, status);
    }
    void map(Key from, Key to, bool writable, bool grant) {
        if (from.first == 0 && !nodes.count(from)) nodes[from] = {from.second, true, from, 0};
        if (!nodes.count(from)) return;
        Node source = nodes[from];
        if (nodes.count(to)) {
            Node& old = nodes[to];
            if (!grant && old.frame == source.frame && old.parent == from && to != from) {
                old.writable |= writable && source.writable;
                return;
            }
            remove(to);
            if (!nodes.count(from)) return;
        }
        bool may_write = source.writable && writable;
        if (!grant) {
            nodes[to] = {source.frame, may_write, from, 0};
            return;
        }
        bool root = source.parent == from;
        nodes.erase(from);
        nodes[to] = {source.frame, may_write, root ? to : source.parent, source.status};
        for (auto& [key, n] : nodes)
            if (n.parent == from) n.parent = to;
    }
    Word unmap(Key k, bool everything, bool write, bool flush) {
        if (!nodes.count(k)) return 0;
        if (everything) remove_children(k);
        if (write) take_write_below(k);
        if (write && flush) nodes[k].writable = false;
        Word status = nodes[k].status;
        nodes[k].status = 0;
        if (everything && flush) remove(k);
        return status;
    }
};

Word as_rights(Word status) {
    return (status & paging::accessed ? Word{right_read | right_execute} : 0) | (status & paging::dirty ? Word{right_write} : 0);
}

struct Property {
    Choices& choices;
    int operation = 0;
    using Key = Model::Key;
    Model model;
    std::vector<std::unique_ptr<Space>> space;

    explicit Property(Choices& c) : choices(c) {
        for (int i = 0; i < spaces; ++i) space.push_back(std::make_unique<Space>());
        space[0]->idempotent = true;
    }
    ~Property() {
        for (int i = spaces; i-- > 0;) mappings::unmap(*space[static_cast<unsigned>(i)], Fpage::complete().with_rights(rights_all), true);
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
        while ((mapped = mappings::transfer(at(a), send.with_rights(rights), at(b), window, base, grant, progress, left = each)) ==
               mappings::Mapped::part)
            for (auto& s : space) expect(mappings::consistent(*s, count), "the lists are not consistent between two parts");
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

    // Between two parts whoever unmaps can be deleted. All is as it should be then, down to the status, which later
    // operations look at.
    void unmap() {
        int s = any_space();
        unsigned log2_pages;
        Fpage fpage = any_fpage(&log2_pages);
        Word rights = choices.below(8);
        bool flush = choices.one_in(2), whole = choices.one_in(4), done = false;
        VAddr next = fpage.base();
        Word found = 0, wanted = 0;
        while (!done) {
            VAddr page = next;
            if (whole) {
                found = mappings::unmap(at(s), fpage.with_rights(rights), flush), done = true;
            } else {
                done = mappings::unmap(at(s), fpage.with_rights(rights), flush, next, found, 1 + choices.below(3));
            }
            for (; page <= fpage.last() && (done || page < next); page += page_size)
                wanted |= model.unmap({s, page}, rights == rights_all, rights & right_write, flush);
            if (done) break;
            VAddr in_hand = next & ~((1u << paging::log2_of(at(s), next)) - 1), bytes = 1u << paging::log2_of(at(s), next);
            for (VAddr part = 0; part < bytes; part += page_size) follow_removal({s, in_hand + part});
            compare();
            if (choices.one_in(4)) return;
        }
        if (!whole) found = mappings::as_rights(found);
        // What one part of a large page has seen, all have.
        if (several_sizes) found &= as_rights(wanted);
        expect(found == as_rights(wanted), "unmap() returns another status");
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
            switch (choices.below(8)) {
            case 0: case 1: unmap(); break;
            case 2: case 3: touch(); break;
            default: transfer();
            }
            compare();
        }
    }
};

}  // namespace

void mapping_property(Choices& choices) { Property{choices}.run(); }
