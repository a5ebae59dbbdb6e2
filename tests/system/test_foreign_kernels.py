# SPDX-License-Identifier: GPL-2.0-or-later
"""Any kernel in the laboratory: images as they are, and what is said of those that cannot be measured."""

import json

import guests
from conftest import assert_refused

PINGPONG = "pair=large_small gen=none sizes=0:0:1 rounds=10 warmup=5 slot=16 words=0"


def test_images_are_any_kernels_and_ours_is_one(cobnut, tmp_path):
    path = tmp_path / "result.json"
    images = [guests.PC.kernel, guests.PC.program("sigma0"), f"{guests.PC.program('pingpong')} {PINGPONG}"]
    words = [word for image in images for word in ("--image", str(image))]
    done = cobnut("run", "ipc/trace", *words, "--append", "small=512", "--json", str(path), "--report", str(tmp_path))
    assert done.returncode == 0, done.stdout + done.stderr
    names = [series["name"] for series in json.loads(path.read_text())["series"]]
    assert "case.0.times" in names


def test_our_kernel_for_arm_is_traced_as_by_its_own_experiment(cobnut, tmp_path):
    path = tmp_path / "result.json"
    done = cobnut("run", "ipc/trace", "--board", "collie", "--quick", "--json", str(path), "--report", str(tmp_path))
    assert done.returncode == 0, done.stdout + done.stderr
    result = json.loads(path.read_text())
    assert "cobnut.apart.as_path" in {check["name"] for check in result["checks"]}
    each = {series["name"]: series["y"] for series in result["series"]}
    assert each["round_trip.entries_call"] == [2], "one call each way"
    assert each["round_trip.domain_writes"] == [2] and each["round_trip.tlb_flushes"] == [0]
    assert "domain_access at" in done.stdout and "modelled cycles of a round trip" in done.stdout


def test_a_guest_that_marks_nothing_is_an_error(cobnut, tmp_path):
    images = ["--image", str(guests.PC.kernel), "--image", str(guests.PC.program("sigma0"))]
    done = cobnut(
        "run", "ipc/trace", *images, "--image", f"{guests.PC.program('root')} off=1", "--report", str(tmp_path)
    )
    assert_refused(done, "cobnut-kernel", "no case was measured")


def test_any_kernel_can_be_sanitized(cobnut):
    images = [
        guests.PC.kernel,
        guests.PC.program("sigma0"),
        f"{guests.PC.program('root')} off=1",
        guests.PC.program("hello"),
    ]
    done = cobnut("boot", "--sanitize", *(word for image in images for word in ("--image", str(image))))
    assert done.returncode == 0, done.stdout + done.stderr
    assert done.stdout.splitlines()[-1].startswith("sanitizer: 0 reports in ")
