# SPDX-License-Identifier: BSD-2-Clause
# One image for all IA-32 processors (board pc).
set(processor ia32)
list(APPEND kernel_flags -m32 -march=i486 -mno-sse -mno-mmx -mgeneral-regs-only -mpreferred-stack-boundary=2
    -mregparm=3)
# Small structures are returned in registers, as they are passed: 290 bytes less.
list(APPEND kernel_flags -freg-struct-return)
# A frame pointer is what -Os keeps on this processor: an instruction in each function and its end, and a register.
list(APPEND kernel_flags -fomit-frame-pointer)
# Tables where they fit, not at 32 bytes each.
list(APPEND kernel_flags -malign-data=abi)
# The compiler sees the kernel as a whole, and copies a function only where that is shorter than its call: 2,000 bytes
# less, and a page fault takes 9 % fewer instructions. It may call memcpy and memset later than it looks for them.
list(APPEND kernel_flags -flto -finline-limit=4)
set_source_files_properties(ia32/string.cpp PROPERTIES COMPILE_OPTIONS -fno-lto)
# Not to 16 bytes, as -O2 does: that was 750 bytes that only fill.
set(fast_flags -falign-functions=4)
set(link_flags -m32 -no-pie -flto -flto-partition=one)
set(linker_script ${CMAKE_CURRENT_SOURCE_DIR}/kernel.ld)
set(assembly ia32/boot.S ia32/entry.S ia32/fastpath.S ia32/kip.S ia32/reflection.S)
set(processor_sources
    ia32/audit.cpp ia32/boot.cpp ia32/context.cpp ia32/coprocessor.cpp ia32/copy.cpp ia32/debug_registers.cpp
    ia32/descriptors.cpp
    ia32/fault_path.cpp ia32/faults.cpp ia32/hosts.cpp ia32/page_tables.cpp ia32/panic.cpp ia32/port_bitmap.cpp
    ia32/ports.cpp ia32/segments.cpp ia32/small_space.cpp
    ia32/string.cpp ia32/system_calls.cpp ia32/thread_table.cpp ia32/tls.cpp ia32/trap.cpp
    slots/groups.cpp slots/policy.cpp
    pc/clock.cpp pc/console.cpp pc/interrupts.cpp pc/loader.cpp pc/options.cpp)
if(COBNUT_CHECKED STREQUAL "on")
  list(APPEND processor_sources ia32/checks.cpp)
endif()
set(fast_sources ia32/context.cpp ia32/copy.cpp ia32/system_calls.cpp ia32/thread_table.cpp ia32/tls.cpp)

# Multiboot loaders take the executable itself.
function(processor_image target)
endfunction()
