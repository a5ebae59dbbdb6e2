# SPDX-License-Identifier: GPL-2.0-or-later
#
# Sourced by ../cobnut when build/venv is missing or is one for other requirements. Uses $root, $venv, $requirements.
# Everything else that the project needs is installed later, by lab/cobnut/packages.py, when a command first needs it.

say() { printf 'cobnut: %s\n' "$*" >&2; }
die() { say "$*"; exit 2; }

if [ -t 0 ]; then ask=''; else ask=-n; fi # sudo may ask for a password only where a person can answer

as_root() {
    if [ "$(id -u)" -eq 0 ]; then "$@"; else sudo $ask "$@"; fi
}

# usable PYTHON: is it 3.11 or newer, and can it make an environment with pip in it?
usable() {
    "$1" -c 'import sys, venv, ensurepip; sys.exit(sys.version_info < (3, 11))' >/dev/null 2>&1
}

install_python() {
    command -v apt-get >/dev/null || die "needs Python 3.11 or newer with its venv module; please install it"
    [ "$(id -u)" -eq 0 ] || command -v sudo >/dev/null ||
        die "needs root and there is no sudo; please run as root: apt-get install python3-venv"
    say "installing python3 and python3-venv (apt)"
    mkdir -p "$root/build/log"
    tries=60 # another package manager may hold the lock
    until {
        as_root env DEBIAN_FRONTEND=noninteractive apt-get update -q &&
        as_root env DEBIAN_FRONTEND=noninteractive \
            apt-get install -q -y --no-install-recommends python3 python3-venv ca-certificates
    } >"$root/build/log/python.log" 2>&1 </dev/null; do
        tries=$((tries - 1))
        [ "$tries" -gt 0 ] && grep -qi lock "$root/build/log/python.log" ||
            die "apt could not install python3-venv; see build/log/python.log"
        sleep 5
    done
}

mkdir -p "$root/build" 2>/dev/null && : 2>/dev/null >>"$root/build/bootstrap.lock" ||
    die "$root/build: cannot be written, and all that is built or measured goes there"
exec 9>"$root/build/bootstrap.lock"
flock 9

if usable python3; then python=python3
elif usable /usr/bin/python3; then python=/usr/bin/python3
else
    install_python
    python=/usr/bin/python3
    usable "$python" || die "$python is too old or has no venv module; Python 3.11 or newer is needed"
fi

if ! cmp -s "$venv/requirements.txt" "$requirements"; then
    PYTHONPATH=$root/lab PYTHONPYCACHEPREFIX=$root/build/pycache "$python" -m cobnut.environment </dev/null || exit 2
fi
exec 9>&-
