// SPDX-License-Identifier: BSD-2-Clause
// Between the test runner and the agents; tests include harness.h only.
#ifndef COBNUT_X2TEST_RUN_H
#define COBNUT_X2TEST_RUN_H

namespace x2test {

/// Deletes all agents and takes back what they got from the arena; after each test.
void remove_all_agents();

} // namespace x2test
#endif
