// SPDX-License-Identifier: BSD-2-Clause
// A leftist heap: no child's deadline is before its parent's, and of two children the right one has the lower rank. So
// the path to the right is at most log2(n + 1) nodes long, which bounds the cost of start, cancel and expiry.
#include "core/timeout.hpp"

#include "core/check.hpp"

namespace timeouts {
namespace {

Thread* root;
Word started = checks::counter_start;  // gives equal deadlines their order
Word waiting;

Word rank(const Thread* t) { return t ? t->timeout.rank : 0; }

[[gnu::noinline]] bool before(const Thread& a, const Thread& b) {
    const TimeoutNode &x = a.timeout, &y = b.timeout;
    return x.deadline != y.deadline ? x.deadline < y.deadline : static_cast<int>(x.order - y.order) < 0;
}

// Restores the order of a node's children, and its rank; false if its parent is not affected.
bool adjust(TimeoutNode& n) {
    if (rank(n.left) < rank(n.right)) {
        Thread* left = n.left;
        n.left = n.right;
        n.right = left;
    }
    Word was = n.rank;
    n.rank = rank(n.right) + 1;
    return n.rank != was;
}

// Merges two heaps along their paths to the right, so the recursion is no deeper than these are long. The caller sets
// the parent of the result.
Thread* merge(Thread* a, Thread* b) {
    if (!a || !b) return a ? a : b;
    if (before(*b, *a)) return merge(b, a);
    TimeoutNode& n = a->timeout;
    n.right = merge(n.right, b);
    n.right->timeout.parent = a;
    adjust(n);
    return a;
}

}  // namespace

Microseconds end_of(Time timeout, Microseconds now) { return timeout.is_never() ? never : timeout.deadline(now); }

void start(Thread& t, Microseconds deadline) {
    t.timeout = {
        .parent = nullptr, .left = nullptr, .right = nullptr, .rank = 1, .order = started++, .deadline = deadline};
    root = merge(root, &t);
    root->timeout.parent = nullptr;
    ++waiting;
}

void cancel(Thread& t) {
    TimeoutNode& n = t.timeout;
    if (!n.queued()) return;
    Thread* parent = n.parent;
    Thread* rest = merge(n.left, n.right);
    n.rank = 0;
    --waiting;
    if (rest) rest->timeout.parent = parent;
    (!parent ? root : parent->timeout.left == &t ? parent->timeout.left : parent->timeout.right) = rest;
    // The ranks that change strictly increase, so the number of steps is at most the highest rank.
    while (parent && adjust(parent->timeout)) parent = parent->timeout.parent;
}

Word count() { return waiting; }

bool in_order(const Thread& t) {
    const TimeoutNode& n = t.timeout;
    const Thread* p = n.parent;
    bool linked = p ? (p->timeout.left == &t || p->timeout.right == &t) && before(*p, t) : root == &t;
    return linked && rank(n.left) >= rank(n.right) && n.rank == rank(n.right) + 1;
}

Thread* expired(Microseconds now) {
    Thread* t = root;
    if (!t || t->timeout.deadline > now) return nullptr;
    cancel(*t);
    return t;
}

}  // namespace timeouts
