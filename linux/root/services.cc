// SPDX-License-Identifier: BSD-2-Clause
// services.h says for C what the interfaces say.
#include <interfaces/disk.h>
#include <interfaces/display.h>
#include <interfaces/init.h>
#include <interfaces/input.h>
#include <interfaces/nic.h>

#include <services.h>

static_assert(init::Open::number == INIT_OPEN && init::Create::number == INIT_CREATE);
static_assert(init::Attach::number == INIT_ATTACH && init::Pass::number == INIT_PASS);
static_assert(init::MakeThread::number == INIT_MAKE_THREAD && init::page_size == SERVICE_PAGE);
static_assert(init::Detach::number == INIT_DETACH && Nic::Begin::number == NIC_BEGIN);
static_assert(Nic::Wait::number == NIC_WAIT && Nic::Kick::number == NIC_KICK);
static_assert(sizeof(Nic::Card) == 4 * sizeof(rpc::Word) && sizeof(NicMemory) == sizeof(nic_memory));
static_assert(offsetof(FrameRing, frames) == offsetof(frame_ring, frames));
static_assert(offsetof(FrameRing, sizes) == offsetof(frame_ring, sizes));
static_assert(offsetof(FrameRing, emptied) == offsetof(frame_ring, emptied));
static_assert(offsetof(FrameRing, tell) == offsetof(frame_ring, tell));
static_assert(FrameRing::slots == FRAME_SLOTS && FrameRing::room == FRAME_ROOM);
static_assert(Disk::Open::number == DISK_OPEN && Disk::Buffer::number == DISK_BUFFER);
static_assert(Disk::Read::number == DISK_READ && Disk::Write::number == DISK_WRITE);
static_assert(Disk::Flush::number == DISK_FLUSH);
static_assert(Disk::block_size == DISK_BLOCK && Disk::most_blocks == DISK_MOST_BLOCKS);
static_assert(Display::SetMode::number == DISPLAY_SET_MODE && Display::Show::number == DISPLAY_SHOW);
static_assert(Input::Read::number == INPUT_READ && Input::most == INPUT_MOST);
static_assert(sizeof(Input::Events) == sizeof(input_events));
static_assert(static_cast<rpc::Word>(Input::Kind::released) == INPUT_RELEASED);
static_assert(static_cast<rpc::Word>(Input::Kind::moved) == INPUT_MOVED);
static_assert(static_cast<rpc::Word>(rpc::Error::dead) == SERVICE_DEAD);
static_assert(static_cast<rpc::Word>(rpc::Error::not_found) == SERVICE_NOT_FOUND);
static_assert(static_cast<rpc::Word>(rpc::Error::not_running) == SERVICE_NOT_RUNNING);
