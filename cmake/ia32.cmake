# SPDX-License-Identifier: BSD-2-Clause
#
# Freestanding IA-32 with the host's gcc: nothing is linked against a C library, so the compiler is probed with a static
# library and no 32-bit libc is looked for. The instruction set stops at the 486, the oldest processor that the one
# image boots on.
set(CMAKE_SYSTEM_NAME Generic)
set(CMAKE_SYSTEM_PROCESSOR i486)
set(CMAKE_TRY_COMPILE_TARGET_TYPE STATIC_LIBRARY)

set(CMAKE_C_COMPILER gcc)
set(CMAKE_CXX_COMPILER g++)
set(CMAKE_ASM_COMPILER gcc)

set(COBNUT_TARGET_FLAGS "-m32 -march=i486 -ffreestanding -fno-pic -fno-pie -fno-stack-protector \
-fno-asynchronous-unwind-tables -mno-sse -mno-mmx")
set(CMAKE_C_FLAGS_INIT "${COBNUT_TARGET_FLAGS}")
set(CMAKE_CXX_FLAGS_INIT "${COBNUT_TARGET_FLAGS} -fno-exceptions -fno-rtti")
set(CMAKE_ASM_FLAGS_INIT "-m32 -march=i486")
set(CMAKE_EXE_LINKER_FLAGS_INIT "-m32 -nostdlib -static -no-pie -Wl,--build-id=none")
