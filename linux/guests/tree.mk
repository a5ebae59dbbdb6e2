# SPDX-License-Identifier: BSD-2-Clause
# Cobnut's kernel for PCs, made by make: what uhlig02/make has a guest build. As kernel/CMakeLists.txt makes it, file by
# file, without the optimisation of the whole program, whose result would be one run of the compiler.
FOLDERS = core boot ia32 slots pc
NOT_LINKED = kernel/core/check.cpp kernel/core/checks.cpp kernel/ia32/checks.cpp kernel/ia32/offsets.cpp
SOURCES = $(filter-out $(NOT_LINKED), $(foreach folder, $(FOLDERS), $(wildcard kernel/$(folder)/*.cpp)))
ASSEMBLY = $(wildcard kernel/ia32/*.S)
OBJECTS = $(SOURCES:.cpp=.o) $(ASSEMBLY:.S=.o)
FLAGS = -m32 -march=i486 -Ikernel -Ikernel/ia32 -Ikernel/pc -I. -ffreestanding -fno-exceptions -fno-rtti -fno-pic \
    -fno-pie -fno-stack-protector -fno-asynchronous-unwind-tables -fno-threadsafe-statics -Os -mgeneral-regs-only \
    -mpreferred-stack-boundary=2 -mregparm=3 -freg-struct-return -fomit-frame-pointer

kernel.o: $(OBJECTS)
	ld -m elf_i386 -z noexecstack -r -o $@ $^

%.o: %.cpp
	g++ $(FLAGS) -std=c++20 -c -o $@ $<

%.o: %.S offsets.h
	g++ $(FLAGS) -DKERNEL_DATE=0 -c -o $@ $<

offsets.h: kernel/ia32/offsets.cpp
	g++ $(FLAGS) -std=c++20 -S -o offsets.s $<
	sed -n 's/^.*@@ \([A-Z_0-9]*\) \(-*[0-9]*\) @@.*$$/#define \1 \2/p' offsets.s > $@

clean:
	rm -f kernel.o $(OBJECTS) offsets.h offsets.s
