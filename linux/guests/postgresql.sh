# SPDX-License-Identifier: GPL-2.0-or-later
# PostgreSQL's regression tests in the image `postgresql`, with its folder src/test/regress in /files. One test is run
# after the other, in the order of its parallel_schedule, as later ones use what earlier ones have made.
BIN=/usr/lib/postgresql/15/bin
PG_REGRESS=/usr/lib/postgresql/15/lib/pgxs/src/test/regress/pg_regress
HERE=/tmp/postgresql # data, results

# Nothing outlives the guest, so that nothing is flushed; else what pg_regress sets for a server of its own.
settings() {
    cat <<'END'
fsync = off
shared_buffers = 16MB
max_wal_size = 64MB
min_wal_size = 32MB
max_connections = 40
max_prepared_transactions = 2
log_temp_files = 128kB
unix_socket_directories = '/tmp'
listen_addresses = ''
END
}

as_postgres() { (cd "$HERE" && setpriv --reuid=postgres --regid=postgres --clear-groups "$@"); }

server_starts() {
    install -d -o postgres -g postgres "$HERE" "$HERE/results" &&
        as_postgres "$BIN/initdb" --pgdata="$HERE/data" --no-sync --auth=trust --encoding=UTF8 --locale=C >/dev/null &&
        settings >>"$HERE/data/postgresql.conf" &&
        as_postgres "$BIN/pg_ctl" --pgdata="$HERE/data" --log="$HERE/log" --wait -t 300 start >/dev/null
}

# regress NAME: the first one makes the database
regress() {
    local existing=--use-existing
    if [ ! -e "$HERE" ]; then
        server_starts || return
        existing=
    fi
    rm -f "$HERE/regression.diffs"
    as_postgres $PG_REGRESS $existing --dbname=regression --host=/tmp --user=postgres --bindir=$BIN \
        --inputdir=/files --outputdir="$HERE" --dlpath=/files "$1" && return
    tail -n 30 "$HERE/log"
    head -n 60 "$HERE/regression.diffs"
    return 1
}
