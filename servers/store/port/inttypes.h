/* SPDX-License-Identifier: BSD-2-Clause */
/* littlefs asks for it for its messages, which are left out. */
#include <stdint.h>
