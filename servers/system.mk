# SPDX-License-Identifier: BSD-2-Clause
# Programs of a system with make, outside this tree (docs/guides/writing-a-server.md). The Makefile that includes this
# has set
#
#   COBNUT        this source tree
#   SYSTEM        the description, a file that ends in .toml
#   PROGRAMS      the programs of the system that are built here
#   SOURCES_NAME  of each of them its files: C (.c), C++ (.cc) and assembly (.S), in its folder or below
#   SOCKETS_NAME  yes: that one has BSD's sockets and part of the C library (docs/network.md)
#
# and, if they are not to be as below:
#
#   BOARD         pc or versatilepb
#   OPTIONS       further ones of `cobnut boot`
#
# A program comes to build/BOARD/NAME. `make run` boots the system, `make clean` removes what was built.
all:
include $(COBNUT)/user/flags.mk
ifeq ($(BOARD),collie)
$(error systems do not run on board collie yet)
endif
OPTIONS ?=

FLAGS += -I$(COBNUT)/libs -I$(COBNUT)/servers
LINK_FLAGS += -Wl,--defsym=COBNUT_BASE=$(PAYLOAD_BASE)
TREE := $(COBNUT)/build/$(BOARD)
SYSTEM_LIBRARIES := $(TREE)/servers/libcobnut_system.a $(TREE)/user/libcobnut_user.a
SOCKETS_LIBRARIES := $(patsubst %,$(TREE)/servers/libcobnut_%.a,sockets c)
SOCKETS_FLAGS := -nostdinc -I$(COBNUT)/libs/sockets/include -I$(COBNUT)/libs/c/include \
  -idirafter $(shell $(TOOLS)gcc $(PROCESSOR_FLAGS) -print-file-name=include)
START := $(TREE)/user/start-payload.o
EXECUTABLES := $(addprefix $(BUILT)/,$(PROGRAMS))
objects = $(patsubst %,$(BUILT)/%.o,$(SOURCES_$(1)))

.PHONY: all run clean
all: $(EXECUTABLES)

run: $(EXECUTABLES)
	$(COBNUT)/cobnut boot --board $(BOARD) $(OPTIONS) $(SYSTEM)

clean:
	rm -rf build

# what of this is for programs with sockets only
sockets = $(if $(filter yes,$(SOCKETS_$(1))),$(2))

define program
$(call objects,$(1)): FLAGS := $(call sockets,$(1),$(SOCKETS_FLAGS)) $(FLAGS) -DCOBNUT_PROGRAM='"$(1)"'
$(BUILT)/$(1): $(call objects,$(1)) $(SYSTEM_LIBRARIES) $(COBNUT)/user/program.ld
	$$(TOOLS)gcc $$(LINK_FLAGS) $$(START) $(call objects,$(1)) -Wl,--start-group \
		$(call sockets,$(1),$(SOCKETS_LIBRARIES)) $$(SYSTEM_LIBRARIES) -Wl,--end-group \
		$(call sockets,$(1),-lgcc) $$(LIBRARIES) -o $$@
endef
$(foreach one,$(PROGRAMS),$(eval $(call program,$(one))))

$(SYSTEM_LIBRARIES):
	$(COBNUT)/cobnut build --board $(BOARD)

-include $(foreach one,$(PROGRAMS),$(patsubst %.o,%.d,$(call objects,$(one))))
