# SPDX-License-Identifier: GPL-2.0-or-later
# Compilers at work, and what they compile, one function each: what it says natively it says in the server
# (lab/cobnut/linux/suites.py). Each begins in an empty folder.

rust_compiles() { # threads, channels, panics, processes, sockets
    cat >a.rs <<'END'
use std::collections::HashMap;
use std::io::{Read, Write};
use std::net::{TcpListener, TcpStream};
use std::process::{Command, Stdio};
use std::sync::{atomic::{AtomicU64, Ordering}, mpsc, Arc, Condvar, Mutex, RwLock};
use std::thread;
thread_local! { static OWN: std::cell::Cell<u32> = std::cell::Cell::new(7); }
fn main() {
    let n = Arc::new(AtomicU64::new(0));
    let (to, from) = mpsc::channel();
    let ts: Vec<_> = (0..8u64).map(|i| { let (n, to) = (n.clone(), to.clone()); thread::spawn(move || {
        for _ in 0..5000 { n.fetch_add(1, Ordering::SeqCst); }
        OWN.with(|o| o.set(o.get() + i as u32)); to.send(OWN.with(|o| o.get())).unwrap(); }) }).collect();
    for t in ts { t.join().unwrap(); }
    drop(to);
    println!("{} {}", n.load(Ordering::SeqCst), from.iter().sum::<u32>());
    let pair = Arc::new((Mutex::new(0), Condvar::new()));
    let other = pair.clone();
    let t = thread::spawn(move || { for _ in 0..50 { *other.0.lock().unwrap() += 1; other.1.notify_one(); } });
    let mut g = pair.0.lock().unwrap();
    while *g < 50 { g = pair.1.wait(g).unwrap(); }
    drop(g); t.join().unwrap();
    println!("{}", thread::spawn(|| { if OWN.with(|o| o.get()) == 7 { panic!("so") } }).join().is_err());
    let m: RwLock<HashMap<u32, f64>> = RwLock::new(HashMap::new());
    for i in 0..20000 { m.write().unwrap().insert(i, (i as f64).sqrt()); }
    println!("{:.6} {}", m.read().unwrap().values().map(|x| x * x).sum::<f64>(), u128::MAX / 3);
    let l = TcpListener::bind("127.0.0.1:0").unwrap();
    let at = l.local_addr().unwrap();
    let t = thread::spawn(move || { let (mut s, _) = l.accept().unwrap(); s.write_all(&[9; 70000]).unwrap(); });
    let mut v = vec![];
    TcpStream::connect(at).unwrap().read_to_end(&mut v).unwrap();
    t.join().unwrap();
    let mut c = Command::new("sort").stdin(Stdio::piped()).stdout(Stdio::piped()).spawn().unwrap();
    c.stdin.take().unwrap().write_all(b"b\na\n").unwrap();
    println!("{} {:?}", v.len(), String::from_utf8(c.wait_with_output().unwrap().stdout));
    let v: Vec<i32> = vec![1];
    println!("{}", v[std::env::args().count() + 1]);
}
END
    rustc -O a.rs && ./a
    echo $?
    rustc --test -C debuginfo=0 - -o t <<'END'
#[test] fn fine() { assert_eq!(2 + 2, 4); }
#[test] #[should_panic] fn ends() { let v: Option<u8> = None; v.unwrap(); }
END
    ./t | grep 'test result' | cut -d\; -f1-2
}

go_compiles() { # its runtime's stacks, goroutines, collector, signals and network, and its own tests
    export HOME=$PWD GOCACHE=$PWD/c GOFLAGS=-mod=mod GO111MODULE=off
    cat >a.go <<'END'
package main
import ("bufio"; "context"; "fmt"; "net/http"; "net/http/httptest"; "io"; "os"; "os/exec"; "os/signal"; "runtime"
        "sort"; "strings"; "sync"; "syscall"; "time"; "math/big")
func deep(n int) int { if n == 0 { return 0 }; var a [64]byte; a[n%64] = 1; return deep(n-1) + int(a[n%64]) }
func main() {
    runtime.GOMAXPROCS(4)
    var w sync.WaitGroup; var m sync.Mutex; s := map[int]int{}
    for i := 0; i < 200; i++ {
        w.Add(1)
        go func(i int) {
            defer w.Done()
            for j := 0; j < 20; j++ { m.Lock(); s[j] += i; m.Unlock(); runtime.Gosched() }
        }(i)
    }
    w.Wait(); fmt.Println(len(s), s[7], deep(100000))
    c := make(chan int); go func() { for i := 0; i < 1000; i++ { c <- i }; close(c) }()
    t := 0; for i := range c { t += i }; fmt.Println(t)
    var keep [][]byte; for i := 0; i < 3000; i++ { keep = append(keep[max(0, len(keep)-50):], make([]byte, 20000)) }
    runtime.GC(); fmt.Println(len(keep), new(big.Int).Exp(big.NewInt(3), big.NewInt(200), nil))
    answer := func(w http.ResponseWriter, r *http.Request) { fmt.Fprint(w, strings.Repeat(r.URL.Path, 500)) }
    h := httptest.NewServer(http.HandlerFunc(answer))
    n := make(chan int)
    for i := 0; i < 30; i++ {
        go func(i int) {
            r, e := http.Get(fmt.Sprint(h.URL, "/", i))
            if e != nil { panic(e) }
            b, _ := io.ReadAll(r.Body)
            n <- len(b)
        }(i)
    }
    t = 0; for i := 0; i < 30; i++ { t += <-n }; fmt.Println(t); h.Close()
    func() { defer func() { fmt.Println(recover()) }(); var p *int; fmt.Println(*p) }()
    func() { defer func() { fmt.Println(recover()) }(); a := []int{}; fmt.Println(a[len(os.Args)+4]) }()
    g := make(chan os.Signal, 1); signal.Notify(g, syscall.SIGUSR1)
    syscall.Kill(os.Getpid(), syscall.SIGUSR1); fmt.Println(<-g)
    x, end := context.WithTimeout(context.Background(), 100*time.Millisecond); defer end()
    fmt.Println(exec.CommandContext(x, "sleep", "50").Run())
    spins := true; go func() { for spins {} }(); time.Sleep(20 * time.Millisecond); runtime.GC(); spins = false
    o, _ := exec.Command("sh", "-c", "echo out; seq 3").Output()
    r := bufio.NewScanner(strings.NewReader(string(o))); l := []string{}
    for r.Scan() { l = append(l, r.Text()) }
    sort.Strings(l); fmt.Println(l)
    var nothing map[string]int; nothing["a"] = 1
}
func max(a, b int) int { if a > b { return a }; return b }
END
    go build -o a a.go && ./a 2>&1 | sed '/^goroutine/,$d'
    go vet a.go && echo vetted
    go test -vet=off container/heap container/ring 2>&1 | cut -f1,2
}

fortran_compiles() {
    cat >a.f90 <<'END'
program a
  use, intrinsic :: ieee_arithmetic
  implicit none
  real(8) :: m(120, 120), x(120); integer :: i, j; character(40) :: s
  do i = 1, 120; do j = 1, 120; m(i, j) = 1d0 / (i + j - 1); end do; x(i) = i; end do
  do i = 1, 20; x = matmul(m, x); x = x / maxval(x); end do
  print '(2f12.9, i12)', x(1), sum(x), count(x > 0.5d0)
  !$omp parallel do reduction(+:i)
  do j = 1, 1000; i = i + j; end do
  print *, i
  open(10, file='d', form='unformatted'); write(10) x; close(10)
  open(10, file='d', form='unformatted'); read(10) m(:, 1); close(10)
  print *, all(m(:, 1) == x), ieee_is_nan(ieee_value(x(1), ieee_quiet_nan)), 2_8 ** 40
  write(s, '(es20.12e3)') exp(1d0); print *, s
  x(1) = 1 / (x(120) - x(120)); print *, x(1)
  read(s, *, iostat=i) j; print *, i /= 0
  stop 3
end program
END
    gfortran -O2 -fopenmp -o a a.f90 && OMP_NUM_THREADS=4 ./a
    echo $?
}

c_compiles() {
    for i in $(seq 12); do echo "int f$i(int x) { return x * $i; }" >f$i.c; done
    {
        for i in $(seq 12); do echo "int f$i(int);"; done
        echo 'int printf(const char *, ...); int main() { int s = 0;'
        for i in $(seq 12); do echo "s += f$i($i);"; done
        echo 'printf("%d\n", s); }'
    } >m.c
    printf 'CC ?= gcc\nm: $(patsubst %%.c,%%.o,$(wildcard *.c))\n\t$(CC) -o $@ $^\n' >Makefile
    make -s -j6 && ./m
    make -s -B -j3 CC='gcc -flto=3 -O2' && ./m
    make -s -B CC=tcc && ./m
    echo 'int printf(const char *, ...); int main(int n, char **a) { printf("%d %s\n", n, a[1]); }' |
        tcc -run - word
    printf 'global _start\n_start: mov eax, 1\n mov ebx, 42\n int 0x80\n' >n.asm
    nasm -f elf32 n.asm && ld -o n n.o && ./n
    echo $?
    gcc -x c -O3 -fprofile-generate -o p - <<'END'
int main() { int n = 0; for (int i = 0; i < 100000; i++) if (i % 3) n++; return n % 251; }
END
    ./p
    echo $? *.gcda
    gcc -x c -fsanitize=undefined,address -g -o s - 2>&1 <<'END'
#include <stdlib.h>
int main(int n, char **a) { char *p = malloc(8); p[n + 7] = 1; return 0; }
END
    ./s 2>&1 | grep -oE 'heap-buffer-overflow|WRITE of size 1|0 bytes (to the right of|after) 8-byte region' | sort -u
}
