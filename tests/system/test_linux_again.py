# SPDX-License-Identifier: GPL-2.0-or-later
"""The end of Linux as a server is no end of others: the microkernel and root live, it can be started again, and a file
system on the RAM disk that outlives it is clean after its journal.
"""

import re
from dataclasses import replace

import pytest

from cobnut.emulators import qemu
from cobnut.linux import books, guest
from cobnut.linux.books import MORE_PAGES
from cobnut.linux.guest import Wish
from conftest import LIMIT_SECONDS

MEMORY_MB, DISK_MB = 224, 16
KILLED_AFTER = 300  # threads: in the middle of what the first one does for ever
MORE_OBJECTS = 64  # of the microkernel's, where others of root's pages have been touched
# The first Linux writes until it is killed; the second finds what it wrote, and panics; the third ends.
COMMAND = """
disk=/dev/memdisk
check() { e2fsck -fn $disk >/tmp/said 2>&1; echo "checked: $?"; }
dumpe2fs -h $disk 2>/dev/null | grep -q 'volume name: *second' && { check; exit 0; }
if ! dumpe2fs -h $disk >/dev/null 2>&1; then
    mkfs.ext4 -q $disk; mount $disk /mnt; echo before >/mnt/kept; sync -f /mnt; echo formatted
    i=0
    while :; do
        i=$((i + 1)); mkdir /mnt/$i; cp /bin/true /bin/ls /mnt/$i; sync -f /mnt/$i
        [ $i -gt 8 ] && rm -rf /mnt/$((i - 8))
    done
fi
dumpe2fs -h $disk 2>/dev/null | grep -o needs_recovery; mount $disk /mnt; dmesg | grep -o 'recovery complete'
cat /mnt/kept; umount /mnt; check; tune2fs -L second $disk >/dev/null; sync
echo c >/proc/sysrq-trigger
"""


@pytest.mark.parametrize("small", ["none", "server", "all"])
def test_linux_is_started_again_and_finds_its_disk(tmp_path, small):
    boot = guest.prepare(Wish("disks", COMMAND, small=small, memory_mb=MEMORY_MB - DISK_MB), tmp_path)
    killed = guest.with_root(boot, f"disk={DISK_MB} starts=3 kill={KILLED_AFTER} later=37 {books.ASKED}")
    killed = replace(killed, memory_mb=boot.memory_mb + DISK_MB)
    ended = qemu.run(killed, timeout=LIMIT_SECONDS)
    parts = ended.console.replace("\r", "").split("the server is started again\n")
    assert len(parts) == 3 and ended.code == 0, ended.console
    assert "formatted" in parts[0] and "panic" not in parts[0], parts[0]
    assert re.search(r"needs_recovery\n.*recovery complete\nbefore\nchecked: 0\n", parts[1], re.DOTALL), parts[1]
    assert "Kernel panic - not syncing: " in parts[1] and "checked: 0" in parts[2], parts[2]
    # what the microkernel had for one server and its processes is there for the next
    told = books.told(ended.console)
    _, after_kill, after_panic, _ = told
    assert {one.faults for one in told} == {0}
    assert after_panic.pages <= after_kill.pages + MORE_PAGES, told
    assert after_panic.objects <= after_kill.objects + MORE_OBJECTS, told
