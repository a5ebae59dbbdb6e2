// SPDX-License-Identifier: BSD-2-Clause
#include "model.h"

namespace stress {

bool Model::map(Node from, Node to, Word rights, bool grant)
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

Status Model::unmap(Node n, Word rights, bool flush)
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

void Model::accessed(Node n, bool writes)
{
    const Word bits = read | execute | (writes ? write : 0u);
    note(n, {bits, bits});
    if (!shares_status || is_root(n)) return;
    for (Word space = 0; space < spaces; space++) {
        const Node other = node_of(space, n % places);
        if (other != n && page(other) == page(n)) note(other, {0, entry_[n].status.may});
    }
}

void Model::note(Node n, Status status)
{
    for (Node up = n; up != nowhere; up = entry_[up].parent) {
        entry_[up].status.must |= status.must;
        entry_[up].status.may |= status.may;
    }
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
