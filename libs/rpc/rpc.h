// SPDX-License-Identifier: BSD-2-Clause
// Calls between programs, typed on both sides. An interface is a C++ declaration (servers/interfaces):
//
//   struct Adder {
//       using Add = rpc::Operation<0x101, Word(Word, Word)>;
//       using Operations = rpc::List<Add>;
//   };
//
// A client calls `rpc::call<Adder::Add>(thread, 2, 3)` and gets an rpc::Result<Word>. A server is an object with a
// function `handle(Adder::Add, rpc::Client &, Word, Word)` that returns one, too; `rpc::dispatch` finds it by the
// message's label. Arguments of another type than declared do not compile, on neither side.
//
// On the wire: the label is the operation's number, an argument takes whole words, in the order of the declaration;
// the answer's label is an Error, followed by the value if it is none. Everything travels in message registers, so an
// operation has at most 62 words of arguments. Numbers below 0x100 are init's, and unique among all interfaces of a
// server.
#pragma once

#include <l4/ipc.h>
#include <stddef.h>

namespace rpc {

using Word = L4_Word_t;

enum class Error : Word {
    none,
    dead,        ///< there is no such thread, or none any more: the session has ended
    unknown,     ///< the server has no such operation
    malformed,   ///< the message is not what the operation takes
    denied,      ///< the caller may not do that
    not_found,   ///< nothing has that name or handle
    no_memory,   ///< the caller's limit, or the machine's memory, is reached
    full,        ///< a table of the server's is full
    bad_value,   ///< an argument is outside what the operation documents
    not_running, ///< the program that provides the service does not run
    failed,      ///< the device has not done it
    later,       ///< never sent: the server answers this call later (rpc::answer)
};

/// What an error means, as the end of a sentence.
const char *describe(Error error);

/// A value, or why there is none.
template <typename T> struct Result {
    Error error = Error::none;
    T value = {};

    Result(Error e) : error(e) {}
    Result(const T &v) : value(v) {}
    explicit operator bool() const { return error == Error::none; }
};

/// No value.
struct Nothing {};

/// Up to `most` bytes; the length travels with them.
template <size_t most> struct Bytes {
    static constexpr size_t room = most;
    Word size = 0;
    char data[most] = {};

    Bytes() = default;
    /// As much of a text as fits.
    Bytes(const char *text)
    {
        while (size < most && text[size]) data[size] = text[size], size++;
    }
    Bytes(const char *from, size_t n)
    {
        for (; size < n && size < most; size++) data[size] = from[size];
    }
    bool operator==(const char *text) const
    {
        size_t i = 0;
        while (i < size && text[i] && data[i] == text[i]) i++;
        return i == size && !text[i];
    }
    bool operator==(const Bytes &other) const
    {
        return size == other.size && !__builtin_memcmp(data, other.data, size);
    }
};

using Name = Bytes<32>;

template <Word Number, typename Signature> struct Operation;
template <Word Number, typename R, typename... A> struct Operation<Number, R(A...)> {
    static_assert(Number < 0x8000, "labels from 0x8000 are the kernel's");
    static constexpr Word number = Number;
    using Value = R;
};

template <typename... Operations> struct List {};

/// Who calls: a thread, and what the server knows of its program.
struct Client {
    L4_ThreadId_t thread;
    Word program; ///< init's number for it
};

/// Of a message that is not answered yet.
inline constexpr Word tag_later = static_cast<Word>(Error::later) << 16;

namespace detail {

inline constexpr Word most_words = 62;
constexpr Word words_of(size_t bytes) { return static_cast<Word>((bytes + sizeof(Word) - 1) / sizeof(Word)); }

/// Message registers from the first on, in the UTCB. Ordinary memory between two system calls.
inline Word *registers() { return const_cast<Word *>(__L4_Utcb()) + 1; }

template <typename T> inline constexpr bool is_pointer = false;
template <typename T> inline constexpr bool is_pointer<T *> = true;

template <typename T> inline void put(Word *&to, const T &value)
{
    static_assert(__is_trivially_copyable(T) && !is_pointer<T>);
    if constexpr (sizeof(T) == sizeof(Word)) {
        *to++ = __builtin_bit_cast(Word, value); // no memcpy: a call where words are aligned
    } else {
        __builtin_memcpy(to, &value, sizeof(T));
        to += words_of(sizeof(T));
    }
}
template <size_t n> inline void put(Word *&to, const Bytes<n> &bytes)
{
    *to++ = bytes.size;
    __builtin_memcpy(to, bytes.data, bytes.size);
    to += words_of(bytes.size);
}
inline void put(Word *&, const Nothing &) {}

/// How many words a type takes, if that does not depend on the value.
template <typename T> inline constexpr bool fixed = true;
template <size_t n> inline constexpr bool fixed<Bytes<n>> = false;
template <typename T> inline constexpr Word fixed_words = words_of(sizeof(T));
template <> inline constexpr Word fixed_words<Nothing> = 0;

template <typename T> inline bool get(const Word *&from, const Word *end, T &value)
{
    constexpr Word words = words_of(sizeof(T));
    if (static_cast<Word>(end - from) < words) return false;
    static_assert(__is_trivially_copyable(T));
    if constexpr (sizeof(T) == sizeof(Word)) value = __builtin_bit_cast(T, *from);
    else __builtin_memcpy(static_cast<void *>(&value), from, sizeof(T));
    from += words;
    return true;
}
template <size_t n> inline bool get(const Word *&from, const Word *end, Bytes<n> &bytes)
{
    if (from == end || *from > n || static_cast<Word>(end - from) - 1 < words_of(*from)) return false;
    bytes.size = *from++;
    __builtin_memcpy(bytes.data, from, bytes.size);
    from += words_of(bytes.size);
    return true;
}
inline bool get(const Word *&, const Word *, Nothing &) { return true; }

/// Puts values into the message registers; how many words they take. Where there are none the registers are not looked
/// for: on some processors their address is in memory.
template <typename... T> [[gnu::always_inline]] inline Word put_all(const T &...values)
{
    if constexpr ((Word{0} + ... + fixed_words<T>) == 0) return 0;
    Word *const first = registers(), *to = first;
    (put(to, values), ...);
    return static_cast<Word>(to - first);
}
/// Takes a value out of them; false if it is not in so many words.
template <typename T> [[gnu::always_inline]] inline bool take(Word words, T &value)
{
    if constexpr (fixed_words<T> == 0) return true;
    const Word *from = registers();
    return get(from, from + words, value);
}

template <typename... A> constexpr size_t most_of() { return (size_t{0} + ... + words_of(sizeof(A))); }

/// What an answer says that has no value, or not the right one.
[[gnu::cold]] inline Error failure(L4_MsgTag_t tag)
{
    if (L4_IpcFailed(tag)) return Error::dead;
    return tag.raw >> 16 ? static_cast<Error>(tag.raw >> 16) : Error::malformed;
}

template <typename Op> struct Caller;
template <Word Number, typename R, typename... A> struct Caller<Operation<Number, R(A...)>> {
    static_assert(most_of<A...>() <= most_words && most_of<R>() <= most_words, "more than a message holds");

    [[gnu::always_inline]] static inline Result<R> call(L4_ThreadId_t server, const A &...arguments)
    {
        L4_Set_MsgTag(L4_MsgTag_t{.raw = Number << 16 | put_all(arguments...)});
        const L4_MsgTag_t tag = L4_Call(server);
        R value{};
        if constexpr (fixed<R>) {
            if (tag.raw != fixed_words<R>) return failure(tag);
            take(fixed_words<R>, value);
            return value;
        }
        if (L4_IpcFailed(tag) || tag.raw >> 16) return failure(tag);
        if (!take(L4_UntypedWords(tag), value)) return Error::malformed;
        return value;
    }
};

template <typename R> inline Word answer_words(const Result<R> &result)
{
    const Word words = result ? put_all(result.value) : 0;
    return static_cast<Word>(result.error) << 16 | words;
}

/// Takes the arguments out of the message one by one, and then calls `body` with them. 0 if they are not there.
template <typename F>
[[gnu::always_inline]] inline bool with_arguments(const Word *from, const Word *end, List<>, F body)
{
    if (from != end) return false;
    body();
    return true;
}
template <typename First, typename... Rest, typename F>
[[gnu::always_inline]] inline bool with_arguments(const Word *from, const Word *end, List<First, Rest...>, F body)
{
    First value{};
    if (!get(from, end, value)) return false;
    return with_arguments(from, end, List<Rest...>{}, [&](auto &...rest) { body(value, rest...); });
}

template <typename Op> struct Handler;
template <Word Number, typename R, typename... A> struct Handler<Operation<Number, R(A...)>> {
    using Op = Operation<Number, R(A...)>;
    static constexpr bool exact = (fixed<A> && ...);
    static constexpr Word words = (Word{0} + ... + fixed_words<A>);
    static constexpr Word exact_tag = Number << 16 | words;

    /// The answer's tag, with the value in the message registers.
    template <typename Server> [[gnu::always_inline]] static inline Word run(Server &server, Client &client, Word words)
    {
        Word tag = static_cast<Word>(Error::malformed) << 16;
        if constexpr (!sizeof...(A)) return words ? tag : answer_words(server.handle(Op{}, client));
        const Word *first = registers();
        with_arguments(first, first + words, List<A...>{}, [&](auto &...arguments) {
            const Result<R> result = server.handle(Op{}, client, arguments...);
            tag = answer_words(result);
        });
        return tag;
    }
};

} // namespace detail

/// Calls an operation of the server `thread`.
template <typename Op, typename... A>
[[gnu::always_inline]] inline Result<typename Op::Value> call(L4_ThreadId_t thread, const A &...arguments)
{
    return detail::Caller<Op>::call(thread, arguments...);
}

namespace detail {

template <typename Server, typename... Operations>
[[gnu::noinline]] Word dispatch_by_number(Server &server, Client &client, L4_MsgTag_t tag, List<Operations...>)
{
    if (L4_IpcFailed(tag)) return tag_later; // a client that did not wait for its answer
    Word answer = static_cast<Word>(Error::unknown) << 16;
    const Word number = L4_Label(tag), words = L4_UntypedWords(tag);
    (void)((number == Operations::number && (answer = Handler<Operations>::run(server, client, words), true)) || ...);
    return answer;
}

} // namespace detail

/// Does what the message in the registers, with the tag `tag`, asks of one of these operations: returns the tag of the
/// answer, whose other words are in the message registers; tag_later if there is none yet.
template <typename Server, typename... Operations> [[gnu::always_inline]] inline Word
dispatch(Server &server, Client &client, L4_MsgTag_t tag, List<Operations...> operations)
{
    // One comparison finds an operation whose arguments have a fixed length, and that they are all there.
    Word answer = 0;
    const bool done =
        ((detail::Handler<Operations>::exact && tag.raw == detail::Handler<Operations>::exact_tag &&
          (answer = detail::Handler<Operations>::run(server, client, detail::Handler<Operations>::words), true)) ||
         ...);
    return done ? answer : detail::dispatch_by_number(server, client, tag, operations);
}

/// Puts the answer to a call that was put off into the message registers. It has to be sent before they change.
template <typename Op> void load_answer(const Result<typename Op::Value> &result)
{
    L4_Set_MsgTag(L4_MsgTag_t{.raw = detail::answer_words(result)});
}

/// Answers a call that was put off. A client that does not wait any more is not waited for.
template <typename Op> void answer(L4_ThreadId_t client, const Result<typename Op::Value> &result)
{
    load_answer<Op>(result);
    L4_Reply(client);
}

} // namespace rpc
