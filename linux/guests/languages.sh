# SPDX-License-Identifier: GPL-2.0-or-later
# Virtual machines and compilers of other languages at work, one function each: what it says natively it says in the
# server (lab/cobnut/linux/suites.py). Each begins in an empty folder.

php_program() { # interpreted, and compiled where the processor has SSE2
    cat >program.php <<'END'
<?php
function fib($n) { return $n < 2 ? $n : fib($n - 1) + fib($n - 2); }
function deep($n) { return $n ? 1 + deep($n - 1) : 0; }
$a = []; for ($i = 0; $i < 50000; $i++) $a[$i % 997] = ($a[$i % 997] ?? 0) + $i * 1.5;
echo fib(20), " ", array_sum($a), " ", deep(20000), "\n";
$children = []; for ($i = 0; $i < 5; $i++) { $p = pcntl_fork(); if (!$p) exit($i); $children[] = $p; }
$s = 0; foreach ($children as $p) { pcntl_waitpid($p, $status); $s += pcntl_wexitstatus($status); } echo $s, "\n";
$n = 0; pcntl_async_signals(true); pcntl_signal(SIGUSR1, function () use (&$n) { $n++; });
for ($i = 0; $i < 50; $i++) posix_kill(posix_getpid(), SIGUSR1); echo $n, "\n";
$p = proc_open('tr a-z A-Z', [['pipe', 'r'], ['pipe', 'w']], $io); fwrite($io[0], "by pipes\n"); fclose($io[0]);
echo stream_get_contents($io[1]), proc_close($p), "\n", preg_match_all('/(a+b?)+c/', str_repeat('aabac', 2000)), "\n";
printf("%.15g %s %s\n", sqrt(2), 0.1 + 0.2, PHP_INT_MAX + 1);
END
    php8.2 -n -d extension=posix program.php
    if grep -q sse2 /proc/cpuinfo; then
        php8.2 -n -d extension=posix -d zend_extension=opcache -d opcache.enable_cli=1 -d opcache.jit=tracing \
            -d opcache.jit_buffer_size=16M program.php
    fi
}

ruby_program() {
    ruby <<'END'
def deep(n) = deep(n + 1)
begin; deep(0); rescue SystemStackError; puts "too deep"; end
p (1..20).map { |i| Thread.new { (1..2000).sum * i } }.sum(&:value), 500.times.map { |i| Fiber.new { i } }.sum(&:resume)
n = 0; trap("USR1") { n += 1 }; 20.times { |i| Process.kill("USR1", $$); Thread.pass until n > i }; p n
r, w = IO.pipe; pid = fork { w.puts "child"; exit! 7 }; w.close; p r.read, Process.wait2(pid)[1].exitstatus
a = []; 100000.times { |i| a << i.to_s; a.shift if a.size > 100 }; GC.start; p a.size, 2**200, Math.sin(1), `echo back`
END
}

luajit_compiles() {
    luajit -e 'local ffi = require "ffi"; ffi.cdef "int getpid(void); double cos(double);"
        print(ffi.C.getpid() > 0, ffi.C.cos(1), jit.status())
        local s = 0; for i = 1, 3e6 do s = (s + i * i) % 1000003 end; print(s)
        local t = {}; for i = 1, 1e5 do t[#t + 1] = tostring(i) end; print(#table.concat(t))
        print(pcall(function() local function f() return 1 + f() end return f() end))'
}

erlang_processes() {
    erl -noshell -eval 'F = fun F(0) -> 0; F(N) -> 1 + F(N - 1) end, io:format("~p~n", [F(200000)]), Me = self(),
        [spawn(fun() -> Me ! lists:sum(lists:seq(1, N)) end) || N <- lists:seq(1, 2000)],
        io:format("~p~n", [lists:sum([receive X -> X end || _ <- lists:seq(1, 2000)])]),
        {ok, L} = gen_tcp:listen(0, [binary, {active, false}]), {ok, P} = inet:port(L),
        spawn(fun() -> {ok, S} = gen_tcp:accept(L), {ok, B} = gen_tcp:recv(S, 0), gen_tcp:send(S, [B, B]) end),
        {ok, C} = gen_tcp:connect("localhost", P, [binary, {active, false}]), gen_tcp:send(C, "ab"),
        io:format("~p~n~s", [gen_tcp:recv(C, 4), os:cmd("echo from a shell")]), halt(3).'
    echo $?
}

gforth_faults() {
    gforth -e ': f dup 2 < if else dup 1- recurse swap 2 - recurse + then ; 22 f . ' \
        -e ': g 0 @ ; : h 1 0 / ; : i recurse 1+ ; '"' g catch . ' h catch . ' i catch . cr bye"
}

terminal_of_expect() {
    cat >dialogue <<'END'
log_user 0
spawn bash --norc -i; expect "\\$ "
send "echo \$((6*7))\r"; expect -re "\n(\[0-9]+)\r"; puts $expect_out(1,string); expect "\\$ "
send "sleep 100\r"; sleep 0.5; send "\003"; expect "\\$ "
send "echo \$?\r"; expect -re "\n(\[0-9]+)\r"; puts $expect_out(1,string); expect "\\$ "
send "cat\r"; sleep 0.5; send "\032"; expect Stopped; puts stopped
send "kill %1; exit\r"; expect eof; puts end
END
    expect dialogue
}

compiled_by_go() {
    seq 1000 | fzf -f 99 | head -n 3
    head -c 200000 /bin/bash >plain
    age-keygen -o key 2>/dev/null
    age -e -i key plain | age -d -i key | cmp - plain && echo same
}

compiled_by_rust() {
    mkdir d
    for i in 1 2 3 4; do seq $i 5000 >d/$i.txt; done
    rg -c '7$' d | sort
    rg --sort path -n '^4(9|8)99$' d
}

compiled_by_sbcl() {
    sbcl --noinform --non-interactive --eval '(progn (defun fib (n) (if (< n 2) n (+ (fib (- n 1)) (fib (- n 2)))))
        (print (list (fib 22) (expt 7 100) (length (loop for i below 100000 collect (cons i i))))) (gc :full t)
        (print (handler-case (labels ((f (x) (1+ (f (1+ x))))) (f 0)) (storage-condition () :exhausted)))
        (print (mapcar (function sb-thread:join-thread) (loop for i below 6 collect
            (let ((i i)) (sb-thread:make-thread (lambda () (loop for k below 1000 sum (* i k)))))))))' 2>/dev/null
}
