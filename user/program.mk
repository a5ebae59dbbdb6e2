# SPDX-License-Identifier: BSD-2-Clause
# A program of one's own with make, outside this tree (docs/write-a-program.md); those of a system are built by
# servers/system.mk. The Makefile that includes this has set
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
all:
include $(COBNUT)/user/flags.mk
KIND ?= payload
ARGUMENTS ?=

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

-include $(OBJECTS:.o=.d)
