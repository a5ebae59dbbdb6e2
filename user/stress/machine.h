// SPDX-License-Identifier: BSD-2-Clause
// Where things lie, which depends on the processor.
#ifndef COBNUT_STRESS_MACHINE_H
#define COBNUT_STRESS_MACHINE_H
#include "model.h"

namespace stress {

/// Where each space has its interface page and wants its UTCBs: below 1 MB, like places of its pages.
inline constexpr Word kip_area = 0x000D0000, utcb_area = 0x000E0000, utcb_area_log2 = 14;

#ifdef __arm__

/// What holds the image (user/CMakeLists.txt says where it begins), and the root space's pages.
inline constexpr Word image_base = COBNUT_RAM_BASE + 0x00300000, image_log2 = 18;
/// How far below its place workers have the image: at 3 MB, where it is relocated with their other pages.
inline constexpr Word image_distance = image_base - 0x00300000;
/// Of all stacks of a family: each space can have its own to itself, and write there without having it taken away from
/// another.
inline constexpr Word stack_pages = spaces;
inline constexpr Word memory_area = COBNUT_RAM_BASE + 0x00800000;
/// Frames beyond the kernel's window, if there are any.
inline constexpr Word far_memory = COBNUT_RAM_BASE + 0x0F400000;
/// Where pages can be mapped: in a page table with the interface page; elsewhere below 32 MB, and where that ends;
/// where other spaces' first pages are after relocation; above 2 GB.
inline constexpr Word place_addresses[places] = {0x000F0000, 0x000F1000, 0x000FF000, 0x00100000,
                                                 0x001FF000, 0x00280000, 0x01FFF000, 0x02000000,
                                                 0x020F0000, 0x060FF000, 0x80000000, 0x800FF000};
/// The first of the two in a megabyte that no slot takes and nothing else is in.
inline constexpr Word high_place = 10;
/// So many of the last are above 32 MB.
inline constexpr Word unrelocated_places = 5;
/// PID slots that spaces are moved to at random: few, so that they change hands; and as many for those that are moved
/// on purpose.
inline constexpr Word slots_asked = 8;
/// The kernel gives spaces with the same pages at the same place one page table for them.
inline constexpr bool shared_regions = true;
/// Code that answers with the address of the interface page: KernelInterface.
inline constexpr unsigned char interface_code[] = {0x4B, 0xF0, 0xE0, 0xE3};

#else

inline constexpr Word image_base = 0x00040000, image_log2 = 18;
inline constexpr Word image_distance = 0;
inline constexpr Word stack_pages = 1;
/// Below 4 MB, since the root space is in a slot of that size for a while.
inline constexpr Word memory_area = 0x00300000;
/// A machine with 256 MB has frames here, behind the first 240 MB that the kernel reaches directly.
inline constexpr Word far_memory = 0x0F400000;
/// The first three below 1 MB, in a page table with the image; then about the ends of slots of 1 to 16 MB; the last two
/// past every slot that is asked for by name.
inline constexpr Word place_addresses[places] = {0x000F0000, 0x000F1000, 0x000FF000, 0x00100000,
                                                 0x001FF000, 0x00280000, 0x003FF000, 0x00400000,
                                                 0x007FF000, 0x00800000, 0x01800000, 0x01801000};
/// `lock nop` and a return: the kernel reads and emulates it.
inline constexpr unsigned char interface_code[] = {0xF0, 0x90, 0xC3};
inline constexpr bool shared_regions = false;

#endif

/// The address of a place, the same in each space.
constexpr Word place_address(Word place) { return place_addresses[place]; }

} // namespace stress
#endif
