// SPDX-License-Identifier: BSD-2-Clause
// Virtual caches: what is cached is found by its virtual address, after relocation. Each core has its own file, which
// says what else differs between them.
#pragma once

#include "core/x2.hpp"

namespace caches {

constexpr Word line = 32;

// Everything in the data cache is in memory afterwards, and nothing is cached.
void clean_and_invalidate_data();
void invalidate_instructions();
// The lines of [at, at + bytes).
void clean_and_invalidate_data(VAddr at, Word bytes);
// Writes one line back that keeps cached: what is not the processor's to see but its table walker's.
void clean_line(const void* at);
// No TLB has a translation of the (relocated) address afterwards.
void invalidate_translation(VAddr at);
// Nor has the TLB of data one; that of instructions only if it can lose a single one.
void invalidate_data_translation(VAddr at);
// Stops until an interrupt is pending, whether it is masked or not.
void wait_for_interrupt();

}  // namespace caches
