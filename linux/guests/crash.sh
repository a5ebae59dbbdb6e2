# SPDX-License-Identifier: GPL-2.0-or-later
# Databases on /dev/cba, and what is left of them when the power has failed (tests/system/test_linux_crash.py).

# Makes a file system in the first MB of the disk: marks are behind it.
disk_made() { mkfs.ext4 -q /dev/cba "$1M" && mount /dev/cba /mnt; }

# marked CLIENT TEXT: a block of CLIENT's, at once and without a flush, so that the list of all that is written tells
# what was before it.
marked() {
    printf '%s\n' "$2" | dd of=/dev/cba bs=4k seek=$(($(cat marks) + $1)) conv=sync,notrunc oflag=direct 2>/dev/null &&
        echo "marked $1 $2"
}

# Mounts the disk, and says whether its journal was replayed; it has to be whole then.
disk_recovered() {
    mount /dev/cba /mnt && umount /mnt || return
    dmesg | grep -e 'EXT4-fs error' -e 'I/O error' && return 1
    dmesg | grep -q 'EXT4-fs (cba): recovery complete' && echo 'journal replayed'
    e2fsck -fn /dev/cba >/tmp/e2fsck 2>&1 || { cat /tmp/e2fsck; return 1; }
    echo 'disk whole'
    mount /dev/cba /mnt
}

# SQLite: each client has a database of its own, with another kind of journal.
sqlite_starts() { :; }
sqlite_stops() { :; }
sqlite_client() { sqlite3 -bail "/mnt/$1.db"; }
sqlite_checked() { echo 'pragma integrity_check;' | sqlite_client "$1"; }

# MariaDB: all clients have one.
mariadb_starts() {
    [ -e "$DATA/mysql" ] || database_made || return
    database_starts && asked 'create database if not exists d'
}
mariadb_stops() { kill "$(cat "$DATA"/*.pid)" && wait; }
mariadb_client() {
    mariadb --no-defaults --socket=/tmp/mysql.socket -u root --batch --skip-column-names --unbuffered d
}
mariadb_checked() { echo 'check table entries, totals extended;' | mariadb_client; }
