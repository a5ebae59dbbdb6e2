# SPDX-License-Identifier: BSD-2-Clause
#
# The boards, and where they differ in the processor: its core, and where the memory begins. COBNUT_BOARD is set.
set(COBNUT_BOARDS pc versatilepb collie)
set(COBNUT_ARM_CORE_versatilepb arm926ej-s)
set(COBNUT_ARM_CORE_collie strongarm1110)
set(COBNUT_RAM_BASE_versatilepb 0x00000000)
set(COBNUT_RAM_BASE_collie 0xc0000000)
set(COBNUT_ARM_CORE ${COBNUT_ARM_CORE_${COBNUT_BOARD}})
set(COBNUT_RAM_BASE ${COBNUT_RAM_BASE_${COBNUT_BOARD}})
