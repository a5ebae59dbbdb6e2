# SPDX-License-Identifier: GPL-2.0-or-later
# Servers of shares, directories, mailboxes and pages, repositories, allocators of memory and OCaml at work, one
# function each: what it says natively it says in the server (lab/cobnut/linux/suites.py). Each begins in an empty
# folder.

files_by_samba() { # a process for each client, locks and leases, users taken on by threads
    mkdir -p share private lock state cache pid rpc /var/log/samba
    printf '[global]\nworkgroup = T\nserver role = standalone\nsmb ports = 4450\ninterfaces = 127.0.0.1\n
        bind interfaces only = yes\nload printers = no\ndisable spoolss = yes\nlog file = %s/log\n' "$PWD" >s.conf
    for one in private:private lock:lock state:state cache:cache pid:pid; do
        echo "${one%:*} directory = $PWD/${one#*:}" >>s.conf
    done
    printf 'ncalrpc dir = %s/rpc\n[files]\npath = %s/share\nwritable = yes\nea support = yes\n' "$PWD" "$PWD" >>s.conf
    printf 'pass\npass\n' | smbpasswd -c "$PWD/s.conf" -s -a root >/dev/null 2>&1
    smbd -D -s "$PWD/s.conf" 2>/dev/null
    until share ls >/dev/null; do sleep 0.5; done
    seq 200000 >big
    share 'put big; mkdir d; cd d; put s.conf conf; rename conf other; ls; cd ..; get big back; du' | clean
    cmp big back && echo the same
    share 'posix; lock 1 w 0 10; allinfo big' | grep -cE 'create_time|stream'
    for i in 1 2 3 4 5 6; do share "put big big$i; get big$i back$i" >/dev/null & done
    wait
    cksum back? share/big? | cut -d' ' -f1,2 | uniq -c
    share 'del big; rmdir d; ls nothing' | clean
    kill "$(cat pid/smbd.pid)"
    while pgrep -x smbd >/dev/null; do sleep 0.5; done
}

# share COMMANDS: of a client
share() { smbclient //127.0.0.1/files -p 4450 -s "$PWD/s.conf" -U root%pass -c "$1" 2>&1; }

# clean: without times and rates
clean() { sed -E 's/ (Mon|Tue|Wed|Thu|Fri|Sat|Sun) .*//; s/\([^)]*\)//g; s/[0-9]+ blocks.*//; s/ +/ /g'; }

directory_by_openldap() { # a database that is mapped, written by threads
    mkdir db
    printf 'include /etc/ldap/schema/core.schema\nmodulepath /usr/lib/ldap\nmoduleload back_mdb\nthreads 8\n' >c
    printf 'database mdb\nsuffix "dc=t"\nrootdn "cn=a,dc=t"\nrootpw p\nmaxsize 33554432\nindex cn eq\n' >>c
    echo "directory $PWD/db" >>c
    printf 'dn: dc=t\nobjectClass: dcObject\nobjectClass: organization\no: t\ndc: t\n\n' >x
    for i in $(seq 200); do
        printf 'dn: cn=n%s,dc=t\nobjectClass: person\ncn: n%s\nsn: s%s\n\n' "$i" "$i" $((i % 7)) >>x
    done
    slapadd -q -f c -l x && slapcat -f c | grep -c ^dn
    slapd -h ldap://127.0.0.1:3890 -f c
    until found -s base o | grep '^o:'; do sleep 0.5; done
    for i in 1 2 3 4 5 6; do found "(sn=s$i)" cn | grep -c '^cn:' & done | sort | uniq -c
    for i in $(seq 40); do printf 'dn: cn=n%s,dc=t\nchangetype: modify\nreplace: sn\nsn: changed\n\n' "$i"; done |
        ldapmodify -x -H ldap://127.0.0.1:3890 -D cn=a,dc=t -w p | grep -c modifying
    for i in 50 51 52; do ldapdelete -x -H ldap://127.0.0.1:3890 -D cn=a,dc=t -w p "cn=n$i,dc=t" & done
    wait
    found '(sn=changed)' cn | grep -c '^cn:'
    found '(objectClass=person)' cn | grep -c '^cn:'
    pkill -x slapd
    while pgrep -x slapd >/dev/null; do sleep 0.3; done
    slapcat -f c | grep -c ^dn
}

# found WHAT: in the directory
found() { ldapsearch -x -LLL -H ldap://127.0.0.1:3890 -b dc=t "$@" 2>/dev/null; }

mailboxes_by_dovecot() { # processes that pass descriptors to each other
    mkdir -p mail /run/dovecot
    chown 1000:1000 mail
    printf 'base_dir = /run/dovecot\nprotocols = imap\nssl = no\ndisable_plaintext_auth = no\nlog_path = %s/log\n
mail_location = maildir:%s/mail/%%u\nlisten = 127.0.0.1\ndefault_vsz_limit = 0\n
passdb {\n driver = static\n args = password=p\n}\n
userdb {\n driver = static\n args = uid=1000 gid=1000 home=%s/mail/%%u\n}\n
service imap-login {\n inet_listener imap {\n port = 1430\n }\n}\n' "$PWD" "$PWD" "$PWD" >d.conf
    dovecot -c d.conf
    printf 'Subject: one\r\n\r\nText\r\n' >m
    until mailbox u/INBOX -X 'STATUS INBOX (MESSAGES)' | grep STATUS; do sleep 0.5; done
    mailbox u/INBOX -T m
    mailbox u/INBOX -T m
    mailbox u/INBOX -X 'SEARCH SUBJECT one'
    mailbox 'u/INBOX;MAILINDEX=2' | tail -1
    mailbox u -X 'CREATE other'
    mailbox u/INBOX -X 'COPY 1 other'
    mailbox u -X 'LIST "" *' | sort
    for i in 1 2 3 4 5 6 7 8; do mailbox "v$i/INBOX" -T m & done
    wait
    ls mail/v*/new mail/v*/cur | grep -c '^[0-9]'
    doveadm -c d.conf stop
    ! grep -E 'Fatal|Panic|Error' log
}

# mailbox USER/PLACE OPTION...: by curl
mailbox() {
    local user=${1%%/*} place=${1#*/}
    [ "$1" = "$user" ] && place=
    shift
    curl -s -u "$user:p" "imap://127.0.0.1:1430/$place" "$@" | tr -d '\r'
}

pages_by_varnish() { # its configuration is compiled and loaded; a cache that hundreds of threads share
    seq 5000 >page
    python3 -m http.server 8083 --bind 127.0.0.1 >/dev/null 2>&1 &
    until curl -s http://127.0.0.1:8083/page >/dev/null; do sleep 0.3; done
    varnishd -j none -n "$PWD/v" -a 127.0.0.1:6081 -b 127.0.0.1:8083 -s malloc,16m -P "$PWD/pid" 2>&1
    until curl -s http://127.0.0.1:6081/page | cksum | grep 23893; do sleep 0.5; done
    for i in $(seq 20); do curl -s http://127.0.0.1:6081/page | cksum & done | sort | uniq -c
    curl -sI http://127.0.0.1:6081/page | tr -d '\r' | grep -cE '^(Via|X-Varnish)'
    varnishadm -n "$PWD/v" ban req.url '~' page
    varnishadm -n "$PWD/v" status
    kill %1 "$(cat pid)"
    while pgrep varnishd >/dev/null; do sleep 0.3; done
}

versions_by_subversion() {
    svnadmin create r
    svn co -q "file://$PWD/r" w
    (cd w && seq 100 >f && mkdir d && cp f d/g && svn add -q f d && svn ci -q -m one && seq 90 >f && svn ci -q -m two)
    svnserve -d -r "$PWD" --listen-port 3691 --listen-host 127.0.0.1 --pid-file pid
    svn log -q svn://127.0.0.1:3691/r | cut -d'|' -f1
    svn diff -c2 svn://127.0.0.1:3691/r | grep -c '^-'
    svn export -q svn://127.0.0.1:3691/r e && ls e e/d
    kill "$(cat pid)"
    svnadmin verify -q r && echo verified
    svnadmin dump -q r | grep -c ^Node-path
}

versions_by_mercurial() {
    export HGUSER=u HGPLAIN=1
    hg init r
    (cd r && seq 300 >f && hg add -q f && hg commit -m one -d '0 0' && seq 250 >f && hg commit -m two -d '0 0')
    hg -R r serve -d -a 127.0.0.1 -p 8084 --pid-file pid
    hg clone -q http://127.0.0.1:8084 c
    hg -R c log --template '{rev} {node|short} {desc}\n'
    (cd c && hg up -q 0 && echo more >>f && hg commit -q -m three -d '0 0' && hg merge -q && hg commit -m four -d '0 0')
    hg -R c heads --template '{node|short}\n'
    kill "$(cat pid)"
    hg -R c verify -q
}

# threads that pass memory on to each other, trees of small pieces, and large ones
ALLOCATING='
import threading, queue
passed = queue.Queue(20)
def make():
    for i in range(300): passed.put([bytes([i % 256]) * (i * 37 % 9000 + 1) for _ in range(40)])
    passed.put(None)
total = [0]
def take():
    while (got := passed.get()) is not None: total[0] += sum(map(len, got))
threads = [threading.Thread(target=make) for _ in range(4)]
takers = [threading.Thread(target=take) for _ in range(1)]
for one in threads: one.start()
for _ in range(4): take()
large = [bytearray(n << 20) for n in range(1, 12)]
large[5].extend(bytes(7 << 20))
tree = {i: {j: str(i * j) for j in range(50)} for i in range(400)}
del large
print(total[0], sum(len(v) for t in tree.values() for v in t.values()))
'

allocators() {
    seq 200000 >n
    for library in libjemalloc.so.2 libtcmalloc_minimal.so.4 libmimalloc.so.2.0; do
        file=$(ls /usr/lib/i386-linux-gnu/$library)
        LD_PRELOAD=$file PYTHONMALLOC=malloc python3 -c "$ALLOCATING"
        LD_PRELOAD=$file sort -r --parallel=4 -S 8M n | cksum
        LD_PRELOAD=$file bash -c 'for i in 1 2 3; do (echo $((i * i))) & done; wait' | sort
    done
}

ocaml_compiles() { # the compiler of native code and that of byte code; threads with a master lock, exceptions by faults
    cat >p.ml <<'P'
let rec depth n = if n = 0 then 0 else 1 + depth (n - 1)
let fib = let rec f n = if n < 2 then n else f (n - 1) + f (n - 2) in f
let () =
  Printf.printf "%d %d\n" (fib 25) (depth 10000);
  (try ignore (depth 100_000_000) with Stack_overflow -> print_endline "overflow");
  let sums = Array.make 8 0 in
  let threads = List.init 8 (fun i -> Thread.create (fun () ->
    for j = 1 to 2000 do sums.(i) <- sums.(i) + j; if j mod 100 = 0 then Thread.yield () done) ()) in
  List.iter Thread.join threads;
  Printf.printf "%d\n" (Array.fold_left (+) 0 sums);
  let input, output = Unix.pipe () in
  (match Unix.fork () with
   | 0 -> ignore (Unix.write_substring output "child\n" 0 6); Unix._exit 3
   | pid -> (match Unix.waitpid [] pid with
     | _, Unix.WEXITED code -> Printf.printf "exited %d\n" code | _ -> ()));
  let line = Bytes.create 6 in
  ignore (Unix.read input line 0 6); print_string (Bytes.to_string line);
  Sys.set_signal Sys.sigalrm (Sys.Signal_handle (fun _ -> print_endline "alarm"));
  ignore (Unix.setitimer Unix.ITIMER_REAL { Unix.it_interval = 0.; it_value = 0.05 });
  (try Unix.sleepf 0.3 with Unix.Unix_error _ -> ());
  Gc.compact ();
  Printf.printf "%.15g %s\n" (sqrt 2. ** 3.) (Digest.to_hex (Digest.string "x"))
P
    ocamlopt -I +threads unix.cmxa threads.cmxa p.ml -o n && ./n
    ocamlc -I +threads unix.cma threads.cma p.ml -o b && ocamlrun ./b
    echo 'List.iter print_int (List.map (fun x -> x * x) [1; 2; 3]);;' >t.ml && ocaml t.ml
}
