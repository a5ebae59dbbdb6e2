// SPDX-License-Identifier: BSD-2-Clause
// A client that tests the server; it ends with the number of checks that have failed.
#include "tally.h"

#include <system/check.h>
#include <system/system.h>

using cobnut::check, rpc::Error, rpc::Word;

int cobnut_main(const char *)
{
    cobnut::Session session("tally");
    check(session.call<Tally::Add>(Word{2}).value == 2, "the first amount is the sum");
    check(session.call<Tally::Add>(Word{3}).value == 5, "the second one is added");
    check(session.call<Tally::Add>(Tally::most).error == Error::bad_value, "a sum that is too large");
    check(session.call<Tally::Add>(Word{0}).value == 5, "it stays as it was");
    return cobnut::failed_checks;
}
