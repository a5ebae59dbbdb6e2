# SPDX-License-Identifier: GPL-2.0-or-later
"""Linux as a guest: what is downloaded, what its initial file system holds, and what is made of the sanitizer's
findings.
"""

import shutil

import pytest

import made_up
from cobnut import apt_sources, cpio, linux_guest, private_apt
from cobnut.emulators import Outcome
from cobnut.errors import CobnutError
from cobnut.experiments import linux_sanitized
from cobnut.findings import WRITTEN, Findings
from cobnut.linux_guest import DONE, REACHED, LinuxGuest
from cobnut.private_apt import Apt

KERNEL = "vmlinuz-6.1.0-0-686"
SOURCES = [apt_sources.Source("http://mirror.example/debian", ("trixie", "trixie-updates"), {"signed-by": "/k.gpg"})]


def test_an_archive_has_the_format_that_linux_reads():
    entries = [cpio.folder("bin"), cpio.program("bin/x", b"hello"), cpio.device("console", 5, 1)]
    data = cpio.archive(entries)
    assert len(data) % 4 == 0
    names, at = [], 0
    while at < len(data):
        assert data[at : at + 6] == b"070701"
        fields = [int(data[at + 6 + 8 * n : at + 14 + 8 * n], 16) for n in range(13)]
        name_end = at + 110 + fields[11]
        names.append(data[at + 110 : name_end - 1].decode())
        content = name_end + -name_end % 4
        if names[-1] == "bin/x":
            assert data[content : content + fields[6]] == b"hello" and fields[1] == 0o100755
        if names[-1] == "console":
            assert fields[1] == 0o020600 and fields[9:11] == [5, 1]
        at = content + fields[6] + -fields[6] % 4
    assert names == ["bin", "bin/x", "console", "TRAILER!!!"]


@pytest.fixture
def mirror(monkeypatch, tmp_path):
    """A folder for the guest, and an apt whose packages are made here. Returns what apt was asked."""
    asked = []

    def run_apt(apt, *command):
        asked.append(command)
        if command[0] == "apt-cache":
            return f"{linux_guest.FLAVOUR}\n  Depends: linux-image-6.1.0-0-686\n"
        if "download" in command:
            (apt.folder / "one.deb").touch()
        return ""

    def unpack(archives, folder, log):
        assert [archive.name for archive in archives] == ["one.deb"]
        shutil.copytree(tmp_path / "files", folder)
        return folder

    for name in ("boot", "bin"):
        (tmp_path / "files" / name).mkdir(parents=True)
    (tmp_path / "files/boot" / KERNEL).touch()
    (tmp_path / "files/boot/config-6.1.0-0-686").write_text("# CONFIG_X86_PAE is not set\n")
    (tmp_path / "files/bin/busybox").touch()
    (tmp_path / "linux").mkdir()
    monkeypatch.setattr(Apt, "run", run_apt)
    monkeypatch.setattr(private_apt, "unpack", unpack)
    monkeypatch.setattr(apt_sources, "read_sources", lambda: SOURCES)
    monkeypatch.setattr(apt_sources, "codename", lambda: "trixie")
    monkeypatch.delenv("COBNUT_NO_INSTALL", raising=False)
    return asked


def test_kernel_and_busybox_are_kept_and_nothing_else(mirror, tmp_path):
    linux_guest._download(tmp_path / "linux")
    assert sorted(path.name for path in (tmp_path / "linux").iterdir()) == ["busybox", KERNEL]
    assert mirror[-1] == ("apt-get", "download", "-q", "linux-image-6.1.0-0-686", "busybox-static")


def test_the_systems_mirror_and_key_are_used_for_the_older_release():
    assert "Components: main non-free\n" in apt_sources.repeated(SOURCES, "trixie", "x", "main non-free")
    text = apt_sources.repeated(SOURCES, "trixie", linux_guest.RELEASE)
    assert apt_sources.parse_deb822(text) == [
        apt_sources.Source("http://mirror.example/debian", ("bookworm",), {"signed-by": "/k.gpg"})
    ]


def test_a_kernel_with_pae_is_refused(mirror, tmp_path):
    (tmp_path / "files/boot/config-6.1.0-0-686").write_text("CONFIG_X86_PAE=y\n")
    with pytest.raises(CobnutError, match="PAE"):
        linux_guest._download(tmp_path / "linux")
    assert not list((tmp_path / "linux").iterdir())


def test_nothing_is_downloaded_when_forbidden(mirror, monkeypatch, tmp_path):
    monkeypatch.setenv("COBNUT_NO_INSTALL", "1")
    with pytest.raises(CobnutError, match="linux-image-686 and busybox-static"):
        linux_guest._download(tmp_path / "linux")
    assert mirror == []


@pytest.mark.parametrize(
    ("lines", "reason"),
    [
        ([REACHED, "x", DONE], None),
        (["Kernel panic"], "did not reach its shell"),
        ([REACHED, "memory: FAIL mmap", DONE], "memory: FAIL mmap"),
        ([REACHED], "end of its script"),
    ],
)
def test_a_guest_that_did_not_come_to_its_end_says_why(lines, reason):
    found = linux_guest.failure(Outcome(None, "\n".join(lines), "", 1.0))
    assert found is None if reason is None else reason in found


def findings(*lines: str, losses: tuple[str, ...] = ("unmap_page_range+0x1",)) -> Findings:
    invalidations = [
        {"instruction": "0xc1", "symbol": "rare+0x1", "by": "cr3", "executed": 9, "needed": 1},
        {"instruction": "0xc2", "symbol": "often+0x1", "by": "invlpg", "executed": 9, "needed": 7},
        {"instruction": "0xc3", "symbol": "never+0x1", "by": "invlpg", "executed": 9, "needed": 0},
        {"instruction": "0xc4", "symbol": "control+0x1", "by": "control", "executed": 9, "needed": 3},
    ]
    late = [{"instruction": "0xd1", "symbol": name, "losses": 2, "longest": 5_000_000} for name in losses]
    return WRITTEN.validate_python(
        {
            "reports": [{"line": line} for line in lines],
            "invalidations": invalidations,
            "erasures": [],
            "counts": {"accesses": 2_000_000_000},
            "losses": late,
        }
    )


def experiment(monkeypatch, stock: Findings, ignored: Findings, *, quick: bool = False, reason: str | None = None):
    def boot(lab, guest, ignore=None):
        return (ignored if ignore else stock), (None if ignore else reason)

    nowhere = linux_guest.FOLDER
    guest = LinuxGuest("6.1", nowhere, nowhere, nowhere, ())
    monkeypatch.setattr(linux_guest, "ensure", lambda: guest)
    monkeypatch.setattr(linux_sanitized, "_boot", boot)
    return linux_sanitized.EXPERIMENT.run(made_up.lab(linux_sanitized.EXPERIMENT, quick=quick))


def test_a_silent_run_that_notices_what_is_ignored_is_ok(monkeypatch):
    result = experiment(monkeypatch, findings(), findings("stale"))
    assert result.ok
    names = [check.name for check in result.checks]
    assert names[4:] == ["candidates", "noticed.often+0x1", "noticed.rare+0x1"], "the busiest first, only what mattered"
    assert result.find("late.longest").x == ["unmap: unmap_page_range+0x1"]
    assert [check.name for check in experiment(monkeypatch, findings(), findings("x"), quick=True).checks][4:] == names[
        4:6
    ]


@pytest.mark.parametrize(
    ("stock", "ignored", "reason", "bad"),
    [
        (findings("stale"), findings("stale"), None, ["reports"]),
        (findings(), findings(), None, ["noticed.often+0x1", "noticed.rare+0x1"]),
        (findings(losses=("strange+0x3",)), findings("stale"), None, ["late.unexplained"]),
        (findings(), findings("stale"), "Linux did not reach its shell", ["shell.reached"]),
    ],
)
def test_what_is_wrong_is_said(monkeypatch, stock, ignored, reason, bad):
    result = experiment(monkeypatch, stock, ignored, reason=reason)
    assert [check.name for check in result.checks if not check.ok] == bad
    if reason:
        assert reason in result.checks[0].why


@pytest.mark.parametrize(
    ("symbol", "name"),
    [
        ("__vunmap_range_noflush+0xe2", "vmalloc"),
        ("unmap_page_range+0x2ed", "unmap"),
        ("copy_page_range+0x469", "fork"),
        ("change_protection+0x2ac", "protect"),
        ("__text_poke", "page"),
        ("ptep_set_access_flags+0x21", "rights"),
        ("schedule+0x4", None),
        (None, None),
    ],
)
def test_ways_of_being_late_are_known_by_the_function(symbol, name):
    assert linux_sanitized.laziness_of(symbol) == name


def test_a_run_without_invalidations_that_matter_fails(monkeypatch):
    stock = findings()
    useless = Findings(stock.reports, stock.invalidations[1:], stock.erasures, stock.counts, stock.losses)
    result = experiment(monkeypatch, useless, findings("stale"))
    assert [check.name for check in result.checks if not check.ok] == ["candidates"]
