// SPDX-License-Identifier: BSD-2-Clause
// The order of the boot: kernel's part of the address space, console, boot loader's work, kernel memory, servers.
#include "arm/board.hpp"
#include "arm/caches.hpp"
#include "arm/host.hpp"
#include "arm/loader.hpp"
#include "arm/page_tables.hpp"
#include "core/arch.hpp"
#include "core/initial_servers.hpp"
#include "core/kip.hpp"
#include "core/memory.hpp"
#include "core/print.hpp"
#include "core/string.hpp"

extern "C" char vectors_source[], vectors_bytes[];

namespace arch {
void initialise_thread_table();
}

namespace {

void take_memory(PAddr first, PAddr last) {
    page_tables::cache_window(first, last);
    memory::add(host::reserve(first, last), last);
}

void describe_kernel() {
    constexpr PAddr devices[] = {KERNEL_DEVICES};
    bool room = kip::describe(kip::reserved, RAM_BASE, RAM_BASE + IMAGE_BYTES - 1) &&
                kip::describe(kip::conventional | kip::virtual_memory, 0, paging::user_limit() - 1);
    // A space with the interrupt controller or the clock could keep the processor for ever.
    for (PAddr page : devices) room = room && kip::describe(kip::reserved, page, page + page_mask);
    if (!room) arch::stop("the memory map is too long");
}

}  // namespace

extern "C" void boot_main(PAddr tags) {
    memcpy(reinterpret_cast<void*>(VECTORS), vectors_source, reinterpret_cast<Word>(vectors_bytes));
    page_tables::initialise();
    caches::invalidate_instructions();
    board::initialise_console();
    loader::Memory kernel_memory = loader::load(tags);
    take_memory(kernel_memory.first, kernel_memory.last);
    arch::initialise_thread_table();
    describe_kernel();
    board::initialise();
    print("Cobnut: ", memory::pages_total() / 256, " MB kernel memory\n");
    initial_servers::start();
    // Users see the interface page at addresses of their own.
    caches::clean_and_invalidate_data();
}
