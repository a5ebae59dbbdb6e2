# SPDX-License-Identifier: GPL-2.0-or-later
"""The driver of an IDE disk: what is written is there after a restart of the driver and after another boot, errors
arrive, and a part is all that its clients see.
"""

import os
import struct

import promises
import pytest

from conftest import ROOT, run_cobnut

BLOCK, BLOCKS, PART = 512, 8192, 2048  # of the image, and of its first part in systems/disk.toml
KEPT_SEED = 7  # with which the checks leave the part


def pattern(seed: int, blocks: int) -> bytes:
    """As servers/diskchecks fills a part."""
    words = blocks * BLOCK // 4
    return struct.pack(f"<{words}I", *((i * 2654435761 + seed) & 0xFFFFFFFF for i in range(words)))


@pytest.fixture
def image(tmp_path):
    path = tmp_path / "disk, 1.img"  # QEMU and Bochs have to be told of the comma
    path.write_bytes(os.urandom(BLOCKS * BLOCK))
    return path


def boot(image, emulator="qemu", arguments=None, words=(), parts="disk=0+2048 other=2048+"):
    """The system `disk`, with these arguments of its checks: the verdicts by name, and the run."""
    system = "disk"
    if arguments:
        text = (ROOT / "systems" / "disk.toml").read_text().replace("[program.ide]\n", '[program.ide]\nfile = "ide"\n')
        text = text.replace("disk=0+2048 other=2048+", parts)
        system = image.parent / "asked.toml"
        system.write_text(f'{text}file = "diskchecks"\narguments = "{arguments}"\n')
    disk = ["--disk", str(image)] if not words else list(words)
    done = run_cobnut("boot", str(system), "--emulator", emulator, "--seconds", "300", *disk)
    return dict(promises.checked(done.stdout)), done


@pytest.mark.parametrize("emulator", ["qemu", "bochs"])
def test_what_the_driver_promises(image, emulator):
    before = image.read_bytes()
    verdicts, done = boot(image, emulator)
    assert [name for name, holds in verdicts.items() if not holds] == [], done.stdout
    assert len(verdicts) == 26, done.stdout
    assert done.stdout.count("init: ide: started again") == 3
    assert done.returncode == 0
    after = image.read_bytes()
    assert after[: PART * BLOCK] == pattern(KEPT_SEED, PART)
    assert after[PART * BLOCK :] == before[PART * BLOCK :], "the part that the checks do not use"


def test_another_boot_finds_what_was_flushed(image):
    verdicts, done = boot(image, arguments="seed=3")
    assert verdicts == {"open": True, "filled": True}, done.stdout
    assert boot(image, arguments="verify=3")[0] == {"open": True, "verified": True}
    assert boot(image, arguments="verify=4")[0] == {"open": True, "verified": False}


BAD = 200
RULES = f"""
[inject-error]
event = "read_aio"
errno = "5"
sector = "{BAD}"

[inject-error]
event = "write_aio"
errno = "5"
sector = "{BAD + 8}"

[inject-error]
event = "flush_to_disk"
errno = "5"
"""


def test_what_the_drive_cannot_do_is_an_error(image):
    plain = image.with_name("plain.img")
    image.rename(plain)
    (image.parent / "rules").write_text(RULES)
    drive = f"-drive file=blkdebug:{image.parent / 'rules'}:{plain},format=raw,if=ide"
    verdicts, done = boot(image, arguments=f"bad={BAD}", words=["--qemu-args", drive])
    assert [name for name, holds in verdicts.items() if not holds] == [], done.stdout
    assert len(verdicts) == 9


def test_a_drive_may_be_slow(image):
    """The call takes 13 seconds, as a flush does where much else is written."""
    plain = image.rename(image.with_name("plain.img"))
    drive = f"-drive file={plain},format=raw,if=ide,throttling.iops-total=10"
    words = ["--qemu-args", drive]
    verdicts, done = boot(image, arguments="seed=3", words=words, parts="disk=0+128")
    assert verdicts == {"open": True, "filled": True}, done.stdout


def test_a_machine_without_a_disk(image):
    verdicts, done = boot(image, words=["--append", ""])
    assert verdicts == {"open": False} and "ide: there is no disk" in done.stdout
    assert done.returncode == 1


def test_parts_that_do_not_fit(image):
    image.write_bytes(bytes(PART // 2 * BLOCK))
    verdicts, done = boot(image)
    assert "ide: the disk has 1024 blocks, which does not fit disk=0+2048" in done.stdout
    assert verdicts == {"open": False}
