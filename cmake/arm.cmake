# SPDX-License-Identifier: BSD-2-Clause
#
# Freestanding ARM with Debian's cross compiler. Boards add their processor; nothing is linked but libgcc, which has
# division.
set(CMAKE_SYSTEM_NAME Generic)
set(CMAKE_SYSTEM_PROCESSOR arm)
set(CMAKE_TRY_COMPILE_TARGET_TYPE STATIC_LIBRARY)

set(CMAKE_C_COMPILER arm-none-eabi-gcc)
set(CMAKE_CXX_COMPILER arm-none-eabi-g++)
set(CMAKE_ASM_COMPILER arm-none-eabi-gcc)
set(CMAKE_OBJCOPY arm-none-eabi-objcopy)

set(CMAKE_C_FLAGS_INIT "-marm -ffreestanding")
set(CMAKE_CXX_FLAGS_INIT "-marm -ffreestanding -fno-exceptions -fno-rtti")
set(CMAKE_ASM_FLAGS_INIT "-marm")
set(CMAKE_EXE_LINKER_FLAGS_INIT "-nostdlib -static -Wl,--build-id=none")
