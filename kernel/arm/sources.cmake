# SPDX-License-Identifier: BSD-2-Clause
# ARMv4 and ARMv5: boards differ in the core, in its caches and in their devices.
set(processor arm)
set(board_caches_versatilepb arm/caches_arm926.cpp)
set(board_caches_collie arm/caches_sa1100.cpp)
list(APPEND kernel_flags -isystem ${CMAKE_CURRENT_SOURCE_DIR}/arm/freestanding)
list(APPEND kernel_flags -mcpu=${COBNUT_ARM_CORE} -marm)
set(link_flags -Wl,--fix-v4bx)
set(processor_libraries gcc)

# The layout is the one of layout.hpp.
set(linker_script ${CMAKE_CURRENT_BINARY_DIR}/kernel.ld)
add_custom_command(OUTPUT ${linker_script}
    COMMAND ${CMAKE_C_COMPILER} -E -P -x c -I ${CMAKE_CURRENT_SOURCE_DIR} -I ${CMAKE_CURRENT_SOURCE_DIR}/${COBNUT_BOARD}
        ${CMAKE_CURRENT_SOURCE_DIR}/arm/kernel.ld -o ${linker_script}
    DEPENDS arm/kernel.ld arm/layout.hpp ${COBNUT_BOARD}/board_layout.hpp VERBATIM)

# Which kernel: with tags (fast address-space switching), or the standard one, which flushes everything at each switch.
set(COBNUT_TAGS fass CACHE STRING "ARM: fass, or off for the standard kernel")
set_property(CACHE COBNUT_TAGS PROPERTY STRINGS fass off)
set(host_sources_fass arm/regions.cpp arm/relocation.cpp arm/residents.cpp domains/residents.cpp)
set(host_sources_off arm/first_levels.cpp)
if(NOT DEFINED host_sources_${COBNUT_TAGS})
  message(FATAL_ERROR "unknown COBNUT_TAGS '${COBNUT_TAGS}' (known: fass, off)")
endif()

set(assembly arm/boot.S arm/entry.S arm/fastpath.S arm/kip.S)
set(processor_sources ${linker_script}
    arm/aliases.cpp arm/boot.cpp arm/context.cpp arm/copy.cpp arm/debug_calls.cpp arm/faults.cpp arm/loader.cpp
    arm/page_tables.cpp arm/sharers.cpp arm/spaces.cpp
    arm/semihosting.cpp arm/string.cpp arm/system_calls.cpp arm/thread_table.cpp arm/trap.cpp
    ${board_caches_${COBNUT_BOARD}}
    core/large_pages.cpp ${host_sources_${COBNUT_TAGS}}
    ${COBNUT_BOARD}/console.cpp ${COBNUT_BOARD}/interrupts.cpp)
if(COBNUT_CHECKED STREQUAL "on")
  list(APPEND processor_sources arm/checks.cpp)
endif()
set(fast_sources arm/aliases.cpp arm/context.cpp arm/page_tables.cpp arm/sharers.cpp arm/system_calls.cpp
    arm/thread_table.cpp ${host_sources_${COBNUT_TAGS}})
# A compiler that recognises the loops of memcpy calls memcpy.
set_source_files_properties(arm/string.cpp PROPERTIES COMPILE_OPTIONS "-fno-tree-loop-distribute-patterns;-O2")

# Loaders that follow Linux's convention take the bytes alone.
function(processor_image target)
  add_custom_command(TARGET ${target} POST_BUILD
      COMMAND ${CMAKE_OBJCOPY} -O binary $<TARGET_FILE:${target}> $<TARGET_FILE:${target}>.bin VERBATIM)
endfunction()
