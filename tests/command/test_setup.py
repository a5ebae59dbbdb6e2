# SPDX-License-Identifier: GPL-2.0-or-later
"""Installing what is missing: package sources of both formats, versions, and what is said when it cannot be done."""

import pytest

from cobnut import apt_sources, packages
from cobnut.emulators import qemu
from cobnut.errors import CobnutError

DEB822 = """# the main archive
Types: deb deb-src
URIs: http://mirror.example/debian
Suites: bookworm bookworm-updates
Components: main
Signed-By: /usr/share/keyrings/archive.gpg

Types: deb
URIs: http://mirror.example/security
Suites: bookworm-security
Components: main

Enabled: no
Types: deb
URIs: http://elsewhere.example/debian
Suites: bookworm
Components: main
"""
EMBEDDED_KEY = """Types: deb
URIs: http://mirror.example/debian
Suites: bookworm
Components: main
Signed-By:
 -----BEGIN PGP PUBLIC KEY BLOCK-----
 .
 abc
"""
ONE_LINE = """# comment
deb [arch=amd64 signed-by=/k.gpg] http://mirror.example/debian bookworm main contrib
deb-src http://mirror.example/debian bookworm main
deb http://mirror.example/debian bookworm-updates main
"""


def sources_in(folder, **files):
    (folder / "sources.list.d").mkdir()
    for name, text in files.items():
        (folder / "sources.list.d" / name.replace("_", ".")).write_text(text)
    return apt_sources.read_sources(folder)


def test_a_deb822_source_is_repeated_with_its_key(tmp_path):
    new = apt_sources.backports_of(sources_in(tmp_path, debian_sources=DEB822), "bookworm")
    assert new.suite == "bookworm-backports"
    assert "URIs: http://mirror.example/debian\n" in new.text
    assert "Suites: bookworm-backports\n" in new.text
    assert "Signed-By: /usr/share/keyrings/archive.gpg\n" in new.text


def test_a_one_line_source_is_repeated_with_its_key(tmp_path):
    (tmp_path / "sources.list").write_text(ONE_LINE)
    new = apt_sources.backports_of(sources_in(tmp_path), "bookworm")
    assert "URIs: http://mirror.example/debian\n" in new.text
    assert "Signed-By: /k.gpg\n" in new.text


def test_a_key_inside_the_stanza_survives(tmp_path):
    new = apt_sources.backports_of(sources_in(tmp_path, debian_sources=EMBEDDED_KEY), "bookworm")
    assert apt_sources.parse_deb822(new.text)[0].options["signed-by"].endswith("abc")


def test_what_is_written_is_read_back(tmp_path):
    new = apt_sources.backports_of(sources_in(tmp_path, debian_sources=DEB822), "bookworm")
    assert apt_sources.parse_deb822(new.text)[0].suites == ("bookworm-backports",)


def test_disabled_and_source_only_entries_do_not_count(tmp_path):
    with pytest.raises(CobnutError, match="no package source for Debian trixie"):
        apt_sources.backports_of(sources_in(tmp_path, debian_sources=DEB822), "trixie")
    assert all("elsewhere" not in source.uri for source in apt_sources.read_sources(tmp_path))


def test_nothing_is_installed_when_forbidden(monkeypatch):
    monkeypatch.setenv("COBNUT_NO_INSTALL", "1")
    missing = packages.Package("no-such-package", "/no/such/file-*")
    with pytest.raises(CobnutError, match="no-such-package"):
        packages.ensure((missing,))


def test_what_is_present_costs_no_package_manager(monkeypatch):
    monkeypatch.setattr(packages, "apt", lambda arguments: pytest.fail("apt was called"))
    packages.ensure((packages.Package("coreutils", "ls"),))


@pytest.mark.parametrize("added", [True, False])
def test_what_does_not_fit_a_library_from_the_backports_comes_from_there(monkeypatch, tmp_path, added):
    asked = []

    def apt(arguments):
        asked.append(arguments)
        if "install" in arguments and "-t" not in arguments:
            raise CobnutError("apt-get install failed: held broken packages")

    path = tmp_path / "backports.sources"
    if added:
        path.touch()
    monkeypatch.delenv("COBNUT_NO_INSTALL", raising=False)
    monkeypatch.setattr(packages.shutil, "which", lambda command: command)
    monkeypatch.setattr(packages, "apt", apt)
    monkeypatch.setattr(packages, "_backports", lambda: apt_sources.NewSource(path, "", "bookworm-backports"))
    if added:
        packages.install(["gdb"])
        assert asked[-1][-3:] == ["-t", "bookworm-backports", "gdb"]
    else:
        with pytest.raises(CobnutError, match="held broken packages"):
            packages.install(["gdb"])


@pytest.mark.parametrize(
    ("answer", "found"),
    [
        ("QEMU emulator version 10.0.2 (Debian 1:10.0.2+ds-2+deb13u1~bpo12+1)", (10, "10.0.2")),
        ("QEMU emulator version 7.2.17", (7, "7.2.17")),
        ("QEMU emulator version 11.0.50 (v11)", (11, "11.0.50")),
        ("something else", None),
    ],
)
def test_the_emulators_version_is_read(monkeypatch, tmp_path, answer, found):
    fake = tmp_path / "qemu"
    fake.write_text(f"#!/bin/sh\necho '{answer}'\n")
    fake.chmod(0o755)
    monkeypatch.setattr(qemu, "PROGRAM", str(fake))
    assert qemu.version() == found


def test_a_missing_emulator_that_cannot_be_installed_is_named(monkeypatch):
    monkeypatch.setattr(qemu, "PROGRAM", "/no/such/qemu")
    monkeypatch.setattr(packages, "installed_version", lambda name: None)
    monkeypatch.setattr(packages, "candidate_version", lambda name: "1:10.0.2")
    monkeypatch.setenv("COBNUT_NO_INSTALL", "1")
    with pytest.raises(CobnutError, match="qemu-system-x86"):
        qemu.ensure()


def test_an_old_candidate_leads_to_the_backports(monkeypatch):
    asked = []
    answers = iter([None, (10, "10.0.2")])
    monkeypatch.setattr(qemu, "version", lambda: next(answers))
    monkeypatch.setattr(packages, "installed_version", lambda name: None)
    monkeypatch.setattr(packages, "candidate_version", lambda name: "1:7.2+dfsg-7+deb12u16")
    monkeypatch.setattr(packages, "add_backports", lambda: "bookworm-backports")
    monkeypatch.setattr(packages, "install", lambda names, suite=None: asked.append((names, suite)))
    assert qemu.ensure() == "10.0.2"
    assert asked == [(["qemu-system-x86"], "bookworm-backports")]
