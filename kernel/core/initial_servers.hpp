// SPDX-License-Identifier: BSD-2-Clause
// The servers that the interface page names (manual 1.1): sigma0, sigma1 and the root server, each the first thread of
// a privileged space.
#pragma once

namespace initial_servers {

// Creates those that are to be started, ready to run. Kernel memory for them has to be there.
void start();

}  // namespace initial_servers
