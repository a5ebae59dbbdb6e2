# SPDX-License-Identifier: BSD-2-Clause
# How programs outside this tree are compiled and linked with make: what program.mk and servers/system.mk share. COBNUT
# is set, and BOARD if it is not to be pc. flags.cmake says the same for CMake.
BOARD ?= pc

CORE_versatilepb := arm926ej-s
CORE_collie := strongarm1110
SERVER_BASE_pc := 0x300000
SERVER_BASE_versatilepb := 0x300000
SERVER_BASE_collie := 0xc0300000
ifndef SERVER_BASE_$(BOARD)
$(error unknown BOARD '$(BOARD)' (known: pc, versatilepb, collie))
endif
PAYLOAD_BASE := 0x400000

ifdef CORE_$(BOARD)
TOOLS := arm-none-eabi-
PROCESSOR_FLAGS := -mcpu=$(CORE_$(BOARD)) -marm
LIBRARIES := -lgcc -Wl,--fix-v4bx
else
TOOLS :=
PROCESSOR_FLAGS := -m32 -march=i486 -mno-sse -mno-mmx -mno-80387
LIBRARIES :=
endif

FLAGS := $(PROCESSOR_FLAGS) -ffreestanding -fno-pic -fno-pie -fno-stack-protector \
  -fno-asynchronous-unwind-tables -O2 -g -Wall -Wextra -I$(COBNUT)/user/include
CXX_FLAGS := -std=c++20 -fno-exceptions -fno-rtti -fno-threadsafe-statics
LINK_FLAGS := $(PROCESSOR_FLAGS) -nostdlib -static -no-pie -Wl,--build-id=none,-z,noexecstack,-z,max-page-size=4096 \
  -Wl,--no-warn-rwx-segments,-T,$(COBNUT)/user/program.ld


BUILT := build/$(BOARD)

$(BUILT)/%.c.o: %.c
	@mkdir -p $(@D)
	$(TOOLS)gcc $(FLAGS) -MMD -c $< -o $@

$(BUILT)/%.cc.o: %.cc
	@mkdir -p $(@D)
	$(TOOLS)g++ $(FLAGS) $(CXX_FLAGS) -MMD -c $< -o $@

$(BUILT)/%.S.o: %.S
	@mkdir -p $(@D)
	$(TOOLS)gcc $(FLAGS) -MMD -c $< -o $@
