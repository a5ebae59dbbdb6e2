# SPDX-License-Identifier: GPL-2.0-or-later
"""`./cobnut linux`: Debian's Linux as a server on this kernel, or natively beside it, with programs from Debian's
packages.

source, patching and server make the server from Debian's sources, native fetches Debian's own kernel; images, rootfs
and initrd make a guest's file system, verdict tells how a guest ended, and guest puts all of it together.
"""
