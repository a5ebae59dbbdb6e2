# SPDX-License-Identifier: GPL-2.0-or-later
# What codes pictures, sounds and pages at work, one function each: what it says natively it says in the server
# (lab/cobnut/linux/suites.py). Each begins in an empty folder.

# film: FFmpeg, that says only what goes wrong, and writes nothing that depends on its version or the time
film() { ffmpeg -nostdin -v error -bitexact "$@"; }

films_of_ffmpeg() { # each codec by several threads: what is decoded, and what was coded
    for codec in mpeg2video mpeg4 mjpeg ffv1 libx264 libvpx libtheora; do
        film -f lavfi -i testsrc2=size=96x64:rate=5:duration=1 -c:v $codec -threads 4 -flags +bitexact -y f.mkv
        echo $codec $(film -threads 3 -i f.mkv -map 0 -f md5 - -map 0 -c copy -f md5 -)
    done
}

sounds_of_ffmpeg() {
    for codec in aac ac3 flac libmp3lame libopus libvorbis; do
        film -f lavfi -i 'sine=frequency=330:beep_factor=3:duration=1:sample_rate=48000' -ac 2 -c:a $codec \
            -flags +bitexact -y s.mka
        echo $codec $(film -i s.mka -map 0 -f md5 - -map 0 -c copy -f md5 -)
    done
}

sounds_of_sox() {
    sox -R -n -r 22050 a.wav synth 2 sine 300-3300 synth 2 pluck mix gain -3
    sox -R --multi-threaded a.wav b.wav reverb 40 pitch 200 tempo 1.2 compand 0.3,1 6:-70,-60,-20 -5
    sox -R a.wav -r 8000 -e u-law c.au
    sox -R -m a.wav b.wav d.flac rate 44100
    sox -R a.wav -t raw - | sox -t raw -r 22050 -e signed -b 16 -c 1 - -R e.wav reverse fade 1
    sox a.wav -n stat 2>&1 | head -n 8
    sox -R a.wav -n spectrogram -x 200 -y 65 -r -o s.png
    for i in *.*; do cksum "$i"; done
}

coders_of_sound() {
    sox -R -n -r 44100 -b 16 -c 2 a.wav synth 3 triangle 200-900 synth 3 brownnoise mix
    lame --quiet -V 4 a.wav a.mp3 && lame --quiet --decode a.mp3 m.wav
    flac -s -8 -V -o a.flac a.wav
    flac -s -d -o f.wav a.flac && cmp a.wav f.wav && echo lossless
    oggenc -Q -q 4 -s 7 -o a.ogg a.wav && oggdec -Q -o o.wav a.ogg
    opusenc --quiet --serial 7 a.wav a.opus && opusdec --quiet a.opus u.wav
    metaflac --set-tag=TITLE=t --show-tag=TITLE a.flac && metaflac --show-md5sum a.flac
    for i in *.mp3 *.ogg [mou].wav; do cksum "$i"; done
    opusinfo a.opus 2>&1 | grep -iE 'playback|channels'
}

# With several threads of OpenMP a swirl is not the same each time, and ImageMagick ends by SIGABRT now and then,
# natively as well.
pictures_of_magick() {
    export OMP_NUM_THREADS=1
    gm convert -size 200x150 gradient:red-blue -swirl 60 -fill white -draw 'circle 60,60 20,20' a.ppm
    gm convert a.ppm -resize 320x -blur 0x2 -unsharp 1x1 -modulate 110,80 -rotate 12 -colors 40 b.ppm
    for form in png gif jpg tiff bmp webp pcx xpm; do
        gm convert b.ppm "c.$form" && echo "$form $(gm identify -format '%wx%h %#' "c.$form")"
    done
    gm compare -metric mse a.ppm a.ppm | tail -n 1
    gm montage a.ppm b.ppm -geometry 60x60+2+2 d.ppm
    gm composite -dissolve 40 a.ppm b.ppm e.ppm
    for i in *.ppm; do cksum "$i"; done
}

# pages: of Ghostscript, without what it says of itself
pages() { gs -q -dNOPAUSE -dBATCH -dSAFER "$@"; }

pages_of_ghostscript() {
    cat >p.ps <<'END'
%!PS
/Times-Roman findfont 24 scalefont setfont 72 700 moveto (pages of words, and one more) show
/t { dup 0 gt { 0 0 moveto dup 9 div setgray 60 60 rlineto stroke 20 rotate 0.8 dup scale 1 sub t } { pop } ifelse }
def gsave 300 400 translate 8 t grestore 1 0 0 setrgbcolor 300 300 100 0 360 arc fill showpage
/g { dup 2 ge { dup 1 sub g exch 2 sub g add } if } bind def 18 g = { 1 0 div } stopped { $error /errorname get == } if
/d { d 1 add } def { 0 d } stopped { $error /errorname get == } if
/Helvetica findfont 40 scalefont setfont 72 500 moveto (second) true charpath 2 setlinewidth stroke showpage
END
    pages -sDEVICE=png16m -r60 -dNumRenderingThreads=3 -dBandBufferSpace=200000 -dMaxBitmap=10000 -o p%d.png p.ps
    pages -sDEVICE=pngalpha -dTextAlphaBits=4 -dGraphicsAlphaBits=4 -r40 -o q%d.png p.ps >/dev/null
    pages -sDEVICE=pdfwrite -dCompressPages=false -o p.pdf p.ps >/dev/null
    pages -sDEVICE=tiffg4 -r72 -o p.tiff p.pdf
    pages -sDEVICE=bbox p.pdf 2>&1
    for i in p?.png q?.png; do cksum "$i"; done
    gm identify -format '%wx%h %#\n' p.tiff
    pdftotext -layout p.pdf - | grep .
    pdftoppm -r 50 -png p.pdf r && cksum r-*.png
    pdftocairo -r 50 -jpeg p.pdf s && cksum s-*.jpg
    pdfinfo p.pdf | grep -E 'Pages|Page size'
    pdffonts p.pdf | wc -l
    pdfseparate p.pdf u%d.pdf && pdfunite u2.pdf u1.pdf v.pdf && pdftotext v.pdf - | grep .
}
