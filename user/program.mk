# SPDX-License-Identifier: BSD-2-Clause
# A program of one's own with make, outside this tree (docs/write-a-server.md). The Makefile that includes this has set
#
#   COBNUT    this source tree
#   PROGRAM   the program's name
#   SOURCES   its files: C (.c), C++ (.cc) and assembly (.S), in its folder or below
#
# and, if they are not to be as below:
#
#   BOARD     pc, versatilepb or collie
#   KIND      payload: root starts it in a space of its own; server: it is the root server
#   ARGUMENTS what it finds on its command line
#
# The program comes to build/BOARD/PROGRAM. `make run` boots it, `make clean` removes what was built.
# flags.cmake says the same for CMake.
BOARD ?= pc
KIND ?= payload
ARGUMENTS ?=

CORE_versatilepb := arm926ej-s
CORE_collie := strongarm1110
SERVER_BASE_pc := 0x300000
SERVER_BASE_versatilepb := 0x300000
SERVER_BASE_collie := 0xc0300000
ifndef SERVER_BASE_$(BOARD)
$(error unknown BOARD '$(BOARD)' (known: pc, versatilepb, collie))
endif

BASE_payload := 0x400000
BASE_server := $(SERVER_BASE_$(BOARD))
ifndef BASE_$(KIND)
$(error unknown KIND '$(KIND)' (known: payload, server))
endif

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
  -fno-asynchronous-unwind-tables -O2 -g -Wall -Wextra -I$(COBNUT)/user/include -DCOBNUT_PROGRAM='"$(PROGRAM)"'
CXX_FLAGS := -std=c++20 -fno-exceptions -fno-rtti -fno-threadsafe-statics
LINK_FLAGS := $(PROCESSOR_FLAGS) -nostdlib -static -no-pie -Wl,--build-id=none,-z,noexecstack,-z,max-page-size=4096 \
  -Wl,--no-warn-rwx-segments,-T,$(COBNUT)/user/program.ld,--defsym=COBNUT_BASE=$(BASE_$(KIND))

BUILT := build/$(BOARD)
EXECUTABLE := $(BUILT)/$(PROGRAM)
OBJECTS := $(patsubst %,$(BUILT)/%.o,$(SOURCES))
USER_LIBRARY := $(COBNUT)/build/$(BOARD)/user/libcobnut_user.a
START := $(COBNUT)/build/$(BOARD)/user/start-$(KIND).o

.PHONY: all run clean
all: $(EXECUTABLE)

run: $(EXECUTABLE)
	$(COBNUT)/cobnut boot --board $(BOARD) $(if $(filter server,$(KIND)),--root) \
		"$(strip ./$(EXECUTABLE) $(ARGUMENTS))"

clean:
	rm -rf build

$(EXECUTABLE): $(OBJECTS) $(USER_LIBRARY) $(COBNUT)/user/program.ld
	$(TOOLS)gcc $(LINK_FLAGS) $(START) $(OBJECTS) $(USER_LIBRARY) $(LIBRARIES) -o $@

$(USER_LIBRARY):
	$(COBNUT)/cobnut build --board $(BOARD)

$(BUILT)/%.c.o: %.c
	@mkdir -p $(@D)
	$(TOOLS)gcc $(FLAGS) -MMD -c $< -o $@

$(BUILT)/%.cc.o: %.cc
	@mkdir -p $(@D)
	$(TOOLS)g++ $(FLAGS) $(CXX_FLAGS) -MMD -c $< -o $@

$(BUILT)/%.S.o: %.S
	@mkdir -p $(@D)
	$(TOOLS)gcc $(FLAGS) -MMD -c $< -o $@

-include $(OBJECTS:.o=.d)
