# SPDX-License-Identifier: GPL-2.0-or-later
# Debian's ordinary programs at work, one function each: what it says natively it says in the server
# (lab/cobnut/linux/suites.py). Each begins in an empty folder.

perl_forks() {
    perl -e 'my %h; $h{$_ % 97} += $_ for 1..50000; print join(",", map { $h{$_} } (sort { $a <=> $b } keys %h)[0..4]);
        my $p = fork; exit 3 unless $p; waitpid $p, 0; print " ", $? >> 8, "\n"'
}

perl_threads() {
    perl -Mthreads -e 'sub sum { my $s = 0; $s += $_ for 1..3000 * $_[0]; $s }
        my @t = map { threads->create("sum", $_) } 1..4; print $_->join, "\n" for @t'
}

git_history() {
    git init -q one
    cd one || return
    git config user.email a@b && git config user.name n
    for i in 1 2 3; do echo $i >f$i && git add . && git commit -q -m c$i; done
    git log --oneline | wc -l
    git gc -q
    git fsck
    cd .. && git clone -q one two && git -C two status -s && git -C two log -p | wc -l
}

sqlite() {
    sqlite3 t.db "create table t(a, b);
        with recursive c(x) as (select 1 union all select x + 1 from c where x < 5000)
        insert into t select x, x * x from c;
        create index i on t(b); select count(*), sum(b) from t; pragma journal_mode=wal; update t set a = a + 1;
        pragma integrity_check; vacuum; select max(a) from t;"
}

archives() {
    mkdir d
    for i in $(seq 20); do head -c 5000 /dev/urandom >d/$i; done
    for c in -J -z -j --zstd; do
        tar c $c -f d.tar d && mkdir x && tar x $c -f d.tar -C x && diff -r d x/d && rm -r x && echo ok $c
    done
    rsync -a d/ e/ && diff -r d e && zip -qr d.zip d && unzip -tq d.zip
}

compressors_with_threads() {
    head -c 1000000 /bin/bash >big
    xz -T4 -1 -k big && zstd -q -T3 -k big && xz -dc big.xz | cmp - big && zstd -dc big.zst | cmp - big && echo ok
}

openssl_connection() {
    openssl req -x509 -newkey ec -pkeyopt ec_paramgen_curve:prime256v1 -nodes \
        -keyout k.pem -out c.pem -subj /CN=localhost -days 2 2>/dev/null
    openssl s_server -accept 4433 -key k.pem -cert c.pem -www -quiet &
    until printf 'GET / HTTP/1.0\r\n\r\n' | openssl s_client -connect localhost:4433 -quiet 2>/dev/null |
        grep -c Ciphers; do sleep 0.2; done
    kill %1
}

# ask URL: until there is an answer
ask() { until curl -s "$1"; do sleep 0.2; done; }

web_by_lighttpd() {
    echo hello >index.html
    printf 'server.document-root="%s"\nserver.port=8081\n' "$PWD" >l.conf
    lighttpd -D -f l.conf 2>/dev/null &
    for i in 1 2 3; do ask http://localhost:8081/index.html; done
    kill %1
}

web_by_nginx() {
    mkdir -p /var/log/nginx /var/lib/nginx
    echo hello >index.html
    echo "user root; worker_processes 2; daemon off; events {} http { server { listen 8082; root $PWD;
        access_log off; } }" >n.conf
    nginx -c "$PWD/n.conf" &
    for i in 1 2 3; do ask http://localhost:8082/index.html; done
    kill %1
}

web_by_busybox() {
    echo hello >index.html
    busybox httpd -f -p 8083 -h . &
    ask http://127.0.0.1:8083/index.html
    kill %1
}

ssh_session() {
    . /files/ssh.sh
    ssh_server
    $ssh $at 'echo over ssh; exit 5'
    echo $?
    head -c 100000 /bin/bash | $ssh $at cksum
    kill %1
}

python_threads() {
    python3 - <<'END'
import queue, threading
q, r = queue.Queue(), []
def work():
    while (i := q.get()) is not None:
        r.append(i * i)
ts = [threading.Thread(target=work) for _ in range(20)]
[t.start() for t in ts]; [q.put(i) for i in range(3000)]; [q.put(None) for _ in ts]; [t.join() for t in ts]
print(len(r), sum(r))
END
}

python_many_threads() {
    python3 - <<'END'
import threading
go = threading.Event(); ts = [threading.Thread(target=go.wait) for _ in range(300)]
[t.start() for t in ts]; print(threading.active_count()); go.set(); [t.join() for t in ts]; print("joined")
END
}

python_many_processes() {
    python3 - <<'END'
import os, signal
ps = []
for _ in range(300):
    p = os.fork()
    if p == 0:
        signal.pause(); os._exit(0)
    ps.append(p)
[os.kill(p, 9) for p in ps]; print(sum(os.waitpid(p, 0)[1] == 9 for p in ps))
END
}

python_multiprocessing() {
    cat >m.py <<'END'
import multiprocessing as mp
def square(x):
    return x * x
def count(v):
    for _ in range(500):
        with v.get_lock():
            v.value += 1
if __name__ == "__main__":
    with mp.Pool(4) as pool:
        print(sum(pool.map(square, range(500))))
    q, v = mp.Queue(), mp.Value("i", 0)
    p = mp.Process(target=q.put, args=([1, 2, 3],)); p.start(); print(q.get()); p.join()
    ps = [mp.Process(target=count, args=(v,)) for _ in range(4)]; [p.start() for p in ps]; [p.join() for p in ps]
    print(v.value)
END
    python3 m.py
}

python_asyncio() {
    python3 - <<'END'
import asyncio
async def serve(r, w):
    w.write((await r.readline()).upper()); await w.drain(); w.close()
async def ask(i):
    r, w = await asyncio.open_connection("127.0.0.1", 9001); w.write(b"x%d\n" % i); x = await r.readline(); w.close()
    return x
async def main():
    await asyncio.start_server(serve, "127.0.0.1", 9001)
    x = await asyncio.gather(*[ask(i) for i in range(40)]); print(len(x), x[39])
    p = await asyncio.create_subprocess_exec("echo", "hi", stdout=asyncio.subprocess.PIPE); print(await p.communicate())
asyncio.run(main())
END
}

python_ctypes() {
    python3 - <<'END'
import ctypes, decimal, hashlib, ssl, zlib
m = ctypes.CDLL("libm.so.6"); m.cos.restype = ctypes.c_double; print(m.cos(ctypes.c_double(1.0)))
compare = ctypes.CFUNCTYPE(ctypes.c_int, ctypes.POINTER(ctypes.c_int), ctypes.POINTER(ctypes.c_int))
a = (ctypes.c_int * 5)(5, 1, 4, 2, 3); ctypes.CDLL(None).qsort(a, 5, 4, compare(lambda x, y: x[0] - y[0]))
print(list(a), decimal.Decimal(2).sqrt(), hashlib.sha256(b"").hexdigest()[:8], zlib.crc32(b"abc"))
END
}

python_memory() {
    python3 - <<'END'
import mmap, os, sys, threading
mb = int(os.environ.get("MEMORY_MB", 100))
a = bytearray(mb << 20); a[::4096] = b"x" * len(a[::4096]); print(sum(a[::4096]) // 120)
m = mmap.mmap(-1, 3 * mb << 20); m[0] = m[-1] = 2; print(m[-1]); m.close()
sys.setrecursionlimit(100000); threading.stack_size(200 << 20)
def deep(n):
    return 0 if n == 0 else 1 + deep(n - 1)
t = threading.Thread(target=lambda: print(deep(10000))); t.start(); t.join()
END
}

valgrind_none() { valgrind -q --tool=none /bin/echo under valgrind; }

strace_counts() {
    strace -f -c sh -c 'ls | cat; echo x' 2>&1 | grep -cE 'execve|clone|vfork'
    strace -e trace=openat true 2>&1 | tail -n 2
}

tmux_session() {
    export TERM=screen
    tmux -f /dev/null new-session -d -s a 'echo in tmux; sleep 30'
    until tmux capture-pane -p -t a | grep 'in tmux'; do sleep 0.2; done
    tmux list-sessions | cut -d: -f1
    tmux kill-server
}

screen_session() {
    export TERM=vt100
    screen -dmS s bash -c 'echo in screen >said; sleep 30'
    until [ -s said ]; do sleep 0.2; done
    cat said
    screen -ls | grep -c Detached
    screen -S s -X quit
}

vim_on_a_terminal() {
    export TERM=vt100
    printf 'a\nb\nc\n' >v.txt
    script -qc 'vim.tiny -u NONE -c "%s/b/BB/" -c wq v.txt' /dev/null >/dev/null 2>&1 </dev/null
    cat v.txt
}

dbus_session() {
    dbus-run-session -- dbus-send --session --print-reply --dest=org.freedesktop.DBus / \
        org.freedesktop.DBus.ListNames | grep -c string
}

languages() {
    echo 'puts [expr {2**100}]; set f [open |[list sort] r+]; puts $f b; puts $f a; chan close $f write
        puts [read $f]' >x.tcl
    tclsh x.tcl
    lua5.4 -e 'local s = 0 for i = 1, 1e5 do s = s + i % 7 end print(s)'
    gawk 'BEGIN { for (i = 0; i < 20000; i++) a[i] = i * i; print length(a), a[999]; printf "%.10f\n", atan2(0, -1) }'
    echo 'scale=50; 4*a(1)' | bc -l
    echo '{"a":[1,2,{"b":3}]}' | jq -c '.a[2].b, (.a | length)'
    perl -e 'printf "%.15g %.15g %.15g %s\n", sin(1), exp(10), 1e300 * 1e10, 9**9**9'
}

sockets() {
    socat TCP-LISTEN:7001,fork,reuseaddr EXEC:cat &
    sleep 1
    echo by socat | socat - TCP:127.0.0.1:7001
    kill %1
    socat -u EXEC:'echo on a terminal',pty,ctty,setsid,stderr - | tr -d '\r'
    nc.openbsd -lU us >said &
    sleep 1
    echo by a file | nc.openbsd -NU us
    wait %2 2>/dev/null
    cat said
}

namespaces() {
    unshare -n -r sh -c 'ip link set lo up; ip -br link show lo'
    unshare --pid --fork --mount-proc ps ax | tail -n 2 | wc -l
    unshare -U -r id -u
    unshare --uts sh -c 'hostname other; hostname'
    hostname
}

limits() {
    prlimit --nofile=50:60 bash -c 'ulimit -n -H'
    bash -c 'ulimit -v 20000; python3 -c 1 2>/dev/null; echo $?'
    bash -c 'ulimit -s unlimited; /bin/true; echo $?'
    timeout -s INT 1 sleep 5
    echo $?
    { timeout -k 1 1 bash -c 'trap : TERM; while :; do :; done'; } 2>/dev/null
    echo $?
    chrt -f 10 true && nice -n 5 nice && ionice -c 3 true && taskset 1 true
    flock lock bash -c 'flock -n lock true; echo $?'
}

inter_process() {
    ipcmk -M 4096 >/dev/null && ipcmk -S 2 >/dev/null && ipcmk -Q >/dev/null
    ipcs | grep -c 0x
    ipcrm -a
    lsof -p $$ | grep -c bash
    fuser -v . 2>&1 | grep -c bash
}

personalities() {
    setarch i686 -R cat /proc/self/maps | head -n 1 | cut -c1-8
    setarch linux32 uname -m
    setarch i686 -3 true
    echo $?
}
