// SPDX-License-Identifier: BSD-2-Clause
// Intrusive circular lists: an element carries its links, so queueing never allocates and never fails.
#pragma once

#include "core/check.hpp"

template <typename T>
struct Link {
    T* next = nullptr;
    T* prev = nullptr;
    bool queued() const { return next != nullptr; }
};

// `link`: where an element has its link for this list, a member of its own or what a function object returns.
template <typename T, auto link>
class List {
public:
    bool empty() const { return !head_; }
    T* front() const { return head_; }
    T* after(const T& e) const { return of(e).next == head_ ? nullptr : of(e).next; }

    void push_back(T& e) {
        check(!of(e).queued());
        if (!head_) {
            of(e).next = of(e).prev = &e;
            head_ = &e;
            return;
        }
        insert(e, *head_);
    }
    void push_front(T& e) {
        push_back(e);
        head_ = &e;
    }
    // The first one, of those that there must be, becomes the last.
    T& turn() {
        T& first = *head_;
        head_ = of(first).next;
        return first;
    }
    // Puts `e` before `where`, or at the end where there is none.
    void insert_before(T& e, T* where) {
        check(!of(e).queued());
        if (!where) return push_back(e);
        insert(e, *where);
        if (where == head_) head_ = &e;
    }
    // Puts `e` at the end and takes the first one out, which there must be: `e` has its place in the circle then.
    T& rotate(T& e) {
        check(head_ && !of(e).queued());
        T& first = *head_;
        Link<T>& place = of(first);
        if (place.next == &first) {
            of(e).next = of(e).prev = head_ = &e;
        } else {
            of(e) = place;
            of(*place.prev).next = of(*place.next).prev = &e;
            head_ = place.next;
        }
        place = {};
        return first;
    }
    void remove(T& e) {
        check(head_ && of(e).queued());
        check(of(*of(e).next).prev == &e && of(*of(e).prev).next == &e);
        if (of(e).next == &e) {
            head_ = nullptr;
        } else {
            of(*of(e).prev).next = of(e).next;
            of(*of(e).next).prev = of(e).prev;
            if (head_ == &e) head_ = of(e).next;
        }
        of(e) = {};
    }

private:
    static Link<T>& of(T& e) {
        if constexpr (requires { e.*link; }) return e.*link;
        else return link(e);
    }
    static const Link<T>& of(const T& e) { return of(const_cast<T&>(e)); }

    void insert(T& e, T& where) {
        check(of(where).queued());
        T* prev = of(where).prev;
        of(e).next = &where;
        of(e).prev = prev;
        of(*prev).next = &e;
        of(where).prev = &e;
    }

    T* head_ = nullptr;
};
