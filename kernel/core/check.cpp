// SPDX-License-Identifier: BSD-2-Clause
#include "core/check.hpp"

#include "core/arch.hpp"
#include "core/print.hpp"

// The fault that follows is the kernel's own, and is reported as such: registers, the running thread, the stack.
void checks::failed(const char* condition, const char* file, Word line) {
    const Thread* t = arch::current_thread();
    print("\ncobnut: check failed: ", condition, " at ", file, ":", line, ", thread ", hex(t ? t->id.raw : 0), "\n");
    __builtin_trap();
}
