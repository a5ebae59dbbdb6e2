/* SPDX-License-Identifier: GPL-2.0 */
#ifndef __COBNUT_STUB_H
#define __COBNUT_STUB_H

#define STUB_DONE	0x81

/* offsets in the page */
#define STUB_LOAD_GS	0x10
#define STUB_LOAD_FS	0x20
#define STUB_FXSAVE	0x30
#define STUB_FXRSTOR	0x40
#define STUB_FSAVE	0x50
#define STUB_FRSTOR	0x60
#define STUB_BREAKPOINTS	0x70
#define STUB_STATUS	0xA0

#endif
