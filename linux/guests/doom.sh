# SPDX-License-Identifier: GPL-2.0-or-later
# Crispy Doom of the image `doom` on Xvfb, as it is found in /files: with pixels as the game was made for, no frames
# between two of its tics, and no questions.

GAME=/usr/share/games/doom/freedoom1.wad

# display_serves [OPTIONS]: starts the X server with options of its own, and returns when it answers.
display_serves() {
    Xvfb :0 -screen 0 640x480x24 -noreset "$@" 2>/dev/null &
    until [ -S /tmp/.X11-unix/X0 ]; do
        kill -0 $! || return
        sleep 0.2
    done
    export DISPLAY=:0
}

cat >/tmp/doom.cfg <<END
fullscreen 0
window_width 320
window_height 240
force_software_renderer 1
startup_delay 0
show_endoom 0
show_diskicon 0
crispy_hires 0
crispy_uncapped 0
crispy_vsync 0
crispy_smoothscaling 0
END

# played OPTIONS: the game with these
played() { /usr/games/crispy-doom -iwad $GAME -nogui -nograbmouse -nomusic -extraconfig /tmp/doom.cfg "$@"; }

# timed DEMO OPTIONS: every frame of DEMO.lmp, one after the other without a pause; that ends like an error, with 255.
timed() {
    played -nosound -timedemo "$@"
    [ $? = 255 ]
}
