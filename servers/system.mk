# SPDX-License-Identifier: BSD-2-Clause
# A system of one's own with make, outside this tree (docs/guides/writing-a-server.md). The Makefile that includes this
# has set
#
#   COBNUT        this source tree
#   SYSTEM        the description, a file that ends in .toml
#   PROGRAMS      the programs of the system that are built here
#   SOURCES_NAME  of each of them its files: C (.c), C++ (.cc) and assembly (.S), in its folder or below
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
START := $(TREE)/user/start-payload.o
EXECUTABLES := $(addprefix $(BUILT)/,$(PROGRAMS))
objects = $(patsubst %,$(BUILT)/%.o,$(SOURCES_$(1)))

.PHONY: all run clean
all: $(EXECUTABLES)

run: $(EXECUTABLES)
	$(COBNUT)/cobnut boot --board $(BOARD) $(OPTIONS) $(SYSTEM)

clean:
	rm -rf build

define program
$(BUILT)/$(1): $(call objects,$(1)) $(SYSTEM_LIBRARIES) $(COBNUT)/user/program.ld
	$$(TOOLS)gcc $$(LINK_FLAGS) $$(START) $(call objects,$(1)) $$(SYSTEM_LIBRARIES) $$(LIBRARIES) -o $$@
endef
$(foreach one,$(PROGRAMS),$(eval $(call program,$(one))))

$(SYSTEM_LIBRARIES):
	$(COBNUT)/cobnut build --board $(BOARD)

-include $(foreach one,$(PROGRAMS),$(patsubst %.o,%.d,$(call objects,$(one))))
