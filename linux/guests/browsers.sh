# SPDX-License-Identifier: GPL-2.0-or-later
# Browsers at work, and programs in QEMU, one function each: what it says natively it says in the server
# (lab/cobnut/linux/suites.py). Each begins in an empty folder.

pages_of_firefox() { # its processes in their sandboxes: scripts, compiled code, drawing, what is stored
    export HOME=$PWD MOZ_HEADLESS=1
    cat >a.html <<'END'
<html><body style="background:#fed"><h1>Title</h1><p id=p></p><canvas id=c width=200 height=60></canvas><script>
function fib(n) { return n < 2 ? n : fib(n - 1) + fib(n - 2) }
const say = x => { p.textContent += x + ' ' }
say(fib(22)); say([3, 1, 2].sort().join()); say(/(a|b)+c/.test('ababc'))
const g = c.getContext('2d')
for (let i = 0; i < 20; i++) { g.fillStyle = `rgb(${i * 12},90,${250 - i * 12})`; g.fillRect(i * 10, i, 8, 40) }
const w = new Uint8Array([0, 97, 115, 109, 1, 0, 0, 0, 1, 7, 1, 96, 2, 127, 127, 1, 127, 3, 2, 1, 0, 7, 5, 1, 1, 97,
    0, 0, 10, 9, 1, 7, 0, 32, 0, 32, 1, 106, 11])
say(new WebAssembly.Instance(new WebAssembly.Module(w)).exports.a(40, 2))
localStorage.a = 'kept'; say(localStorage.a)
</script></body></html>
END
    timeout 200 firefox-esr --headless --screenshot "$PWD/s.png" --window-size=400,300 "file://$PWD/a.html" \
        >/dev/null 2>&1
    echo $?
    cksum s.png
}

pages_as_text() {
    export HOME=$PWD TERM=xterm
    echo '<table border=1>' >a.html
    for i in $(seq 40); do echo "<tr><td>$i<td>$((i * i))<td><a href=#>w</a>"; done >>a.html
    busybox httpd -p 127.0.0.1:8087 -h "$PWD"
    w3m -dump http://127.0.0.1:8087/a.html | cksum
    lynx -dump -nolist http://127.0.0.1:8087/a.html | cksum
    lynx -dump -listonly a.html | tail -n 1 | cut -d: -f1
    pkill -f 'httpd -p 127.0.0.1:8087'
}

programs_in_qemu() { # translated as they run, with signals and processes of their own
    qemu-i386 /bin/busybox sh -c 'trap "echo trapped" USR1; kill -USR1 $$; seq 2000 | md5sum; (exit 5); echo $?'
    qemu-i386 /bin/busybox sh -c 'for i in $(seq 20); do (exit $i) & done; wait; seq 99 | tac | sort -n | tail -n 1'
    qemu-i386 /usr/bin/python3 -c '
import signal, zlib
seen = []
signal.signal(signal.SIGALRM, lambda *_: seen.append(1)); signal.setitimer(signal.ITIMER_REAL, 0.05)
while not seen: pass
print("alarm", zlib.crc32(bytes(1000000)), 2.0 ** 0.5, sum(i * i for i in range(30000)))'
    qemu-i386 -strace /bin/true 2>&1 | grep -c exit_group
}
