// SPDX-License-Identifier: BSD-2-Clause
// Requests at random, made from interface declarations: of each operation messages that are not what it takes, and
// some that are, with arguments of little sense.
#pragma once

#include <rpc/rpc.h>

namespace fuzz {

using rpc::Word;

/// A linear congruential generator: the same seed, the same requests.
class Dice {
public:
    explicit constexpr Dice(Word seed) : state_(seed) {}
    /// From 0 to `sides` - 1.
    Word roll(Word sides)
    {
        state_ = state_ * 1664525 + 1013904223;
        return (state_ >> 8) % sides;
    }
    /// A word that a server may look at twice.
    Word word()
    {
        constexpr Word edges[] = {0, 1, 2, 0x1000, 0x7FFFFFFF, 0x80000000, 0xFFFFF000, 0xFFFFFFFF};
        switch (roll(4)) {
        case 0: return edges[roll(sizeof edges / sizeof edges[0])];
        case 1: return roll(64);
        case 2: return roll(1 << 20) << 12;
        default: return roll(1 << 16) << 16 | roll(1 << 16);
        }
    }

private:
    Word state_;
};

/// What the fuzzer knows of an operation.
struct Operation {
    Word number;
    bool fixed;   ///< it takes `words` words, no more and no less
    Word words;
    bool callable; ///< false: with arguments that are right it harms the caller, as it should
};

/// The operations of a list that are in a list of harmful ones are not called as declared.
template <typename Op, typename... Harmful> constexpr Operation describe(rpc::List<Harmful...>)
{
    using Handler = rpc::detail::Handler<Op>;
    constexpr bool harmful = ((Op::number == Harmful::number) || ... || false);
    return {Op::number, Handler::exact, Handler::words, !harmful};
}

/// The operations of an interface, as a table.
struct Interface {
    static constexpr size_t most = 32;
    Operation operations[most];
    size_t count;

    template <typename... Ops, typename Harmful> constexpr Interface(rpc::List<Ops...>, Harmful harmful)
        : operations{describe<Ops>(harmful)...}, count(sizeof...(Ops))
    {
        static_assert(sizeof...(Ops) <= most);
    }
    constexpr bool knows(Word number) const
    {
        for (size_t i = 0; i < count; i++)
            if (operations[i].number == number) return true;
        return false;
    }
};

/// What came of the requests.
struct Tally {
    Word requests = 0;
    Word answered = 0, refused = 0, unanswered = 0, undelivered = 0;
    Word wrong = 0; ///< answers that no server may give to such a request
};

/// Sends one request to the server of an interface, and judges the answer.
void request(L4_ThreadId_t server, const Interface &interface, Dice &dice, Tally &tally);

} // namespace fuzz
