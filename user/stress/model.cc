// SPDX-License-Identifier: BSD-2-Clause
#include "model.h"

namespace stress {

void Model::map(Node from, Node to, Word rights, bool grant)
{
    if (!present(from) || !(rights & all)) return;
    const bool may_write = writable(from) && (rights & write);
    Entry &target = entry_[to];
    if (present(to)) {
        if (!grant && target.page == entry_[from].page && target.parent == from) {
            target.writable = target.writable || may_write; // mapped again: rights are only added
            return;
        }
        remove(to);
        if (!present(from)) return; // it was derived from what had to give way
    }
    if (!grant) {
        target = {entry_[from].page, may_write, from, 0};
        return;
    }
    target = entry_[from];
    target.writable = may_write;
    entry_[from] = Entry{};
    lost(from);
    for (Node n = 0; n < nodes; n++)
        if (present(n) && entry_[n].parent == from) entry_[n].parent = to;
}

Word Model::unmap(Node n, Word rights, bool flush)
{
    if (!present(n)) return 0;
    const Word status = entry_[n].status;
    entry_[n].status = 0;
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

void Model::accessed(Node n, bool writes)
{
    for (Node up = n; up != nowhere; up = entry_[up].parent) entry_[up].status |= read | execute | (writes ? write : 0u);
}

void Model::forget_space(Word space)
{
    for (Word place = 0; place < places; place++)
        if (present(node_of(space, place))) remove(node_of(space, place));
}

void Model::remove(Node n)
{
    remove_below(n);
    entry_[n] = Entry{};
    lost(n);
}

void Model::remove_below(Node n)
{
    for (Node child = 0; child < nodes; child++)
        if (present(child) && entry_[child].parent == n) remove(child);
}

void Model::deny_below(Node n)
{
    for (Node child = 0; child < nodes; child++) {
        if (!present(child) || entry_[child].parent != n) continue;
        entry_[child].writable = false;
        lost(child);
        deny_below(child);
    }
}

} // namespace stress
