// SPDX-License-Identifier: BSD-2-Clause
// Structure offsets for the assembler: compiled to assembly, from which the build takes the lines between the marks
// (kernel/CMakeLists.txt), so that no offset is written by hand.
#include "core/space.hpp"
#include "core/thread.hpp"
#include "ia32/cpu.hpp"
#include "ia32/trap.hpp"

#define OFFSET(name, value) asm volatile("\n@@ " #name " %c0 @@" : : "i"(value))

namespace {

// The assembler knows a thread by the top of its frame (ia32/cpu.hpp).
constexpr int top = offsetof(Thread, frame) + sizeof(Frame);

static_assert(offsetof(Thread, frame) == offsetof(Thread, registers) + sizeof(Registers), "entries push through both");
static_assert(offsetof(Thread, awaited) == offsetof(Thread, registers) - 16,
    "what an entry from virtual 8086 mode overwrites");
static_assert(offsetof(Thread, fast_veto) - 16 == offsetof(Thread, id),
    "such an entry by the fast path's gate finds a veto there");
static_assert(offsetof(Thread, frame) % 64 == 0 &&
                  offsetof(Thread, fast) + sizeof(FastEntry) <= offsetof(Thread, frame) + 64,
    "the fast path touches one line of a thread");
static_assert(offsetof(Thread, arch.tls.made) / 32 == offsetof(Thread, arch.tls.turned_at) / 32,
    "the gate of protection faults touches one line of a thread's segment");

}  // namespace

#define THREAD(name, offset) OFFSET(THREAD_##name, static_cast<int>(offset) - top)
#define REGISTER(member)     offsetof(Thread, registers) + offsetof(Registers, member)

void offsets() {
    OFFSET(THREAD_TOP, top);
    THREAD(REGISTERS, offsetof(Thread, registers));
    THREAD(ESI, REGISTER(esi));
    THREAD(EAX, REGISTER(eax));
    THREAD(ECX, REGISTER(ecx));
    THREAD(EDX, REGISTER(edx));
    THREAD(FRAME, offsetof(Thread, frame));
    THREAD(ID, offsetof(Thread, id));
    THREAD(STATE, offsetof(Thread, state_word));
    THREAD(AWAITED, offsetof(Thread, awaited));
    OFFSET(STATE_READY, static_cast<Word>(State::ready));
    OFFSET(STATE_REFLECTED, static_cast<Word>(State::reflected));
    OFFSET(STATE_FAULTED, static_cast<Word>(State::faulted));
    THREAD(SPACE, offsetof(Thread, space));
    THREAD(UTCB_ADDRESS, offsetof(Thread, utcb_address));
    THREAD(PRIORITY, offsetof(Thread, priority));
    THREAD(FAST_VETO, offsetof(Thread, fast_veto));
    THREAD(UTCB, offsetof(Thread, utcb));
    THREAD(FAST_EIP, offsetof(Thread, fast) + offsetof(FastEntry, eip));
    THREAD(FAST_ESP, offsetof(Thread, fast) + offsetof(FastEntry, esp));
    THREAD(TLS, offsetof(Thread, arch.tls));
    OFFSET(TLS_TURNED, offsetof(TlsSegment, turned));
    OFFSET(TLS_TURNED_AT, offsetof(TlsSegment, turned_at));
    OFFSET(TLS_SET, offsetof(TlsSegment, set));
    OFFSET(TLS_IN_FS, offsetof(TlsSegment, in_fs));
    static_assert(offsetof(TlsSegment, in_gs) == offsetof(TlsSegment, in_fs) + 1, "written together");
    OFFSET(TLS_MADE, offsetof(TlsSegment, made));
    OFFSET(TLS_TOGGLE, offsetof(TlsSegment, toggle));
    OFFSET(TLS_WITHIN, offsetof(TlsSegment, within));
    OFFSET(HELD_COPROCESSOR, held_coprocessor);
    OFFSET(HELD_TLS, held_tls);
    OFFSET(VETO_REDIRECTED, veto_redirected);
    OFFSET(PROCESSOR_ESP0, offsetof(Processor, esp0));
    OFFSET(PROCESSOR_HOST, offsetof(Processor, host));
    OFFSET(PROCESSOR_FS, offsetof(Processor, fs));
    OFFSET(PROCESSOR_GS, offsetof(Processor, gs));
    OFFSET(PROCESSOR_READY_TOP, offsetof(Processor, ready_top));
    OFFSET(PROCESSOR_LEAVE, offsetof(Processor, leave));
    OFFSET(PROCESSOR_LEAVING, offsetof(Processor, leaving));
    OFFSET(PROCESSOR_SIZE, sizeof(Processor));
    OFFSET(KERNEL_FRAME_CS, offsetof(KernelFrame, cs));
    OFFSET(KERNEL_FRAME_EFLAGS, offsetof(KernelFrame, eflags));
    OFFSET(UTCB_MR, offsetof(Utcb, mr));
    OFFSET(UTCB_EXCEPTION_HANDLER, offsetof(Utcb, mr) - 44);
    OFFSET(ONE_ITEM, MsgTag::make(0, 0, 2).raw);
    OFFSET(LEAST_TAG, label_port_fault << 16);
    OFFSET(EXCEPTION_TAG, MsgTag::make(label_exception, 12).raw);
    OFFSET(SPACE_REDIRECTOR, offsetof(Space, redirector));
    OFFSET(SPACE_CONTROLLED, offsetof(Space, controlled));
    OFFSET(SPACE_SEGMENT_LOW, offsetof(Space, arch) + offsetof(ArchSpace, segment_low));
    OFFSET(SPACE_SEGMENT_HIGH, offsetof(Space, arch) + offsetof(ArchSpace, segment_high));
    OFFSET(SPACE_HOST, offsetof(Space, arch) + offsetof(ArchSpace, host));
    OFFSET(SPACE_FREE_SWITCHES, offsetof(Space, arch) + offsetof(ArchSpace, free_switches));
    OFFSET(SPACE_SWITCHES, offsetof(Space, arch) + offsetof(ArchSpace, switches));
    OFFSET(SPACE_PARTNER, offsetof(Space, arch) + offsetof(ArchSpace, partner));
    OFFSET(HOST_DIRECTORY, offsetof(Host, directory));
    OFFSET(HOST_CLEAN, offsetof(Host, clean));
}
