# SPDX-License-Identifier: GPL-2.0-or-later
"""Linux's disk by the driver of servers/: what is written is in the image, what fsync has returned for is on the
medium, errors arrive, and a driver that dies costs time or an error, and never a hang.
"""

import os
import re
from dataclasses import replace

import pytest
import write_log
from linux_boots import console_of

from cobnut.emulators import qemu
from cobnut.linux import guest
from cobnut.linux.guest import Wish
from conftest import LIMIT_SECONDS

BLOCK, BLOCKS = 512, 32768
AT, MARK_AT, SIZE = 8, 400, 128 * 1024  # blocks of 4 KB, and bytes, of a pattern and of what is written behind it


@pytest.fixture
def image(tmp_path):
    path = tmp_path / "disk, 1.img"  # the emulators have to be told of the comma
    with open(path, "wb") as file:
        file.truncate(BLOCKS * BLOCK)
    return path


@pytest.fixture
def pattern(tmp_path):
    """A folder with a file that has no two blocks alike, and its contents."""
    folder = tmp_path / "files"
    folder.mkdir()
    (folder / "pattern").write_bytes(os.urandom(SIZE))
    return folder, (folder / "pattern").read_bytes()


def run(wish, folder, *, root="", words=(), drivers=lambda text: text):
    """Boots with further words for root and QEMU, and with drivers' modules changed; the console's lines."""
    boot = guest.with_root(guest.prepare(wish, folder), root)
    changed = [replace(one, arguments=drivers(one.arguments)) for one in boot.modules[4:]]
    boot = replace(boot, modules=(*boot.modules[:4], *changed))
    if words:
        boot = replace(boot, disk=None, words=tuple(words))
    return console_of(boot, wish.emulator)


WRITTEN = f"""
dd if=pattern of=/dev/cba bs=4k seek={AT} conv=fsync,notrunc 2>/dev/null; echo "written: $?"
blockdev --getsz /dev/cba; dd if=/dev/cba bs=4k skip={AT} count=32 iflag=direct 2>/dev/null | cmp - pattern
echo "compared: $?"
"""


@pytest.mark.parametrize("emulator", ["qemu", "bochs"])
def test_what_linux_writes_is_in_the_image(image, pattern, tmp_path, emulator):
    folder, contents = pattern
    console = run(Wish("minimal", WRITTEN, folder, disk=image, emulator=emulator), tmp_path)
    assert "written: 0\n" in console and "compared: 0\n" in console and f"\n{BLOCKS}\n" in console, console
    there = image.read_bytes()
    assert there[AT * 4096 :][:SIZE] == contents
    rest = there[: AT * 4096] + there[AT * 4096 + SIZE :]
    assert not rest.strip(b"\0"), "nothing else is written"


FIRST = "mkfs.ext4 -q /dev/cba && mount /dev/cba /mnt && cp pattern /bin/busybox /mnt && umount /mnt; echo made: $?"
SECOND = (
    "mount /dev/cba /mnt; cmp pattern /mnt/pattern; echo same: $?; umount /mnt; e2fsck -fn /dev/cba; echo check: $?"
)


def test_another_boot_finds_the_file_system(image, pattern, tmp_path):
    folder, _ = pattern
    assert "made: 0\n" in run(Wish("disks", FIRST, folder, disk=image), tmp_path)
    console = run(Wish("disks", SECOND, folder, disk=image, small="none"), tmp_path)
    assert "same: 0\n" in console and "check: 0\n" in console, console


def test_what_fsync_has_returned_for_is_on_the_medium(image, pattern, tmp_path):
    """The power may fail at any flush: all that was written before is there, whatever became of later writes."""
    folder, contents = pattern
    log = tmp_path / "log"
    mark = f"printf mark | dd of=/dev/cba bs=4k seek={MARK_AT} conv=fsync,notrunc"
    command = f"dd if=pattern of=/dev/cba bs=4k seek={AT} conv=fsync,notrunc && {mark}; echo $?"
    run(Wish("minimal", command, folder, disk=image), tmp_path, words=write_log.logged(image, log))
    seen = write_log.events(log)
    marked = next(n for n, event in enumerate(seen) if event and event.place == MARK_AT * 4096)
    medium = tmp_path / "medium"
    write_log.write_medium(medium, BLOCKS * BLOCK, seen, marked, kept=lambda _: False)
    assert medium.read_bytes()[AT * 4096 :][:SIZE] == contents


BAD = 2048  # blocks of 512 bytes; a write of another one is the drive's, too
RULES = """
[inject-error]
event = "{event}"
errno = "5"
{more}
"""


@pytest.mark.parametrize(
    ("event", "more", "command"),
    [
        ("flush_to_disk", 'iotype = "flush"', "printf x | dd of=/dev/cba bs=512 conv=fsync"),
        ("write_aio", f'sector = "{BAD}"', f"printf x | dd of=/dev/cba bs=4k seek={BAD // 8} conv=fsync"),
        ("read_aio", f'sector = "{BAD}"', f"dd if=/dev/cba of=/dev/null bs=4k skip={BAD // 8} count=1"),
    ],
)
def test_what_the_drive_cannot_do_is_an_error(image, tmp_path, event, more, command):
    (tmp_path / "rules").write_text(RULES.format(event=event, more=more))
    drive = f"file=blkdebug:{tmp_path}/rules:{qemu.escaped(image)},format=raw,if=ide,index=0"
    rest = "dd if=/dev/cba of=/dev/null bs=4k count=8 skip=16 2>/dev/null; echo rest: $?"
    console = run(
        Wish("minimal", f"{command} 2>&1; echo bad: $?; {rest}", disk=image), tmp_path, words=["-drive", drive]
    )
    assert "I/O error" in console and "bad: 1\n" in console and "rest: 0\n" in console, console


ROUNDS = """
mkfs.ext4 -q /dev/cba && mount /dev/cba /mnt && mkdir /mnt/d
for i in 1 2 3 4; do cat pattern /bin/busybox >/mnt/d/$i; sync; done
echo 3 >/proc/sys/vm/drop_caches
for i in 1 2 3 4; do cat pattern /bin/busybox | cmp - /mnt/d/$i && echo right; done
umount /mnt; e2fsck -fn /dev/cba >/dev/null; echo check: $?
"""


def test_a_driver_that_dies_again_and_again_is_only_slow(image, pattern, tmp_path):
    folder, _ = pattern
    console = run(Wish("disks", ROUNDS, folder, disk=image), tmp_path, root="drop=12")
    assert console.count("init: ide: started again") > 3, console
    assert console.count("right\n") == 4 and "check: 0\n" in console and "I/O error" not in console, console


def test_a_driver_that_does_not_come_again_is_an_error(image, tmp_path):
    forks = "for i in 1 2 3 4 5 6 7 8 9; do (true); (true); (true); (true); done"
    read = "dd if=/dev/cba of=/dev/null bs=64k iflag=direct 2>&1; echo read: $?"
    write = "printf x | dd of=/dev/cba bs=512 conv=fsync 2>&1; echo written: $?"
    console = run(
        Wish("minimal", f"{forks}; {read}; {write}", disk=image),
        tmp_path,
        root="drop=30",
        drivers=lambda text: text.replace("restart=1", "restart=0"),
    )
    assert "cba" in console and "read: 1\n" in console and "written: 1\n" in console, console


AGAIN = """
dd if=/dev/cba bs=4k count=1 2>/dev/null | grep -q kept && {{ echo found; exit 0; }}
printf kept | dd of=/dev/cba bs=512 conv=fsync 2>/dev/null
while :; do {}; done
"""
READS, FORKS = "dd if=/dev/cba of=/dev/null bs=4k count=100 iflag=direct 2>/dev/null", "(true)"


@pytest.mark.parametrize("what,later", [(READS, 31), (READS, 37), (FORKS, 0)], ids=["early", "late", "idle"])
def test_a_server_that_is_started_again_has_its_disk_again(image, tmp_path, what, later):
    wish = Wish("minimal", AGAIN.format(what), disk=image)
    console = run(wish, tmp_path, root=f"starts=2 kill=60 later={later}")
    assert console.count("the server is started again") == 1 and "\nfound\n" in console, console


BESIDE = """
dd if=/dev/urandom of=/dev/null bs=1M 2>/dev/null &
read begun rest </proc/uptime
dd if=/dev/cba of=/dev/null bs=64k iflag=direct count=64 2>/dev/null; echo read: $?
dd if=/dev/zero of=/dev/cba bs=64k oflag=direct count=64 2>/dev/null; echo written: $?
read ended rest </proc/uptime
kill $!
echo "took $begun to $ended"
"""
INSTRUCTION_LOG2_NS = 2  # the guest's time follows its instructions: it is the same on a busy machine
# a disk whose requests end as soon as they are made: else the guest computes on while the host reads
AT_ONCE = ("-drive", f"driver=null-co,size={BLOCKS * BLOCK},read-zeroes=on,if=ide,index=0")
MOST_SECONDS = 8  # half of what it took when the kernel kept the driver and dd from running


def test_a_driver_has_its_share_while_the_kernel_computes(image, tmp_path):
    """Which runs at a priority between the driver's and that of ordinary programs."""
    boot = guest.prepare(Wish("minimal", BESIDE, disk=image), tmp_path)
    boot = replace(boot, disk=None, words=AT_ONCE, instruction_log2_ns=INSTRUCTION_LOG2_NS)
    console = qemu.run(boot, timeout=LIMIT_SECONDS, repeatable=True).console.replace("\r", "")
    assert "read: 0\n" in console and "written: 0\n" in console and "I/O error" not in console, console
    begun, ended = map(float, re.search(r"took ([\d.]+) to ([\d.]+)", console).groups())
    assert ended - begun < MOST_SECONDS, console


MUCH = """
for i in 1 2; do
    dd if=/dev/cba of=/dev/null bs=64k iflag=direct count=256 2>/dev/null
    dd if=/dev/zero of=/dev/cba bs=64k oflag=direct count=256 2>/dev/null
done
dd if=/dev/urandom of=/dev/null bs=1M 2>/dev/null &
sleep 1
dd if=/dev/cba of=/dev/null bs=64k iflag=direct count=16 2>/dev/null; echo read: $?
kill $!
"""


def test_the_clock_goes_on_after_much_of_the_disk(image, tmp_path):
    """Which wakes the main thread often. The first read of /dev/urandom needs the clock while it computes."""
    console = run(Wish("minimal", MUCH, disk=image), tmp_path)
    assert "read: 0\n" in console and "I/O error" not in console, console
