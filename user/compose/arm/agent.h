/* SPDX-License-Identifier: BSD-2-Clause */
/* What the attackers' code (agent.S) and the controller share: labels of messages, and which message registers carry
 * what. */
#ifndef COBNUT_COMPOSE_AGENT_H
#define COBNUT_COMPOSE_AGENT_H

#define AGENT_REPORT_LABEL 0x0C05
#define AGENT_ECHO_LABEL 0x0EC0
/* An order: MR1 where it goes on, MR2 and MR3 what it needs, MR4 the order's number; the report has MR1 to MR3 and that
 * number. More parameters: */
#define AGENT_MORE 5
#define AGENT_MOST_MORE 8
/* where the code in a page of memory begins, which gives the page's first word in R5 */
#define AGENT_PAGE_CODE 0x7F8
#endif
