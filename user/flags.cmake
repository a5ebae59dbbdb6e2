# SPDX-License-Identifier: BSD-2-Clause
# How programs are compiled and linked, for this tree and for programs outside (program.cmake; program.mk says the same
# for make): the target cobnut_user_flags. COBNUT_ARM_CORE and COBNUT_RAM_BASE are set as in cmake/boards.cmake.

# Processor, where its initial servers are linked (their physical addresses), and what only it has.
if(COBNUT_ARM_CORE)
  set(processor arm)
  set(processor_flags -mcpu=${COBNUT_ARM_CORE} -marm -Wl,--fix-v4bx)
  set(processor_libraries gcc) # division
  math(EXPR sigma0_base "${COBNUT_RAM_BASE} + 0x200000" OUTPUT_FORMAT HEXADECIMAL)
  math(EXPR server_base "${COBNUT_RAM_BASE} + 0x300000" OUTPUT_FORMAT HEXADECIMAL)
else()
  set(processor ia32)
  set(processor_flags -m32 -march=i486)
  set(sigma0_base 0x20000)
  set(server_base 0x300000)
endif()
set(payload_base 0x400000)

if(TARGET cobnut_user_flags)
  return()
endif()
add_library(cobnut_user_flags INTERFACE)
target_compile_options(cobnut_user_flags INTERFACE
  ${processor_flags} -ffreestanding -fno-pic -fno-pie -fno-stack-protector -O2 -g -Wall -Wextra
  $<$<COMPILE_LANGUAGE:C,CXX>:-fno-asynchronous-unwind-tables>
  $<$<COMPILE_LANGUAGE:CXX>:-std=c++20 -fno-exceptions -fno-rtti -fno-threadsafe-statics>
  $<$<AND:$<COMPILE_LANGUAGE:C,CXX>,$<STREQUAL:${processor},ia32>>:-mno-sse -mno-mmx -mno-80387>)
target_include_directories(cobnut_user_flags INTERFACE ${CMAKE_CURRENT_LIST_DIR}/include)
target_link_options(cobnut_user_flags INTERFACE
  ${processor_flags} -nostdlib -static -no-pie -Wl,--build-id=none -Wl,-z,noexecstack -Wl,-z,max-page-size=4096
  -Wl,--no-warn-rwx-segments -Wl,-T,${CMAKE_CURRENT_LIST_DIR}/program.ld)
