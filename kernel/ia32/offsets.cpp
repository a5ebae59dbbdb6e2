// SPDX-License-Identifier: BSD-2-Clause
// Structure offsets for the assembler: compiled to assembly, from which the build takes the lines between the marks
// (kernel/CMakeLists.txt), so that no offset is written by hand.
#include "core/space.hpp"
#include "core/thread.hpp"

#define OFFSET(name, value) asm volatile("\n@@ " #name " %c0 @@" : : "i"(value))

void offsets() {
    OFFSET(THREAD_REGISTERS, offsetof(Thread, registers));
    OFFSET(THREAD_ESI, offsetof(Thread, registers) + offsetof(Registers, esi));
    OFFSET(THREAD_EAX, offsetof(Thread, registers) + offsetof(Registers, eax));
    OFFSET(THREAD_ECX, offsetof(Thread, registers) + offsetof(Registers, ecx));
    OFFSET(THREAD_EDX, offsetof(Thread, registers) + offsetof(Registers, edx));
    OFFSET(THREAD_EIP, offsetof(Thread, frame) + offsetof(Frame, eip));
    OFFSET(THREAD_ESP, offsetof(Thread, frame) + offsetof(Frame, esp));
    OFFSET(THREAD_ID, offsetof(Thread, id));
    OFFSET(THREAD_OPEN_TO, offsetof(Thread, open_to));
    OFFSET(THREAD_SPACE, offsetof(Thread, space));
    OFFSET(THREAD_UTCB_ADDRESS, offsetof(Thread, utcb_address));
    OFFSET(THREAD_PRIORITY, offsetof(Thread, priority));
    OFFSET(THREAD_SENDERS_WAITING, offsetof(Thread, senders_waiting));
    OFFSET(THREAD_UTCB, offsetof(Thread, utcb));
    OFFSET(UTCB_MR, offsetof(Utcb, mr));
    OFFSET(SPACE_SEGMENT_LOW, offsetof(Space, arch) + offsetof(ArchSpace, segment_low));
    OFFSET(SPACE_SEGMENT_HIGH, offsetof(Space, arch) + offsetof(ArchSpace, segment_high));
    OFFSET(SPACE_HOST_DIRECTORY, offsetof(Space, arch) + offsetof(ArchSpace, host_directory));
}
