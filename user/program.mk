# SPDX-License-Identifier: BSD-2-Clause
# A program of one's own with make, outside this tree (docs/write-a-program.md). The Makefile that includes this has set
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
#   SYSTEM    the description of a system (docs/systems.md), which `make run` boots with ARGUMENTS as boot's options
#   SOCKETS   yes: BSD's sockets and part of the C library, for a program of a system (docs/network.md)
#
# The program comes to build/BOARD/PROGRAM. `make run` boots it, `make clean` removes what was built.
all:
include $(COBNUT)/user/flags.mk
KIND ?= payload
ARGUMENTS ?=
SYSTEM ?=
SOCKETS ?= no

BASE_payload := $(PAYLOAD_BASE)
BASE_server := $(SERVER_BASE_$(BOARD))
ifndef BASE_$(KIND)
$(error unknown KIND '$(KIND)' (known: payload, server))
endif
FLAGS += -DCOBNUT_PROGRAM='"$(PROGRAM)"'
LINK_FLAGS += -Wl,--defsym=COBNUT_BASE=$(BASE_$(KIND))

EXECUTABLE := $(BUILT)/$(PROGRAM)
OBJECTS := $(patsubst %,$(BUILT)/%.o,$(SOURCES))
USER_LIBRARY := $(COBNUT)/build/$(BOARD)/user/libcobnut_user.a
USED_LIBRARIES := $(USER_LIBRARY)
ifeq ($(SOCKETS),yes)
FLAGS += -nostdinc -I$(COBNUT)/libs/sockets/include -I$(COBNUT)/libs/c/include -I$(COBNUT)/libs -I$(COBNUT)/servers \
  -idirafter $(shell $(TOOLS)gcc $(PROCESSOR_FLAGS) -print-file-name=include)
USED_LIBRARIES := -Wl,--start-group $(USER_LIBRARY) \
  $(patsubst %,$(COBNUT)/build/$(BOARD)/servers/libcobnut_%.a,sockets system c) -Wl,--end-group -lgcc
endif
START := $(COBNUT)/build/$(BOARD)/user/start-$(KIND).o

.PHONY: all run clean
all: $(EXECUTABLE)

run: $(EXECUTABLE)
ifneq ($(SYSTEM),)
	$(COBNUT)/cobnut boot --board $(BOARD) $(SYSTEM) $(ARGUMENTS)
else
	$(COBNUT)/cobnut boot --board $(BOARD) $(if $(filter server,$(KIND)),--root) \
		"$(strip ./$(EXECUTABLE) $(ARGUMENTS))"
endif

clean:
	rm -rf build

$(EXECUTABLE): $(OBJECTS) $(USER_LIBRARY) $(COBNUT)/user/program.ld
	$(TOOLS)gcc $(LINK_FLAGS) $(START) $(OBJECTS) $(USED_LIBRARIES) $(LIBRARIES) -o $@

$(USER_LIBRARY):
	$(COBNUT)/cobnut build --board $(BOARD)

-include $(OBJECTS:.o=.d)
