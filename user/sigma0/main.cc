// SPDX-License-Identifier: BSD-2-Clause
// sigma0: the first program, pager of the root server and source of all memory (manual 7.6).
//
// It answers three kinds of messages: requests for memory or ports (label 0xFFA0), page faults (0xFFE.), and from the
// root server the extended protocol (0xC170: MR1 = 1 sets the verbosity to MR2, MR1 = 2 prints the book and answers if
// MR2 is not 0). Everything else, and anything malformed, gets no answer: a wrong caller waits for its own timeout.
#include "pool.h"

#include <cobnut/pager.h>
#include <cobnut/program.h>
#include <l4/misc.h>
#include <l4/sigma0.h>
#include <l4/space.h>

namespace {

constinit sigma0::Pool pool;
constinit sigma0::Pool port_pool; // a port is a page of this one: given to the first that asks, as devices' memory is
constinit L4_ThreadId_t root_server = {};
constinit L4_Word_t verbosity = 0;
constinit unsigned refusals_to_report = 8; // a refused fault comes again at once: do not flood the console

/// A PC's interrupt controllers and clock: they are the kernel's. A program that stopped the ticks would have the
/// processor for ever.
constexpr sigma0::Range kernel_ports[] = {{0x20, 0x21}, {0x40, 0x43}, {0xA0, 0xA1}};

constexpr L4_Word_t any_base = 0xFFFFFC00;

sigma0::Memory memory_type(L4_MemoryDesc_t *descriptor)
{
    switch (L4_MemoryDescType(descriptor) & 0xF) {
    case 1: return sigma0::Memory::conventional;
    case 2: return sigma0::Memory::reserved;
    case 3: return sigma0::Memory::dedicated;
    case 4: return sigma0::Memory::shared;
    case 14: return sigma0::Memory::boot_loader;
    case 15: return sigma0::Memory::architecture;
    default: return sigma0::Memory::undefined;
    }
}

/// Whole pages of a server's image. Loaders differ in whether `high` is the last byte or the one after it.
sigma0::Range image(const L4_KernelRootServer_t &server) { return {server.low & ~0xFFFu, (server.high - 1) | 0xFFFu}; }

void read_kernel_interface()
{
    void *page = L4_GetKernelInterface();
    const auto *kip = static_cast<const L4_KernelInterfacePage_t *>(page);
    L4_Word_t user_end = 0;
    for (L4_Word_t i = 0; i < L4_NumMemoryDescriptors(page); i++) {
        L4_MemoryDesc_t *d = L4_MemoryDesc(page, i);
        const sigma0::Range range{L4_MemoryDescLow(d), L4_MemoryDescHigh(d)};
        if (!L4_IsMemoryDescVirtual(d)) {
            if (!pool.describe(range, memory_type(d))) cobnut::print("sigma0: too many memory descriptors\n");
        } else if (memory_type(d) == sigma0::Memory::conventional && range.high + 1 > user_end) {
            user_end = range.high + 1;
        }
    }
    // Memory that no user address can name is of no use to a program that asks for any.
    pool.limit_any(user_end ? user_end : 0xC0000000);
    root_server = L4_GlobalId(L4_ThreadIdUserBase(page) + 2, 1);
    if (kip->sigma0.high > kip->sigma0.low) pool.describe(image(kip->sigma0), sigma0::Memory::reserved);
    if (kip->root_server.high > kip->root_server.low) {
        pool.describe(image(kip->root_server), sigma0::Memory::boot_loader);
        pool.assign(root_server.raw, image(kip->root_server));
    }
}

/// Loads the answer that maps f one to one; Nilpage is the refusal.
void load_reply(L4_Fpage_t f)
{
    const L4_MapItem_t item = L4_MapItem(L4_IsNilFpage(f) ? f : f + L4_FullyAccessible,
                                         L4_IsNilFpage(f) || L4_IsIoFpage(f) ? 0 : L4_Address(f));
    cobnut::load_answer(item);
}

/// Caches what was asked for as asked for. False if this processor cannot.
bool set_attribute(L4_Fpage_t f, L4_Word_t attribute)
{
    static constinit bool ever_set = false;
    if (attribute == L4_DefaultMemory && !ever_set) return true;
    ever_set = true;
    // The kernel takes over pages that sigma0 has never touched from as much as this at a time.
    constexpr L4_Word_t piece_log2 = 22;
    if (L4_SizeLog2(f) <= piece_log2) return L4_Set_PageAttribute(f, attribute);
    for (L4_Word_t at = 0; at < L4_Size(f); at += 1u << piece_log2)
        if (!L4_Set_PageAttribute(L4_FpageLog2(L4_Address(f) + at, piece_log2), attribute)) return false;
    return true;
}

/// Whether the processor has the attribute; tried on an address where no memory can be.
bool have_attribute(L4_Word_t attribute)
{
    return attribute == L4_DefaultMemory || L4_Set_PageAttribute(L4_FpageLog2(0xFFFFF000, 12), attribute);
}

void keep_kernel_ports()
{
    constexpr L4_Word_t log2 = sigma0::Pool::page_log2;
    for (const auto [first, last] : kernel_ports)
        port_pool.describe({first << log2, ((last + 1) << log2) - 1}, sigma0::Memory::reserved);
}

L4_Fpage_t serve_ports(L4_ThreadId_t from, L4_Fpage_t wanted)
{
    constexpr L4_Word_t all_log2 = 16;
    const L4_Word_t port = L4_IoFpagePort(wanted), log2 = L4_IoFpageSizeLog2(wanted), page = sigma0::Pool::page_log2;
    if (log2 > all_log2 || port & ((1u << log2) - 1)) return L4_Nilpage;
    return port_pool.take(from.raw, port << page, log2 + page) ? L4_IoFpageLog2(port, static_cast<int>(log2))
                                                               : L4_Nilpage;
}

L4_Fpage_t serve_request(L4_ThreadId_t from, L4_Fpage_t wanted, L4_Word_t attribute, L4_Word_t high_address)
{
    if (L4_IsIoFpage(wanted)) return serve_ports(from, wanted);
    // Bit 3 asks for memory above 4 GB.
    if ((wanted.X.extended && high_address) || !have_attribute(attribute)) return L4_Nilpage;
    const L4_Word_t log2 = wanted.X.s;
    L4_Word_t base = wanted.raw & any_base;
    if (base == any_base) {
        if (!pool.take_any(from.raw, log2, base)) return L4_Nilpage;
    } else {
        base = L4_Address(wanted);
        if (!pool.take(from.raw, base, log2)) return L4_Nilpage;
    }
    const L4_Fpage_t f = L4_FpageLog2(base, static_cast<int>(log2));
    return set_attribute(f, attribute) ? f : L4_Nilpage;
}

L4_Fpage_t serve_fault(L4_ThreadId_t from, L4_Word_t address)
{
    const L4_Word_t base = address & ~0xFFFu;
    return pool.take_fault(from.raw, base) ? L4_FpageLog2(base, 12) : L4_Nilpage;
}

void dump()
{
    cobnut::print("sigma0: %u KB free\n", static_cast<unsigned>(pool.free_bytes() >> 10));
    for (size_t i = 0; i < pool.extents(); i++)
        cobnut::print("sigma0: %08x-%08x owned by %08x\n", pool.extent(i).low, pool.extent(i).high,
                      pool.extent(i).owner);
}

/// Handles one message; true if MR0.. hold an answer to it.
bool serve(L4_ThreadId_t from, L4_MsgTag_t tag)
{
    const L4_Word_t label = L4_Label(tag), u = L4_UntypedWords(tag);
    L4_Word_t mr[4] = {};
    L4_StoreMRs(1, 3, mr + 1);
    if (L4_TypedWords(tag) != 0) return false;
    if (label == L4_SIGMA0_LABEL && (u == 2 || u == 3)) {
        const L4_Fpage_t granted = serve_request(from, L4_Fpage_t{.raw = mr[1]}, mr[2], u == 3 ? mr[3] : 0);
        if (verbosity) cobnut::print("sigma0: %08x asks for %08x, gets %08x\n", from.raw, mr[1], granted.raw);
        load_reply(granted);
        return true;
    }
    if (cobnut::is_page_fault(tag) && u == 2) {
        const L4_Fpage_t granted = serve_fault(from, mr[1]);
        const bool report = L4_IsNilFpage(granted) && refusals_to_report;
        if (report) refusals_to_report--;
        if (verbosity || report)
            cobnut::print("sigma0: %08x faults at %08x, ip %08x: %s\n", from.raw, mr[1], mr[2],
                          L4_IsNilFpage(granted) ? "refused" : "mapped");
        load_reply(granted);
        return true;
    }
    if (label == L4_SIGMA0_EXTENDED_LABEL && from == root_server && u >= 1) {
        if (mr[1] == 1 && u >= 2) verbosity = mr[2];
        if (mr[1] == 2) {
            dump();
            if (u >= 2 && mr[2]) {
                L4_Set_MsgTag(L4_Niltag);
                return true;
            }
        }
    }
    return false;
}

} // namespace

int cobnut_main(const char *)
{
    read_kernel_interface();
    keep_kernel_ports();
    L4_Accept(L4_UntypedWordsAcceptor);
    L4_ThreadId_t from;
    L4_MsgTag_t tag = L4_Wait(&from);
    for (;;) {
        if (L4_IpcSucceeded(tag) && serve(from, tag)) {
            tag = L4_ReplyWait(from, &from);
            if (L4_IpcSucceeded(tag)) continue;
        }
        // No answer, or one that its receiver did not accept.
        tag = L4_Wait(&from);
    }
}
