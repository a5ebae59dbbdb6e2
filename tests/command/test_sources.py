# SPDX-License-Identifier: GPL-2.0-or-later
"""The sources themselves."""

from cobnut import paths

LONGEST = 600  # lines
GENERATED = {"Cargo.lock"}


def test_every_file_can_be_read_in_one_sitting():
    files = [
        file
        for part in ("kernel", "user", "lab", "tests")
        for file in (paths.ROOT / part).rglob("*")
        if file.is_file() and "__pycache__" not in file.parts and file.name not in GENERATED
    ]
    assert len(files) > 100
    lines = {str(file.relative_to(paths.ROOT)): len(file.read_text().splitlines()) for file in files}
    assert {name: count for name, count in lines.items() if count > LONGEST} == {}
