# SPDX-License-Identifier: GPL-2.0-or-later
# All at once on the screen of the image `workplace`, as it is found in /files: Doom plays a stroll, gcc compiles a
# file, and lighttpd serves a crowd of connections, each again and again.

. ./doom.sh
. ./web.sh

# works SECONDS DEMO OPTIONS CROWD: for so long DEMO.lmp is played, forks.c compiled with OPTIONS, and a page given to
# so many connections at once. Says how often each was done; the status is that of the first that was not done well.
works() {
    [ -n "$DISPLAY" ] || return
    printf 'a page\n' >page
    lighttpd_serves || return
    end=$(($(seconds) + $1))
    again game shown "$2" &
    game=$!
    again object compiled "$3" &
    object=$!
    again crowd served "$4" &
    crowd=$!
    wait $game && wait $object && wait $crowd
}

seconds() { cut -d. -f1 /proc/uptime; }

# again KIND COMMAND: until the time is over, but at least once; says how often it was.
again() {
    kind=$1 times=0
    shift
    until [ $times -gt 0 ] && [ "$(seconds)" -ge $end ]; do
        "$@" >/tmp/$kind.log 2>&1 || {
            cat /tmp/$kind.log
            return 1
        }
        times=$((times + 1))
    done
    echo "workplace: $times of $kind"
}

# Without the window manager, which may not have shown the window yet when SDL asks for its keys: that ends the game.
shown() { SDL_X11_FORCE_OVERRIDE_REDIRECT=1 timed "$@"; }

# All objects are the same.
compiled() {
    gcc "$1" -c forks.c -o /tmp/object.new || return
    [ -e /tmp/object ] || cp /tmp/object.new /tmp/object
    cmp /tmp/object.new /tmp/object
}

served() { ./visitor 8080 crowd "$1" 600 /page 'a page
'; }
