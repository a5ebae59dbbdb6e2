// SPDX-License-Identifier: BSD-2-Clause
// attack: everything that a user can try to read, write or execute outside of its space, one attempt after the other,
// each from a new space between two small ones, and from a large one.
//
// Command line: limits=1 this machine enforces segment limits, area=MB the kernel's small-space area, only=TEXT the
// attempts whose names contain TEXT, kinds=small|large one kind of attacker. placed=automatic: one kind, whose slots
// the kernel chooses, in an area that is too small for all, while slots change hands. placed=bound: one kind, bound to
// a victim's page directory. Ends with `attack: N attempts, M refused, ...` and the machine off, with status 0 if only
// what this machine does not enforce was not refused.
#include "judge.h"
#include "movers.h"

#include <cobnut/options.h>
#include <cobnut/program.h>
#include <initializer_list>

namespace attack {
namespace {

/// The stub of the IPC call pops its return address first where it uses sysenter.
bool kernel_is_entered_by_sysenter()
{
    const Word kip = __L4_Kip_Base();
    return *reinterpret_cast<const unsigned char *>(kip + *reinterpret_cast<const Word *>(kip + L4_KIP_IPC)) == 0x5B;
}

void run_all(bool small, const char *only)
{
    run_attempts(small, only);
    for (const Trial *trials : {entry_trials, frame_trials, port_trials, string_trials, table_trials})
        run_trials(trials, small, only);
}

} // namespace
} // namespace attack

int cobnut_main(const char *command_line)
{
    using namespace attack;
    const cobnut::Options options(command_line);
    bool bad = false;
    stage.controller = L4_Myself();
    stage.area_mb = options.number("area", stage.area_mb, &bad);
    stage.limits = options.number("limits", 0, &bad) != 0;
    stage.sysenter = kernel_is_entered_by_sysenter();
    char only[64] = {};
    const cobnut::Text text = options.find("only"), kinds = options.find("kinds"), where = options.find("placed");
    stage.automatic = where == "automatic";
    stage.bound = where == "bound";
    for (size_t i = 0; i < text.size && i + 1 < sizeof only; i++) only[i] = text.data[i];
    bad = bad || stage.area_mb < 64 || (where && !stage.automatic && !stage.bound);
    if (bad || (kinds && !(kinds == "small") && !(kinds == "large"))) {
        cobnut::print("attack: limits=0|1 area=MB only=TEXT kinds=small|large placed=automatic|bound\n");
        return 2;
    }
    if (!make_victims()) {
        cobnut::print("attack: no victims: error %u\n", L4_ErrorCode());
        return 1;
    }
    if (stage.automatic && !make_movers()) {
        cobnut::print("attack: no movers: error %u\n", L4_ErrorCode());
        return 1;
    }
    if (!(kinds == "large")) run_all(true, only);
    if (!(kinds == "small") && !where) run_all(false, only);
    cobnut::print("attack: placed %u exclusive, %u bound, %u large, %u changed\n", placed.exclusive, placed.bound,
                  placed.large, placed.changed);
    cobnut::print("attack: %u attempts, %u refused, %u past limits that this machine does not enforce\n", rows,
                  refused_rows, unenforced_rows);
    return rows && rows == refused_rows + unenforced_rows ? 0 : 1;
}
