// SPDX-License-Identifier: BSD-2-Clause
// Programs that are started again and again, each time with another word of their arguments.
#pragma once

#include <system/system.h>

#include <cobnut/options.h>

namespace starts {

/// How often this program has been started.
inline rpc::Word count()
{
    for (rpc::Word i = 0;; i++) {
        const auto found = cobnut::ask_init<init::Describe>(i);
        if (!found) return 0;
        if (found.value.thread == L4_Myself().raw) return found.value.starts;
    }
}

/// The first word at the first start, and so on; empty behind the last one.
inline cobnut::Text word_of_this(const char *arguments)
{
    cobnut::Text words{arguments, 0}, word;
    while (arguments[words.size]) words.size++;
    for (rpc::Word i = count(); i; i--) word = cobnut::split(words, ' ');
    return word;
}

} // namespace starts
