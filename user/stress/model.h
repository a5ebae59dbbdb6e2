// SPDX-License-Identifier: BSD-2-Clause
// The shadow model: which page stands at which place of which space, with which rights, and from where it was mapped.
// It says what an access has to give before the kernel is asked. No system calls: compiles on the host for its tests.
#ifndef COBNUT_STRESS_MODEL_H
#define COBNUT_STRESS_MODEL_H

namespace stress {

using Word = unsigned;

inline constexpr Word spaces = 4;  ///< of a family
inline constexpr Word places = 12; ///< of a space: where pages can be mapped
inline constexpr Word pages = 16;  ///< of a family; they are the root space's

enum Rights : Word { execute = 1, write = 2, read = 4, all = 7 };

/// A mapping is a node of a tree: the roots are the root space's pages, the others places of spaces.
using Node = Word;
inline constexpr Node nodes = spaces * places + pages;
inline constexpr Node nowhere = nodes;
constexpr Node root_of(Word page) { return spaces * places + page; }
constexpr Node node_of(Word space, Word place) { return space * places + place; }
constexpr Word space_of(Node node) { return node / places; } ///< not for roots
constexpr bool is_root(Node node) { return node >= spaces * places; }

/// The bits that an Unmap of one page has to return, as Rights, and those that it may.
struct Status {
    Word must = 0, may = 0;
    bool operator==(Word found) const { return (found & ~may) == 0 && (must & ~found) == 0; }
};

class Model {
public:
    /// What one space does to a page may be noted for all that have it at the same place (docs/tags-arm.md, shared
    /// regions).
    bool shares_status = false;

    constexpr Model()
    {
        for (Word page = 0; page < pages; page++) entry_[root_of(page)] = {page, true, nowhere, {}};
    }

    bool present(Node n) const { return entry_[n].page != no_page; }
    bool writable(Node n) const { return entry_[n].writable; }
    Word page(Node n) const { return entry_[n].page; }
    /// Whether an access goes through without a fault.
    bool permits(Node n, bool writes) const { return present(n) && (!writes || writable(n)); }

    /// Who could map what is at `n` once more with the right to write; nowhere: nobody.
    Node denier(Node n) const
    {
        return present(n) && !writable(n) && writable(entry_[n].parent) ? entry_[n].parent : nowhere;
    }

    /// What a map or grant item does. `from` is not in the space of `to`. Whether a page has come to be there: an item
    /// of a page that is not there, or that adds rights to a mapping, brings none.
    bool map(Node from, Node to, Word rights, bool grant);
    /// What Unmap of one page does, and returns.
    Status unmap(Node n, Word rights, bool flush);
    /// An access that went through.
    void accessed(Node n, bool writes);
    /// The space is gone, with all that was derived from it.
    void forget_space(Word space);
    /// Who lost a page or a right last: where something stale would show.
    Node loser(Word back) const { return losers_[(next_loser_ - 1 - back % remembered) % remembered]; }

private:
    static constexpr Word no_page = ~0u, remembered = 8;
    struct Entry {
        Word page = no_page;
        bool writable = false;
        Node parent = nowhere;
        Status status; ///< since the last Unmap of this very mapping: its own accesses and those of all derived ones
    };

    void note(Node n, Status status);
    void remove(Node n);
    void remove_below(Node n);
    void deny_below(Node n);
    void lost(Node n) { losers_[next_loser_++ % remembered] = n; }

    Entry entry_[nodes];
    Node losers_[remembered] = {};
    Word next_loser_ = 0;
};

} // namespace stress
#endif
