# SPDX-License-Identifier: GPL-2.0-or-later
"""Malformed requests to every server, on QEMU with the same clock in every run, and on Bochs."""

from conftest import run_cobnut


def test_servers_refuse_what_is_no_request_and_go_on():
    done = run_cobnut("run", "fuzz/servers", "--quick")
    assert done.returncode == 0, done.stdout + done.stderr


def test_so_they_do_where_segments_have_limits():
    done = run_cobnut("boot", "fuzztest", "--emulator", "bochs", "--seconds", "300")
    assert done.returncode == 0 and "fuzzservers: done" in done.stdout, done.stdout + done.stderr
