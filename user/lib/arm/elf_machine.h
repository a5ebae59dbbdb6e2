// SPDX-License-Identifier: BSD-2-Clause
#ifndef COBNUT_ELF_MACHINE_H
#define COBNUT_ELF_MACHINE_H

namespace cobnut {

/// The processor in the header of an ELF file that can run here, and its name.
inline constexpr unsigned this_machine = 40;
#define COBNUT_MACHINE_NAME "ARM"

} // namespace cobnut
#endif
