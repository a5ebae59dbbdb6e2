// SPDX-License-Identifier: BSD-2-Clause
// Frames where nothing answers: sigma0 gives them, as it cannot know what devices there are. A user that reads there
// may get an abort, and so may the kernel when it reads there in its name. The emulator never makes any; a test of the
// system has it make them (tests/system/test_bus_arm.py), and reads here what came of it.
#include "../harness.h"
#include "../strings.h"

#include <cobnut/program.h>
#include <l4/kdebug.h>
#include <l4/sigma0.h>

namespace x2test {
namespace {

constexpr Word nowhere = 0x50000000, bytes = 64;

/// Maps the frame to the agent, which may write there.
bool give_nowhere(Agent *a)
{
    const L4_ThreadId_t sigma0 = L4_GlobalId(L4_ThreadIdUserBase(L4_GetKernelInterface()), 1);
    const L4_Fpage_t f = L4_FpageLog2(nowhere, 12);
    if (L4_IsNilFpage(L4_Sigma0_GetPage(sigma0, f))) return false;
    give(a, f + L4_FullyAccessible, 0, L4_FpageLog2(free_area, 12));
    return true;
}

/// The message has arrived, or was aborted for both; and says which.
void check_outcome(const char *what)
{
    using namespace strings;
    const bool there = L4_IpcSucceeded(L4_MsgTag_t{.raw = message.sent});
    CHECK(there ? arrived() : failed(aborted, aborted, 0));
    cobnut::print("bus: %s %s\n", what, there ? "arrived" : "aborted");
}

/// Whatever has become of one message, the next one is as ever.
void check_next(Agent *sender, Agent *receiver)
{
    using namespace strings;
    prepare(bytes);
    transfer(sender, receiver);
    CHECK(arrived());
    expect(0, 0, bytes);
    CHECK(target_as_expected());
}

void strings_from_nowhere()
{
    Agent *sender = agent(Kind::other), *receiver = agent(Kind::other);
    if (!sender || !receiver) return;
    CHECK(give_nowhere(sender));
    for (int i = 0; i < 3; i++) {
        strings::clear();
        strings::send(free_area + 4, bytes);
        strings::accept(strings::target(), bytes);
        strings::transfer(sender, receiver);
        check_outcome("from");
        check_next(sender, receiver);
    }
}

void strings_to_nowhere()
{
    Agent *sender = agent(Kind::other), *receiver = agent(Kind::other);
    if (!sender || !receiver) return;
    CHECK(give_nowhere(receiver));
    for (int i = 0; i < 3; i++) {
        strings::clear();
        strings::send(strings::source(), bytes);
        strings::accept(free_area, bytes);
        strings::transfer(sender, receiver);
        check_outcome("to");
        check_next(sender, receiver);
    }
}

Word do_print(Word address, Word, Word)
{
    __L4_KDB(__L4_KDB_PRINT_STRING, address);
    return 1;
}

/// A text for the debug console ends where nothing can be read.
void text_from_nowhere()
{
    Agent *a = agent(Kind::other);
    if (!a) return;
    CHECK(give_nowhere(a));
    CHECK_EQUAL(ask(a, do_print, free_area).value, 1);
    CHECK_EQUAL(ask(a, do_print, free_area + 1).value, 1);
}

} // namespace

const Test bus_tests[] = {
    {"bus.strings_from_nowhere", strings_from_nowhere},
    {"bus.strings_to_nowhere", strings_to_nowhere},
    {"bus.text_from_nowhere", text_from_nowhere},
    {nullptr, nullptr},
};

} // namespace x2test
