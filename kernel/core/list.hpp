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

template <typename T, Link<T> T::*L>
class List {
public:
    bool empty() const { return !head_; }
    T* front() const { return head_; }
    T* after(const T& e) const { return (e.*L).next == head_ ? nullptr : (e.*L).next; }

    void push_back(T& e) {
        check(!(e.*L).queued());
        if (!head_) {
            (e.*L).next = (e.*L).prev = &e;
            head_ = &e;
            return;
        }
        insert(e, *head_);
    }
    void push_front(T& e) {
        push_back(e);
        head_ = &e;
    }
    // Puts `e` before `where`, or at the end where there is none.
    void insert_before(T& e, T* where) {
        check(!(e.*L).queued());
        if (!where) return push_back(e);
        insert(e, *where);
        if (where == head_) head_ = &e;
    }
    // Puts `e` at the end and takes the first one out, which there must be: `e` has its place in the circle then.
    T& rotate(T& e) {
        check(head_ && !(e.*L).queued());
        T& first = *head_;
        Link<T>& place = first.*L;
        if (place.next == &first) {
            (e.*L).next = (e.*L).prev = head_ = &e;
        } else {
            e.*L = place;
            (place.prev->*L).next = (place.next->*L).prev = &e;
            head_ = place.next;
        }
        place = {};
        return first;
    }
    void remove(T& e) {
        check(head_ && (e.*L).queued());
        check(((e.*L).next->*L).prev == &e && ((e.*L).prev->*L).next == &e);
        if ((e.*L).next == &e) {
            head_ = nullptr;
        } else {
            ((e.*L).prev->*L).next = (e.*L).next;
            ((e.*L).next->*L).prev = (e.*L).prev;
            if (head_ == &e) head_ = (e.*L).next;
        }
        e.*L = {};
    }

private:
    void insert(T& e, T& where) {
        check((where.*L).queued());
        T* prev = (where.*L).prev;
        (e.*L).next = &where;
        (e.*L).prev = prev;
        (prev->*L).next = &e;
        (where.*L).prev = &e;
    }

    T* head_ = nullptr;
};
