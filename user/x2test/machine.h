// SPDX-License-Identifier: BSD-2-Clause
// What the tests need to know of the processor; ia32/ and arm/ define it. Tests of what only one processor has are in
// those folders, too.
#ifndef COBNUT_X2TEST_MACHINE_H
#define COBNUT_X2TEST_MACHINE_H
#include "harness.h"

namespace x2test {

/// All tests there are here, up to a null pointer.
extern const Test *const groups[];
/// Names of shared tests of what this binding has otherwise, up to a null pointer: they are not run.
extern const char *const left_out[];

namespace machine {

extern const Word kernel_area;        ///< no user address from here on
extern const Word kernel_address;     ///< where the kernel itself is
extern const Word return_instruction; ///< code that returns at once
/// FLAGS that a user may set, and flags that none may, among them those that would give privileges.
extern const Word harmless_flags, harmful_flags;

extern const Word memory;             ///< physical address of the first byte
extern const Word kernel_memory;      ///< a physical address that is the kernel's
extern const Word shared_memory;      ///< one that is no memory, and that all may have
extern const Word memory_end; ///< behind the last address that can be memory's by its place; 0: there are none
extern const Word kernel_devices[]; ///< pages of devices that the kernel uses itself, up to a 0
extern const bool multiboot; ///< the loader leaves a multiboot record
extern const char *const feature; ///< a feature string of the kernel's; null if it has none

/// Where x2test_started found itself: SP, and whether all else was as a new thread should find it.
Word started_sp();
bool started_clean();
void forget_start();

} // namespace machine

/// One access each, at known addresses.
extern "C" Word x2test_read_at(Word address, Word, Word);
extern "C" Word x2test_write_at(Word address, Word value, Word);
extern "C" const char x2test_read_ip[], x2test_write_ip[];
/// Touches no register and no memory, for ever.
extern "C" const char x2test_spin[];
/// An instruction that is none.
extern "C" const char x2test_undefined_at[];
/// Notes its registers and goes on to x2test_landing.
extern "C" const char x2test_started[];
extern "C" [[noreturn]] void x2test_landing();

} // namespace x2test
#endif
