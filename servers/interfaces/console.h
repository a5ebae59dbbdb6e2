// SPDX-License-Identifier: BSD-2-Clause
// The serial console, as the service `console` of its driver.
#pragma once

#include <rpc/rpc.h>

struct Console {
    using Text = rpc::Bytes<192>;

    /// Writes text; returns when it is in the device's hands.
    using Write = rpc::Operation<0x100, rpc::Nothing(Text)>;
    /// What has been typed since the last Read; waits until that is something. Errors: full (another client waits).
    using Read = rpc::Operation<0x101, Text()>;

    using Operations = rpc::List<Write, Read>;
};
