# SPDX-License-Identifier: GPL-2.0-or-later
# Java at work, one function each: what it says natively it says in the server (lab/cobnut/linux/suites.py). Rhino makes
# Java's code of its scripts, which the virtual machine compiles where they are hot. Each begins in an empty folder.

compiled_code() {
    rhino <<'END'
function prime(n) { for (var i = 2; i * i <= n; i++) if (n % i == 0) return false; return true; }
var count = 0; for (var n = 2; n < 20000; n++) if (prime(n)) count++;
print(count, Math.sin(1), Math.pow(2, 0.5), 1e300 * 1e10, java.math.BigInteger.valueOf(3).pow(200));
END
}

interpreted_code() {
    rhino -Xint <<'END'
var words = new java.util.TreeMap(); for (var i = 0; i < 2000; i++) words.put("w" + i % 97, i);
print(words.size(), words);
END
}

faults() { # at null pointers and the stack's guard pages
    rhino <<'END'
var nulls = 0, list = new java.util.ArrayList(); list.add(1); list.add(null);
for (var i = 0; i < 20000; i++) try { java.util.Collections.max(list); } catch (e) { nulls++; }
print(nulls);
var itself = new java.util.ArrayList(); itself.add(itself);
for (var i = 0; i < 5; i++) {
    var task = new java.util.concurrent.FutureTask(function () { return itself.hashCode(); });
    task.run();
    try { task.get(); } catch (e) { print(e.javaException.getCause()); }
}
END
}

threads() {
    rhino <<'END'
var pool = java.util.concurrent.Executors.newFixedThreadPool(8), asked = [], sum = 0;
for (var i = 0; i < 40; i++) (function (n) {
    asked.push(pool.submit(new java.util.concurrent.Callable({ call: function () {
        var m = new java.util.HashMap(); for (var k = 0; k < 500; k++) m.put(k, "v" + k * n);
        return m.size() + n; } })));
})(i);
for (var i = 0; i < 40; i++) sum += Number(asked[i].get());
pool.shutdown();
print(sum, java.util.stream.IntStream.range(0, 50000).parallel().sum());
var go = new java.util.concurrent.CountDownLatch(1), all = [];
for (var i = 0; i < 100; i++) { var t = new java.lang.Thread(function () { go.await(); }); t.start(); all.push(t); }
go.countDown(); for (var i = 0; i < 100; i++) all[i].join(); print("joined");
END
}

collectors() {
    for one in Serial Parallel G1; do
        rhino -XX:+Use${one}GC -Xmx48m <<'END'
var kept = []; for (var i = 0; i < 60000; i++) { kept.push("text " + i); if (kept.length > 500) kept = []; }
var task = new java.util.concurrent.FutureTask(function () { var l = new java.util.LinkedList();
    for (;;) l.add(java.nio.ByteBuffer.allocate(1 << 20)); });
task.run(); try { task.get(); } catch (e) { print(kept.length, e.javaException.getCause()); }
END
    done
}

files_and_sockets() {
    rhino <<'END'
var path = java.nio.file.Paths.get("mapped"), O = java.nio.file.StandardOpenOption;
var file = java.nio.channels.FileChannel.open(path, O.CREATE, O.READ, O.WRITE);
var map = file.map(java.nio.channels.FileChannel.MapMode.READ_WRITE, 0, 1 << 20);
for (var i = 0; i < 1 << 20; i += 4096) map.put(i, 7);
map.force(); print(file.size(), java.nio.file.Files.readAllBytes(path)[8192]);
var listens = new java.net.ServerSocket(0);
new java.lang.Thread(function () {
    for (var i = 0; i < 5; i++) { var c = listens.accept();
        c.getOutputStream().write(new java.util.Scanner(c.getInputStream()).nextLine().toUpperCase().getBytes());
        c.close(); }
}).start();
for (var i = 0; i < 5; i++) { var c = new java.net.Socket("127.0.0.1", listens.getLocalPort());
    c.getOutputStream().write(new java.lang.String("line " + i + "\n").getBytes());
    print(new java.util.Scanner(c.getInputStream()).nextLine()); c.close(); }
var other = new java.lang.ProcessBuilder("sh", "-c", "read a; echo got $a; exit 4").start();
other.getOutputStream().write(new java.lang.String("it\n").getBytes()); other.getOutputStream().close();
print(new java.util.Scanner(other.getInputStream()).nextLine(), other.waitFor());
END
}

signals() { # that threads wait for, and a report of all threads
    rhino >said 2>&1 <<'END' &
java.lang.Runtime.getRuntime().addShutdownHook(new java.lang.Thread(function () { print("hook"); }));
print("ready"); java.lang.Thread.sleep(60000);
END
    until grep -qs ready said; do sleep 0.2; done
    kill -QUIT "$(pidof java)"
    until grep -q '^Full thread dump' said && grep -q '^JNI global' said; do sleep 0.2; done
    kill -TERM "$(pidof java)"
    wait
    grep -c hook said
}

# rhino OPTION...: runs the script that it reads, with these options of Java's
rhino() {
    cat >script.js
    java -Xmx64m "$@" -cp /usr/share/java/js.jar org.mozilla.javascript.tools.shell.Main -opt 9 script.js
}
