// SPDX-License-Identifier: BSD-2-Clause
// attack, on ARM: everything that a user can try to read, write or execute outside of its space, one attempt after the
// other, each from a new space at the address of a victim's.
//
// Command line: only=TEXT the attempts whose names contain TEXT; leaks=1 gives the attackers a victim's memory where
// they fault, to show that this is seen. A row for each attempt, `attack: row NAME STATUS HOW`; ends with `attack: N
// attempts, M refused` and the machine off, with status 0 if these are the same.
#include "stage.h"

#include <cobnut/options.h>
#include <cobnut/program.h>

namespace attack {

constinit unsigned rows = 0, refused_rows = 0;

namespace {

void print_row(const char *name, const char *status, const Report &r)
{
    cobnut::print("attack: row %s %s ", name, status);
    if (r.silent) cobnut::print("silence\n");
    else if (r.fault) cobnut::print("fault at %x, ip %x\n", r.address, r.ip);
    else if (r.finished()) cobnut::print("its end, r0 %x\n", r.r0());
    else if (r.exception && r.words == 13) cobnut::print("software interrupt %x at %x\n", r.message[12], r.message[1]);
    else if (r.exception) cobnut::print("exception %x code %x at %x\n", r.message[4], r.message[5], r.message[1]);
    else cobnut::print("message %x %x\n", r.message[0], r.message[1]);
}

} // namespace

bool wanted(const char *name, const char *only)
{
    for (;; name++) {
        unsigned i = 0;
        while (only[i] && name[i] == only[i]) i++;
        if (!only[i]) return true;
        if (!*name) return false;
    }
}

void row(const char *name, bool refused, const Report &r)
{
    const bool intact = victims_intact();
    if (!intact) restore_victims();
    print_row(name, refused && intact ? "refused" : "escaped", r);
    rows++;
    refused_rows += refused && intact;
}

void blind(const char *name, const Report &r)
{
    print_row(name, "blind", r);
    rows++;
}

void run_scenes_of(const Scene *scenes, unsigned count, const char *only)
{
    for (unsigned i = 0; i < count; i++) {
        if (!wanted(scenes[i].name, only)) continue;
        Report r;
        const bool refused = scenes[i].refused(r);
        row(scenes[i].name, refused, r);
    }
}

} // namespace attack

int cobnut_main(const char *command_line)
{
    using namespace attack;
    const cobnut::Options options(command_line);
    bool bad = false;
    stage.leaks = options.number("leaks", 0, &bad) != 0;
    if (bad) {
        cobnut::print("attack: only=TEXT leaks=0|1\n");
        return 2;
    }
    char only[64] = {};
    const cobnut::Text text = options.find("only");
    for (size_t i = 0; i < text.size && i + 1 < sizeof only; i++) only[i] = text.data[i];
    if (static_cast<Word>(attack_page_end - attack_page) > page_size) {
        cobnut::print("attack: FAIL the attempts are longer than a page\n");
        return 1;
    }
    if (!make_victims()) {
        cobnut::print("attack: FAIL no victims: error %u\n", L4_ErrorCode());
        return 1;
    }
    run_privileged(only);
    run_accesses(only);
    run_scenes(only);
    run_edge_scenes(only);
    cobnut::print("attack: %u attempts, %u refused\n", rows, refused_rows);
    return rows && rows == refused_rows ? 0 : 1;
}
