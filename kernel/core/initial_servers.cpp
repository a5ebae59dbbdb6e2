// SPDX-License-Identifier: BSD-2-Clause
#include "core/initial_servers.hpp"

#include "core/arch.hpp"
#include "core/kip.hpp"
#include "core/schedule.hpp"
#include "core/space.hpp"

namespace initial_servers {
namespace {

constexpr unsigned utcb_area_log2 = 17;
constexpr Word priority = 255;

bool create(const kip::Server& server, ThreadId id, ThreadId pager, ThreadId scheduler, bool idempotent) {
    VAddr limit = paging::user_limit();
    Space* space = spaces::create();
    Thread* t = space ? threads::create(id, *space) : nullptr;
    if (!t || !arch::equip_server(*space)) return false;
    space->privileged = true;
    space->account.limit = memory::unlimited;
    space->idempotent = idempotent;
    space->kip_area = Fpage::memory(limit - 0x100000, kip::area_log2);
    space->utcb_area = arch::place_utcb_area(*space, Fpage::memory(limit - 0x1000000, utcb_area_log2));
    t->utcb_address = space->utcb_area.base() + Utcb::id_offset;
    if (!threads::equip(*t, pager) || !arch::map_kernel_page(*space, space->kip_area.base(), arch::kip_page(), false))
        return false;
    t->scheduler = scheduler;
    t->priority = priority;
    schedule::set_timeslice(*t, schedule::default_timeslice);
    arch::set_user_ip(*t, server.ip);
    arch::set_user_sp(*t, server.sp);
    schedule::make_ready(*t);
    return true;
}

}  // namespace

void start() {
    ThreadId sigma0 = ThreadId::global(kip::user_base, 1), sigma1 = ThreadId::global(kip::user_base + 1, 1);
    ThreadId root = ThreadId::global(kip::user_base + 2, 1);
    auto start_one = [&](const kip::Server& server, ThreadId id) {
        if (server.high <= server.low) return;
        if (!create(server, id, id == sigma0 ? ThreadId::nil() : sigma0, root, id == sigma0))
            arch::stop("out of kernel memory at the first thread");
    };
    start_one(kip::kip.sigma0, sigma0);
    start_one(kip::kip.sigma1, sigma1);
    start_one(kip::kip.root, root);
}

}  // namespace initial_servers
