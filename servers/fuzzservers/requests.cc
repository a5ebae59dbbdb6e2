// SPDX-License-Identifier: BSD-2-Clause
#include "requests.h"

#include <cobnut/payload.h>

namespace fuzz {
namespace {

using rpc::Error;

constexpr Word patience_us = 20'000; // some operations answer when there is something to say
constexpr Word most_words = 62, most_errors = static_cast<Word>(Error::later);

/// How a request is made.
enum class Shape { as_declared, other_length, unknown, with_string, with_mapping, shapes };

/// Loads what no server has accepted: two words of typed items.
void load_item(Shape shape, Word at)
{
    static constinit char bytes[64] = {};
    const L4_MapItem_t item = L4_MapItem(L4_Nilpage, 0);
    L4_LoadMR(static_cast<int>(at), shape == Shape::with_string ? sizeof bytes << 10 : item.raw[0]);
    L4_LoadMR(static_cast<int>(at + 1), shape == Shape::with_string ? reinterpret_cast<Word>(bytes) : item.raw[1]);
}

/// The one answer that such a request may have; Error::later: several.
Error expected(Shape shape, const Operation &operation, Word words)
{
    if (shape == Shape::unknown) return Error::unknown;
    const bool wrong_length = operation.fixed && words != operation.words;
    return shape == Shape::other_length && wrong_length ? Error::malformed : Error::later;
}

Word other_length(const Operation &operation, Dice &dice)
{
    const Word words = dice.roll(most_words);
    // what is not fixed may be right by accident, unless a word is missing
    if (!operation.fixed) return operation.callable ? words : 0;
    return words == operation.words ? words + 1 : words;
}

} // namespace

void request(L4_ThreadId_t server, const Interface &interface, Dice &dice, Tally &tally)
{
    const Operation &operation = interface.operations[dice.roll(static_cast<Word>(interface.count))];
    Shape shape = static_cast<Shape>(dice.roll(static_cast<Word>(Shape::shapes)));
    if (shape == Shape::as_declared && !operation.callable) shape = Shape::other_length;
    const bool typed = shape == Shape::with_string || shape == Shape::with_mapping;
    Word number = operation.number, words = operation.fixed ? operation.words : dice.roll(most_words);
    if (shape == Shape::other_length || (typed && !operation.callable)) words = other_length(operation, dice);
    while (shape == Shape::unknown && (interface.knows(number) || number == operation.number))
        number = dice.roll(0x8000);
    if (typed && words > most_words - 2) words = most_words - 2;
    for (Word i = 1; i <= words; i++) L4_LoadMR(static_cast<int>(i), dice.word());
    if (typed) load_item(shape, words + 1);
    L4_Set_MsgTag(L4_MsgTag_t{.raw = number << 16 | (typed ? 2u << 6 : 0) | words});
    const L4_MsgTag_t tag = L4_Call_Timeouts(server, L4_Never, L4_TimePeriod(patience_us));
    tally.requests++;
    if (L4_IpcFailed(tag)) {
        const bool receiving = L4_ErrorCode() & 1;
        receiving ? tally.unanswered++ : tally.undelivered++;
        tally.wrong += !receiving && !typed;
        return;
    }
    const Word answer = L4_Label(tag);
    const Error only = expected(shape, operation, words);
    answer == static_cast<Word>(Error::none) ? tally.answered++ : tally.refused++;
    if (answer < most_errors && (only == Error::later || answer == static_cast<Word>(only))) return;
    tally.wrong++;
    cobnut_printf("fuzzservers: operation %x with %u words, shape %u: answer %u\n", number, words,
                  static_cast<unsigned>(shape), answer);
}

} // namespace fuzz
