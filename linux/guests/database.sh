# SPDX-License-Identifier: GPL-2.0-or-later
# MariaDB of the image `database`, with a database as the scripts of its package would make it.

DATA=${DATA:-/tmp/mysql}
# Caches that are small enough for a server in a small space: Debian's are for larger machines.
OPTIONS="--no-defaults --user=mysql --datadir=$DATA --socket=/tmp/mysql.socket --skip-networking
    --innodb-buffer-pool-size=8M --innodb-log-file-size=4M --key-buffer-size=1M --aria-pagecache-buffer-size=1M
    --innodb-use-native-aio=0 --performance-schema=off --query-cache-size=0"

# Makes a database, starts MariaDB, and returns when it answers.
database_serves() { database_made && database_starts; }

database_made() {
    mkdir -p "$DATA/mysql"
    chown -R mysql:mysql "$DATA"
    { echo 'use mysql;'; cat /usr/share/mysql/mysql_system_tables.sql /usr/share/mysql/mysql_system_tables_data.sql; } |
        mariadbd $OPTIONS --bootstrap --skip-grant-tables 2>/tmp/mariadb.log
}

database_starts() {
    mariadbd $OPTIONS 2>>/tmp/mariadb.log &
    until asked 'select 1' >/dev/null 2>&1; do
        kill -0 $! || return
        sleep 0.2
    done
}

# asked SQL: rows, with tabs between columns
asked() { mariadb --no-defaults --socket=/tmp/mysql.socket -u root --batch --skip-column-names -e "$1"; }

# loaded TIMES SQL OPTIONS: the same query so often, by one connection
loaded() {
    local times=$1 sql=$2
    shift 2
    mariadb-slap --no-defaults --socket=/tmp/mysql.socket -u root --create-schema=d --no-drop --silent --concurrency=1 \
        --iterations=1 --number-of-queries="$times" --query="$sql" "$@"
}
