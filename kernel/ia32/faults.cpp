// SPDX-License-Identifier: BSD-2-Clause
// Faults of user threads that are not what they seem: a directory entry of a small space not yet copied, an access past
// a small space's limit, registers of a foreign thread, ports, calls of the debug console.
#include "core/arch.hpp"
#include "core/books.hpp"
#include "core/console.hpp"
#include "core/ipc.hpp"
#include "core/kip.hpp"
#include "core/mapping.hpp"
#include "core/print.hpp"
#include "core/schedule.hpp"
#include "core/space.hpp"
#include "core/string.hpp"
#include "ia32/board.hpp"
#include "ia32/cpu.hpp"
#include "ia32/debug_registers.hpp"
#include "ia32/descriptors.hpp"
#include "ia32/layout.hpp"
#include "ia32/page_tables.hpp"
#include "ia32/port_bitmap.hpp"
#include "ia32/small_space.hpp"
#include "ia32/tls.hpp"
#include "ia32/trap.hpp"
#include "slots/policy.hpp"

namespace user_memory {

Word read(Space& space, VAddr from, void* to, Word bytes) {
    Word done = 0;
    while (done < bytes) {
        paging::Page page = paging::get(space, from & ~page_mask);
        if (!page.present) break;
        Word n = page_size - (from & page_mask);
        if (n > bytes - done) n = bytes - done;
        const char* bytes_there = page_tables::frame_bytes(page.frame, READ_PAGE, page_tables::present);
        memcpy(static_cast<char*>(to) + done, bytes_there + (from & page_mask), n);
        done += n, from += n;
    }
    return done;
}

}  // namespace user_memory

namespace faults {
namespace {

enum PageFaultBits : Word { fault_write = 2 };

// The instruction at a thread's IP, after its prefixes.
struct Instruction {
    unsigned char byte[15];
    Word length = 0;  // bytes that could be read
    Word at = 0;  // the opcode
    bool operand16 = false;
    unsigned char segment = 0;  // the prefix that names another segment

    explicit Instruction(const Thread& t) {
        length = user_memory::read(*t.space, t.frame.eip, byte, sizeof byte);
        for (; at < length; ++at) {
            unsigned char b = byte[at];
            bool segment_prefix = b == 0x26 || b == 0x2e || b == 0x36 || b == 0x3e || b == 0x64 || b == 0x65;
            if (b == 0x66) operand16 = true;
            if (segment_prefix) segment = b;
            if (!segment_prefix && b != 0x66 && b != 0x67 && b != 0xf0 && b != 0xf2 && b != 0xf3) break;
        }
    }
    unsigned char opcode() const { return at < length ? byte[at] : 0; }
    unsigned char second() const { return at + 1 < length ? byte[at + 1] : 0; }
    unsigned char third() const { return at + 2 < length ? byte[at + 2] : 0; }

    bool string_port_io() const { return opcode() >= 0x6c && opcode() <= 0x6f; }
    bool port_io() const {
        unsigned char op = opcode();
        return (op >= 0xe4 && op <= 0xe7) || (op >= 0xec && op <= 0xef) || string_port_io();
    }
    // Raises #GP(0) whatever its operands are: privileged instructions. All others that raise it use a port, name an
    // address past a segment limit, or a segment register without a segment.
    bool privileged() const {
        unsigned char op = opcode();
        if (op == 0xf4 || op == 0xfa || op == 0xfb) return true;  // hlt, cli, sti
        if (op != 0x0f) return false;
        unsigned char two = second();
        return two <= 0x01 || two == 0x06 || (two >= 0x08 && two <= 0x09) || (two >= 0x20 && two <= 0x23) ||
               two == 0x30 || two == 0x32 || two == 0x33 || two == 0x34 || two == 0x35;
    }
};

// Threads of the initial servers may access the model-specific registers (manual A.9). An access to a register that
// the processor does not have faults here; kernel_trap passes that on.
[[gnu::noinline, gnu::noclone]] bool msr_access(Thread& t, const Instruction& i) {
    if (i.opcode() != 0x0f || (i.second() != 0x30 && i.second() != 0x32) || !t.space->privileged) return false;
    Registers& r = t.registers;
    if (i.second() == 0x30) asm volatile(".globl msr_write; msr_write: wrmsr" : : "c"(r.ecx), "a"(r.eax), "d"(r.edx));
    else asm volatile(".globl msr_read; msr_read: rdmsr" : "=a"(r.eax), "=d"(r.edx) : "c"(r.ecx));
    t.frame.eip += i.at + 2;
    return true;
}

// mov between a general and a debug register.
bool debug_access(Thread& t, const Instruction& i) {
    bool to_debug = i.second() == 0x23;
    if (i.opcode() != 0x0f || (i.second() != 0x21 && !to_debug)) return false;
    Word operands = i.third(), number = operands >> 3 & 7, general = operands & 7;
    Word* own = debug_registers::find(t, number);
    if (!own) return false;
    // popa's order is that of their numbers, from the end.
    Word& r = general == 4 ? t.frame.esp : (&t.registers.eax)[-static_cast<int>(general)];
    if (!to_debug) {
        r = *own;
    } else {
        *own = debug_registers::permitted(number, r);
        if (t.fast_veto & held_debug) debug_registers::release();
    }
    t.frame.eip += i.at + 3;
    return true;
}

enum class PortAccess { dealt_with, denied, not_the_port };

// The processor has refused a port (IOPL is 0): the I/O bitmap is not in force yet, or the pager has to be asked. The
// debug console's ports are open to all spaces but controlled ones, as its system calls are: programs for kernels that
// run users at IOPL 3 print through them. Such an access is carried out here.
PortAccess port_access(Thread& t, const Instruction& i) {
    unsigned char op = i.opcode();
    bool immediate = op >= 0xe4 && op < 0xe8, out = op & 2;
    unsigned log2 = !(op & 1) ? 0 : i.operand16 ? 1 : 2;
    Word port = immediate ? i.second() : t.registers.edx & 0xffff;
    ports::Range range{port, port + (1u << log2) - 1};
    if (range.last > ports::all.last) return PortAccess::denied;
    if (ports::held(*t.space, range))
        return port_bitmap::open(t, range) ? PortAccess::dealt_with : PortAccess::not_the_port;
    if (log2 || i.string_port_io() || t.space->controlled || !board::console_port(port, out)) {
        ipc::port_fault(t, Fpage::io(port, log2));
        return PortAccess::dealt_with;
    }
    Word& eax = t.registers.eax;
    out ? cpu::out8(port, eax) : void(eax = (eax & ~0xffu) | cpu::in8(port));
    t.frame.eip += i.at + (immediate ? 2 : 1);
    return PortAccess::dealt_with;
}

bool standard_selectors(const Thread& t, Word ds, Word es) {
    auto own = [&](Word selector) { return t.arch.tls.set && selector == USER_TLS; };
    Word fs = cpu::fs_selector(), gs = cpu::gs_selector();
    return ds == USER_DATA && es == USER_DATA && (fs == USER_DATA || own(fs)) && (gs == tls::gs_without(t) || own(gs));
}

// The segment register that a prefix names; null beside a TLS segment (tls::gs_without).
Word named_selector(const Instruction& i) {
    return i.segment == 0x64 ? cpu::fs_selector() : i.segment == 0x65 ? cpu::gs_selector() : USER_DATA;
}

}  // namespace

void raise(Thread& t, Word vector, Word error) { ipc::exception(t, vector, error); }

Thread* page_fault(Thread& t, VAddr linear, Word error) {
    // The Pentium erratum: it should have raised this exception instead (descriptors.cpp).
    if (linear / sizeof(Descriptor) == IDT_PAGE / sizeof(Descriptor) + vector_invalid_opcode)
        return raise(t, vector_invalid_opcode, 0), nullptr;
    Space& space = *t.space;
    VAddr address = linear;
    if (space.arch.slot.small()) {
        address = linear - space.arch.slot.base;
        if (address >= space.arch.slot.size) {
            // Beyond the limit: on a processor (or emulator) that does not enforce it.
            return slots::outgrow(space, address), nullptr;
        }
        if (small_space::copy_entry(space, address)) return nullptr;
    } else if (page_tables::match_global_bits(space, address)) {
        return nullptr;
    }
    if (space.idempotent && !paging::get(space, address & ~page_mask).present && mappings::materialise(space, address))
        return nullptr;
    Word rights = error & fault_write ? right_write : right_read;
    Thread* pager = tell_pager(t, address, rights);
    if (!pager) ipc::page_fault(t, address, rights);
    return pager;
}

bool protection(Thread& t, Word error, Word ds, Word es) {
    if (error) return false;
    Instruction i(t);
    if (i.privileged()) return msr_access(t, i) || debug_access(t, i);
    PortAccess access = i.port_io() ? port_access(t, i) : PortAccess::not_the_port;
    if (access != PortAccess::not_the_port) return access == PortAccess::dealt_with;
    // The way out loads all user segment registers: if one was foreign, repeat the instruction.
    if (!standard_selectors(t, ds, es)) return true;
    Word selector = named_selector(i);
    if (selector == USER_TLS && tls::turn(t)) return true;
    if (!selector || !t.space->arch.slot.small()) return false;
    slots::outgrow(*t.space);
    t.arch.tls.turned = 0;
    return true;
}

// lock nop is KernelInterface (sheet 2.5).
bool invalid_opcode(Thread& t) {
    unsigned char code[2];
    if (user_memory::read(*t.space, t.frame.eip, code, 2) != 2 || code[0] != 0xf0 || code[1] != 0x90) return false;
    t.registers.eax = t.space->kip_area.base();
    t.registers.ecx = kip::kip.api_version;
    t.registers.edx = kip::kip.api_flags;
    t.registers.esi = *reinterpret_cast<Word*>(reinterpret_cast<char*>(&kip::kip) + kip::kip.kernel_desc);
    t.frame.eip += 2;
    return true;
}

// int3 and an instruction that says what is wanted (sheet 6.9): cmp $n, %al; or a jump over the load of a text's
// address. Threads of controlled spaces have none of these. `audit` is Cobnut's own, for the initial servers: EAX
// faults in the kernel's books (core/books.hpp), ECX pages, EDX objects, ESI unused pages.
bool breakpoint(Thread& t) {
    enum Request { print_char = 0, print_string = 1, read_char = 8, read_char_blocked = 0xd, audit = 0x40 };
    constexpr unsigned char cmp_al = 0x3c, jmp_short = 0xeb, mov_eax = 0xb8;
    if (t.space->controlled) return false;
    unsigned char code[7];
    Word length = user_memory::read(*t.space, t.frame.eip, code, sizeof code);
    Word& eax = t.registers.eax;
    if (length == sizeof code && code[0] == jmp_short && code[2] == mov_eax) {
        console::print_text(t,
            static_cast<Word>(code[3] | code[4] << 8 | code[5] << 16) | static_cast<Word>(code[6]) << 24, true);
        return true;
    }
    if (length < 2 || code[0] != cmp_al) return false;
    switch (code[1]) {
    case print_char:
        // If the port is busy the int3 is repeated, not to wait with interrupts off.
        if (arch::console_ready()) print(static_cast<char>(eax));
        else t.frame.eip -= 1;
        return true;
    case print_string: console::print_text(t, eax, false); return true;
    case read_char: eax = static_cast<Word>(arch::console_get()); return true;
    case read_char_blocked: {
        int c = arch::console_get();
        if (c >= 0) {
            eax = static_cast<Word>(c);
        } else {
            // No input yet: other threads run, then the int3 is repeated.
            t.frame.eip -= 1;
            schedule::yield(t, nullptr);
        }
        return true;
    }
    case audit: {
        if (!t.space->privileged) return false;
        books::Audit a = books::audit();
        eax = a.faults, t.registers.ecx = a.pages, t.registers.edx = a.objects, t.registers.esi = a.unused;
        return true;
    }
    default: return false;
    }
}

}  // namespace faults
