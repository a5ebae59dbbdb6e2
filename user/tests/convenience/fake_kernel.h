// SPDX-License-Identifier: BSD-2-Clause
// A kernel for the user library on the host: notes the registers of each system call and answers as told. The headers
// find a UTCB behind %gs like on the target, for as long as a WithUtcb lives; no libc function may run meanwhile, since
// its own thread-local storage is behind %gs, too.
#ifndef COBNUT_FAKE_KERNEL_H
#define COBNUT_FAKE_KERNEL_H
#include "everything.h"

namespace fake {

inline L4_Word_t utcb_words[128]; ///< the UTCB address is that of word 64
inline L4_Word_t *const utcb = utcb_words + 64;
inline L4_Word_t called_field; ///< which entry of the kernel interface page
inline L4_Registers_t called, answer; ///< registers in, registers out
inline L4_Word_t ipc_to, ipc_from_specifier, ipc_timeouts, ipc_sender; ///< parameters of Ipc or Lipc, its `from`

/// False if the host lets no program have a segment of its own.
bool prepare();

class WithUtcb {
public:
    WithUtcb();
    ~WithUtcb();

private:
    unsigned short old_;
};

} // namespace fake
#endif
