// SPDX-License-Identifier: BSD-2-Clause
// A shadow model of mappings: which page stands at which place of which space, with which rights, and from where it was
// mapped. It says what an access has to give before the kernel is asked. No system calls: compiles on the host for its
// tests.
#ifndef COBNUT_MODEL_MAPPING_MODEL_H
#define COBNUT_MODEL_MAPPING_MODEL_H

namespace model {

using Word = unsigned;

enum Rights : Word { execute = 1, write = 2, read = 4, all = 7 };

/// A mapping is a node of a tree: the roots are the root space's pages, the others places of spaces.
using Node = Word;

/// The bits that an Unmap of one page has to return, as Rights, and those that it may.
struct Status {
    Word must = 0, may = 0;
    bool operator==(Word found) const { return (found & ~may) == 0 && (must & ~found) == 0; }
};

/// `places` of each space, where pages can be mapped; `pages` of the root space's.
template <Word spaces, Word places, Word pages> class Mappings {
public:
    static constexpr Node nodes = spaces * places + pages, nowhere = nodes;
    static constexpr Node root_of(Word page) { return spaces * places + page; }
    static constexpr Node node_of(Word space, Word place) { return space * places + place; }
    static constexpr Word space_of(Node node) { return node / places; } ///< not for roots
    static constexpr bool is_root(Node node) { return node >= spaces * places; }

    /// What one space does to a page may be noted for all that have it at the same place (docs/tags-arm.md, shared
    /// regions).
    bool shares_status = false;

    constexpr Mappings()
    {
        for (Word page = 0; page < pages; page++) entry_[root_of(page)] = {page, true, nowhere, {}};
    }

    bool present(Node n) const { return entry_[n].page != no_page; }
    bool writable(Node n) const { return entry_[n].writable; }
    Word page(Node n) const { return entry_[n].page; }
    /// Whether an access goes through without a fault.
    bool permits(Node n, bool writes) const { return present(n) && (!writes || writable(n)); }

    /// The ancestor that could map what is at `n` once more with the right to write; nowhere if there is none.
    Node denier(Node n) const
    {
        return present(n) && !writable(n) && writable(entry_[n].parent) ? entry_[n].parent : nowhere;
    }

    /// What a map or grant item does. `from` is not in the space of `to`. Whether a page has come to be there: an item
    /// of a page that is not there, or that adds rights to a mapping, brings none.
    bool map(Node from, Node to, Word rights, bool grant)
    {
        if (!present(from) || !(rights & all)) return false;
        const bool may_write = writable(from) && (rights & write);
        Entry &target = entry_[to];
        if (present(to)) {
            if (!grant && target.page == entry_[from].page && target.parent == from) {
                target.writable = target.writable || may_write; // mapped again: rights are only added
                return false;
            }
            remove(to);
            if (!present(from)) return false; // it was derived from what had to give way
        }
        if (!grant) {
            target = {entry_[from].page, may_write, from, {}};
            return true;
        }
        target = entry_[from];
        target.writable = may_write;
        entry_[from] = Entry{};
        lost(from);
        for (Node n = 0; n < nodes; n++)
            if (present(n) && entry_[n].parent == from) entry_[n].parent = to;
        return true;
    }

    /// What Unmap of one page does, and returns.
    Status unmap(Node n, Word rights, bool flush)
    {
        if (!present(n)) return {};
        const Status status = entry_[n].status;
        entry_[n].status = {};
        if (rights == all) {
            if (flush) remove(n);
            else remove_below(n);
        } else if (rights & write) {
            deny_below(n);
            if (flush) {
                entry_[n].writable = false;
                lost(n);
            }
        }
        return status;
    }

    /// An access that went through.
    void accessed(Node n, bool writes)
    {
        const Word bits = read | execute | (writes ? write : 0u);
        note(n, {bits, bits});
        if (!shares_status || is_root(n)) return;
        for (Word space = 0; space < spaces; space++) {
            const Node other = node_of(space, n % places);
            if (other != n && page(other) == page(n)) note(other, {0, entry_[n].status.may});
        }
    }

    /// The space is gone, with all that was derived from it.
    void forget_space(Word space)
    {
        for (Word place = 0; place < places; place++)
            if (present(node_of(space, place))) remove(node_of(space, place));
    }

    /// The node that lost a page or a right last: where something stale would show.
    Node loser(Word back) const { return losers_[(next_loser_ - 1 - back % remembered) % remembered]; }

private:
    static constexpr Word no_page = ~0u, remembered = 8;
    struct Entry {
        Word page = no_page;
        bool writable = false;
        Node parent = nowhere;
        Status status; ///< since the last Unmap of this very mapping: its own accesses and those of all derived ones
    };

    void note(Node n, Status status)
    {
        for (Node up = n; up != nowhere; up = entry_[up].parent) {
            entry_[up].status.must |= status.must;
            entry_[up].status.may |= status.may;
        }
    }

    void remove(Node n)
    {
        remove_below(n);
        entry_[n] = Entry{};
        lost(n);
    }

    void remove_below(Node n)
    {
        for (Node child = 0; child < nodes; child++)
            if (present(child) && entry_[child].parent == n) remove(child);
    }

    void deny_below(Node n)
    {
        for (Node child = 0; child < nodes; child++) {
            if (!present(child) || entry_[child].parent != n) continue;
            entry_[child].writable = false;
            lost(child);
            deny_below(child);
        }
    }

    void lost(Node n) { losers_[next_loser_++ % remembered] = n; }

    Entry entry_[nodes];
    Node losers_[remembered] = {};
    Word next_loser_ = 0;
};

} // namespace model
#endif
