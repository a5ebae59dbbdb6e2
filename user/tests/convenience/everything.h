// SPDX-License-Identifier: BSD-2-Clause
// All headers that the manual names, in its order, and ours beyond them.
#include <l4/types.h>
#include <l4/kip.h>
#include <l4/message.h>
#include <l4/thread.h>
#include <l4/schedule.h>
#include <l4/space.h>
#include <l4/ipc.h>
#include <l4/misc.h>
#include <l4/bootinfo.h>
#include <l4/sigma0.h>
#include <l4/kdebug.h>
