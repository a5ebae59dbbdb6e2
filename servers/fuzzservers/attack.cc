// SPDX-License-Identifier: BSD-2-Clause
#include "attack.h"

#include <cobnut/payload.h>

namespace fuzz {

void say(const char *name, const Tally &t, Word lost)
{
    cobnut_printf("fuzzservers: %s: %u requests, %u answered, %u refused, %u unanswered, %u undelivered, %u wrong, %u"
                  " lost\n",
                  name, t.requests, t.answered, t.refused, t.unanswered, t.undelivered, t.wrong, lost);
    failed = failed || t.wrong || lost;
}

} // namespace fuzz
