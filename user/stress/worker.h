// SPDX-License-Identifier: BSD-2-Clause
// What the threads of a family's spaces do: one command after the other, for their controller, and for each other.
#ifndef COBNUT_STRESS_WORKER_H
#define COBNUT_STRESS_WORKER_H
#include <l4/types.h>

namespace stress {

/// The label of a command; MR1 to MR4 are its words x, y, z, value. The answer has label `answer`, the result in MR1
/// and the what it has read besides in MR2. Page faults have the kernel's labels.
enum Command : L4_Word_t {
    nothing = 1,   ///< an empty answer; also what one worker asks of another
    do_read,       ///< of the word at x
    do_write,      ///< of y to the word at x
    /// of fpage x with control y, then at once a write of value at z, or a read if value is 0, unless z is 0;
    do_unmap,
    ///< the result is the fpage with its status
    /// calls thread x, and once more with the typed item y, z, unless y is 0, to where it shall at once write
    do_send,
    ///< value, unless that is 0; the result is 0 if that went well
    do_run,        ///< calls the code at x
    do_accept,     ///< takes strings of y bytes at x from now on
    do_string,     ///< calls thread x with the string of z bytes at y; the result is 0 if that went well
    do_probe,      ///< of the word at place `probed`
    do_yield,      ///< gives the processor away first
    /// calls thread x, as its exception handler, where an exception can be asked for; that one calls thread y first, if
    do_reflect, ///< it is one; 0 as do_send
    answer = 0x0D0E,
};

/// A worker's start. It and everything it calls lies in the image's text, which its space gets page by page.
[[noreturn]] void worker_main();

} // namespace stress
#endif
