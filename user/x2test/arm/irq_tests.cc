// SPDX-License-Identifier: BSD-2-Clause
// Which interrupt lines there are (manual 7.2). What a line tells its thread is tried by drivers, with their devices.
#include "../harness.h"

namespace x2test {
namespace {

/// All that the controller has, but for the kernel's clock; the numbers behind them are no lines.
void all_lines()
{
    const Word lines = L4_ThreadIdSystemBase(L4_GetKernelInterface());
    CHECK_EQUAL(lines, 32);
    Word refused = 0;
    for (Word line = 0; line < lines; line++) {
        const L4_ThreadId_t one = L4_GlobalId(line, 1);
        if (!L4_AssociateInterrupt(one, main_id)) {
            CHECK_EQUAL(L4_ErrorCode(), L4_ErrInvalidThread);
            refused++;
            continue;
        }
        CHECK(L4_Set_Priority(one, 200) != 0);
        CHECK(L4_DeassociateInterrupt(one));
    }
    CHECK_EQUAL(refused, 1);
    CHECK_EQUAL(L4_AssociateInterrupt(L4_GlobalId(lines, 1), main_id), 0);
    CHECK_EQUAL(L4_ErrorCode(), L4_ErrInvalidThread);
}

} // namespace

const Test irq_tests[] = {
    {"irq.all_lines", all_lines},
    {nullptr, nullptr},
};

} // namespace x2test
