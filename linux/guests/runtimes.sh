# SPDX-License-Identifier: GPL-2.0-or-later
# Editors and languages with machines of their own at work, one function each: what it says natively it says in the
# server (lab/cobnut/linux/suites.py). Each begins in an empty folder.

node_compiles() { # V8 compiles, collects, and throws what it compiled away
    cat >a.js <<'END'
function fib(n) { return n < 2 ? n : fib(n - 1) + fib(n - 2) }
function add(a, b) { return a + b }
let s = 0
for (let i = 0; i < 300000; i++) s = add(s, i)
console.log(fib(24), s, add('a', 1), add(0.5, 0.25), add([1], {}))
const m = new Map()
for (let i = 0; i < 100000; i++) m.set('k' + i % 1000, { i, a: new Array(8).fill(i) })
console.log(m.size, [...m.values()].reduce((x, y) => x + y.a[3], 0), 2n ** 130n, Math.sin(1e6).toFixed(12))
const f = new Float64Array(10000).map((_, i) => Math.sqrt(i))
console.log(f.reduce((x, y) => x + y).toFixed(6), /(a+)+b/.test('a'.repeat(20)), 'ß'.toUpperCase())
const w = Buffer.from('AGFzbQEAAAABBwFgAn9/AX8DAgEABwcBA2FkZAAACgkBBwAgACABags=', 'base64')
WebAssembly.instantiate(w).then(x => console.log('wasm', x.instance.exports.add(40, 2)))
try { (function deep() { deep() })() } catch (e) { console.log(e instanceof RangeError) }
END
    node a.js
    node --jitless -e 'console.log([3, 1, 2].sort().join(), JSON.stringify({ a: [1, { b: 2 }] }))'
}

node_serves() { # workers, a server, children, streams, files and timers
    cat >a.js <<'END'
const { Worker, isMainThread, parentPort, workerData } = require('worker_threads')
const http = require('http'), fs = require('fs'), zlib = require('zlib'), crypto = require('crypto')
const { spawn } = require('child_process')
if (!isMainThread) {
    const a = new Int32Array(workerData)
    for (let i = 0; i < 2000; i++) Atomics.add(a, 0, 1)
    parentPort.postMessage('done')
} else (async () => {
    const shared = new SharedArrayBuffer(4)
    const worker = () => new Promise(r => new Worker(__filename, { workerData: shared }).on('exit', r))
    await Promise.all([1, 2, 3, 4].map(worker))
    console.log('workers', new Int32Array(shared)[0])
    const server = http.createServer((q, s) => s.end(q.url.repeat(1000))).listen(8085)
    const get = u => new Promise(r => http.get('http://127.0.0.1:8085' + u, s => {
        let n = 0
        s.on('data', d => n += d.length).on('end', () => r(n))
    }))
    const lengths = await Promise.all([...Array(40).keys()].map(i => get('/' + i)))
    console.log(lengths.reduce((x, y) => x + y))
    server.close()
    const c = spawn('sort', ['-n'])
    c.stdin.end([5, 3, 11].join('\n') + '\n')
    for await (const d of c.stdout) console.log(JSON.stringify(String(d)))
    fs.writeFileSync('f', 'x'.repeat(1e6))
    const z = zlib.gzipSync(fs.readFileSync('f'))
    console.log(z.length, zlib.gunzipSync(z).length, crypto.createHash('sha256').update(z.subarray(10)).digest('hex'))
    await fs.promises.rename('f', 'g')
    console.log(fs.readdirSync('.'), crypto.pbkdf2Sync('p', 's', 500, 16, 'sha1').toString('hex'))
    const t = process.hrtime.bigint()
    setTimeout(() => {
        console.log(process.hrtime.bigint() - t >= 49000000n)
        process.kill(process.pid, 'SIGUSR2')
    }, 50)
    process.on('SIGUSR2', () => { console.log('signal'); process.exit(7) })
})()
END
    node a.js
    echo $?
}

mono_runs() {
    cat >a.cs <<'END'
using System; using System.Collections.Generic; using System.Linq;
using System.Threading; using System.Threading.Tasks;
class A {
    static int n; [ThreadStatic] static int own; static readonly object o = new object();
    static double Sum(int n) { double s = 0; for (int i = 1; i < n; i++) s += 1.0 / i; return s; }
    class F { ~F() { Interlocked.Increment(ref n); } }
    static void Deep(int i) { if (i > 0) Deep(i - 1); else throw new InvalidOperationException("deep"); }
    static void Main(string[] a) {
        Console.WriteLine(Sum(100000).ToString("F9"));
        ThreadStart counts = () => { for (int i = 0; i < 3000; i++) lock (o) { n++; own++; } };
        var ts = Enumerable.Range(0, 6).Select(k => new Thread(counts)).ToList();
        ts.ForEach(t => t.Start()); ts.ForEach(t => t.Join());
        Console.WriteLine("{0} {1}", n, own);
        var squares = Enumerable.Range(1, 20).Select(async i => { await Task.Delay(5); return i * i; });
        Console.WriteLine(Task.WhenAll(squares).Result.Sum());
        try { Deep(50); } catch (InvalidOperationException e) { Console.WriteLine(e.Message); }
        string s = null;
        try { Console.WriteLine(s.Length); } catch (NullReferenceException) { Console.WriteLine("null"); }
        try { Console.WriteLine(1 / a.Length); } catch (DivideByZeroException) { Console.WriteLine("zero"); }
        n = 0; for (int i = 0; i < 20000; i++) new F(); GC.Collect(); GC.WaitForPendingFinalizers();
        Console.WriteLine(n > 19000);
        var d = new Dictionary<string, int>(); for (int i = 0; i < 50000; i++) d["k" + i % 777] = i;
        Console.WriteLine(d.Values.Sum() + " " + (decimal)1 / 3 + " " + checked(int.MaxValue - 1));
    }
}
END
    mcs -out:a.exe a.cs && mono a.exe
    mono --gc=boehm a.exe 2>&1 | tail -n 2
}

emacs_batch() { # Lisp, its compiler, processes, threads and buffers
    export HOME=$PWD
    cat >a.el <<'END'
(defun fib (n) (if (< n 2) n (+ (fib (- n 1)) (fib (- n 2)))))
(message "%S %S" (fib 17) (expt 3 100))
(byte-compile 'fib)
(message "%S %S" (fib 19) (byte-code-function-p (symbol-function 'fib)))
(with-temp-buffer
  (dotimes (i 2000) (insert (format "%d word\n" (mod (* i 7919) 2003))))
  (sort-numeric-fields 1 (point-min) (point-max))
  (message "%s %d" (md5 (current-buffer)) (how-many "9" (point-min) (point-max)))
  (message "%S" (call-process-region (point-min) (point-max) "wc" t t nil "-l"))
  (message "%s" (string-trim (buffer-string))))
(let* ((out "") (p (make-process :name "p" :command '("sh" "-c" "cat; exit 3") :connection-type 'pty
         :filter (lambda (_ s) (setq out (concat out s))))))
  (process-send-string p "to and fro\n")
  (process-send-eof p)
  (while (process-live-p p) (accept-process-output p 0.1))
  (message "%S %S" out (process-exit-status p)))
(let ((ts (mapcar (lambda (i) (make-thread (lambda () (thread-yield) (* i i)))) '(1 2 3 4))))
  (message "%S" (mapcar #'thread-join ts)))
(message "%S" (condition-case e (funcall (lambda () (/ 1 0))) (arith-error e)))
(require 'org)
(with-temp-buffer (insert "* One\n| a | 2 |\n| b | 3 |\n#+TBLFM: @3$2=@1$2*4\n") (org-mode)
  (goto-char 9) (org-table-recalculate 'all) (message "%S" (buffer-substring-no-properties 1 (point-max))))
(garbage-collect)
(message "%S" (json-encode '((a . [1 2]))))
END
    emacs -Q --batch -l a.el 2>&1
    emacs -Q --batch -f batch-byte-compile a.el 2>&1 | tail -n 1
    ls a.elc
}

emacs_on_a_terminal() {
    export HOME=$PWD TERM=xterm
    printf 'first\nsecond\n' >t
    expect -c 'set timeout 100; log_user 0; spawn emacs -Q -nw t; expect "first"; sleep 2
        send "\033>third \021a\021b"; send "\030\023"; sleep 2; send "\030\003"; expect eof'
    cat -v t
    emacs -Q --daemon=d >/dev/null 2>&1
    emacsclient -s d -e '(progn (find-file "t") (goto-char 1) (insert "zero ") (save-buffer) (buffer-string))'
    emacsclient -s d -e '(kill-emacs)'
    cat -v t
}

vim_scripts() {
    export HOME=$PWD
    for i in $(seq 300); do echo "line $i of $((i * 7919 % 1009))"; done >t
    vim -u NONE -i NONE -N -es -S /dev/stdin t <<'END'
%sort! n /of /
g/7$/m0
%s/line \(\d\+\)/\=submatch(1) * 3/
norm gg10dd5jyyP
let j = job_start(['sh', '-c', 'echo from a job'], {'out_cb': {c, m -> append(0, m)}})
sleep 500m
undo | redo
call writefile([string(line('$')), strftime('%Y', 0), sha256('x')], 'o')
exe 'py3 import vim; vim.current.buffer.append("python " + str(len(vim.current.buffer)))'
w! u
q!
END
    cksum u; cat o; tail -n 1 u
    expect -c 'set timeout 60; log_user 0; spawn vim -u NONE -N t; sleep 2; send "ggOtyped\033:wq\r"; expect eof'
    head -n 1 t
}

small_editors() {
    export HOME=$PWD TERM=xterm
    printf 'one\ntwo\nthree\n' >t
    printf '2s/two/2/\n1m$\nw\nq\n' | ed -s t
    cat t
    expect -c 'set timeout 60; log_user 0; spawn nano t; sleep 2; send "typed \017\r\030"; expect eof'
    head -n 1 t
    expect -c 'set timeout 60; log_user 0; spawn mcedit t; sleep 3; send "by mc "; send "\033OQ"; sleep 1
        send "\r"; sleep 1; send "\033\033"; sleep 1; send "\r"; expect eof'
    head -n 1 t
}

lisp_guile() {
    export HOME=$PWD
    cat >a.scm <<'END'
(use-modules (system vm vm) (ice-9 threads) (ice-9 futures) (srfi srfi-1) (rnrs bytevectors))
(define (fib n) (if (< n 2) n (+ (fib (- n 1)) (fib (- n 2)))))
(display (list (fib 22) (expt 7 77) (/ 10 4) (exact->inexact 1/3))) (newline)
(display (par-map (lambda (n) (fib n)) '(10 12 14 16))) (newline)
(define m (make-mutex)) (define n 0)
(for-each join-thread (map (lambda (_) (call-with-new-thread (lambda ()
  (let loop ((i 0)) (when (< i 500) (with-mutex m (set! n (+ n 1))) (loop (+ i 1))))))) (iota 5)))
(display n) (newline)
(display (call/cc (lambda (k)
  (dynamic-wind (lambda () (display "in ")) (lambda () (k 5)) (lambda () (display "out ")))))) (newline)
(define (deep) (+ 1 (deep)))
(display (catch #t (lambda () (call-with-stack-overflow-handler 20000 deep (lambda () (throw 'deep))))
  (lambda (k . _) k))) (newline)
(let ((v (make-vector 100000 0)))
  (for-each (lambda (i) (vector-set! v i (list i (number->string i)))) (iota 100000))
  (gc) (display (vector-ref v 77777)) (newline))
(display (bytevector-u32-native-ref (u8-list->bytevector '(1 2 3 4)) 0)) (newline)
END
    guile-3.0 --no-auto-compile a.scm
    guile-3.0 a.scm 2>&1 | tail -n 2
}

lisp_clisp() {
    cat >a.lisp <<'END'
(defun f (n) (if (< n 2) 1 (* n (f (- n 1)))))
(print (f 60))
(compile 'f)
(print (f 30))
(print (handler-case (/ 1 0) (division-by-zero () 'zero)))
(let ((h (make-hash-table))) (dotimes (i 50000) (setf (gethash i h) (list i))) (gc) (print (hash-table-count h)))
(print (sqrt -4)) (print (/ 6 4)) (print (coerce pi 'double-float))
END
    clisp -q -q a.lisp
    clisp -q -q -c a.lisp >/dev/null && clisp -q -q a.fas | tail -n 1
}

prolog_swi() {
    cat >a.pl <<'END'
:- use_module(library(clpfd)). :- use_module(library(lists)).
:- use_module(library(apply)). :- use_module(library(yall)).
queens(N, Qs) :- length(Qs, N), Qs ins 1..N, safe(Qs), labeling([ff], Qs).
safe([]). safe([Q|Qs]) :- no(Q, Qs, 1), safe(Qs).
no(_, [], _). no(Q, [R|Rs], D) :- Q #\= R, abs(Q - R) #\= D, D1 is D + 1, no(Q, Rs, D1).
fib(0, 0). fib(1, 1). fib(N, F) :- N > 1, A is N - 1, B is N - 2, fib(A, X), fib(B, Y), F is X + Y.
t(N) :- thread_self(M), format(atom(_), "~w", [M]), fib(N, F), thread_exit(F).
:- initialization((queens(8, Q), print(Q), nl, fib(15, F), X is 2 ** 200 mod 1000007, print(F-X), nl,
    findall(T, (member(N, [8, 9, 10, 11]), thread_create(t(N), T)), Ts),
    findall(S, (member(T, Ts), thread_join(T, exited(S))), Ss), print(Ss), nl,
    catch(atom_length(_, _), error(E, _), (print(E), nl)),
    catch(call_with_depth_limit(fib(100000, _), 100, R), _, true), print(R), nl,
    numlist(1, 20000, L), foldl([A, B, C]>>(C is A + B), L, 0, Z), print(Z), nl, halt)).
END
    swipl -q a.pl
}

tcl_threads() {
    cat >a.tcl <<'END'
package require Thread
set ts {}
for {set i 0} {$i < 4} {incr i} {
    lappend ts [thread::create -joinable {
        proc work {n} { set s 0; for {set i 0} {$i < $n} {incr i} { incr s [expr {$i * $i % 7}] }; tsv::incr a b $s }
        work 2000
    }]
}
foreach t $ts { thread::join $t }
puts [tsv::get a b]
set s [socket -server {apply {{c h p} { puts $c [string repeat x 5000]; close $c }}} 8086]
set c [socket localhost 8086]
fileevent $c readable { set n [gets $c l]; if {[eof $c]} { set done 1 }; if {$n > 0} { puts $n } }
vwait done
puts [expr {2 ** 100}] ; puts [lsort -integer {10 9 1}] ; puts [exec sort << "b\na\n"]
after 30 {set x 1}; vwait x
puts [catch {expr {1 / 0}} m],$m
END
    tclsh a.tcl
}
