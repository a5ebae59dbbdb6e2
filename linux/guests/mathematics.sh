# SPDX-License-Identifier: GPL-2.0-or-later
# Maxima, GLPK and Z3 at work, one function each: what it says natively it says in the server
# (lab/cobnut/linux/suites.py). Each begins in an empty folder.

algebra_of_maxima() {
    maxima --very-quiet --batch-string='integrate(x^2*exp(x), x); factor(x^8-1); solve(x^3-6*x^2+11*x-6, x);
        bfloat(%pi); factor(2^67-1); 100!; errcatch(1/0); f(n) := f(n+1); taylor(sin(x), x, 0, 7);' 2>&1
}

programs_of_glpk() {
    printf 'var x >= 0, integer; var y >= 0; maximize z: 3*x + 2*y; s.t. a: x + y <= 4.5; s.t. b: x <= 2.7; solve;
display z, x, y; end;\n' >m
    glpsol -m m 2>&1 | grep -E 'OPTIMAL|val'
}

proofs_of_z3() {
    printf '(declare-const x Int)(declare-const y (_ BitVec 16))(assert (and (> x 5) (< (* x x) 50)))
(assert (= (bvmul y #x0003) #x0001))(check-sat)(get-value (x y))(assert (= x 6))(check-sat)' >m
    z3 m
    z3 memory_max_size=200 parallel.enable=true m
}

# by_r: runs what it reads as a program of R's
by_r() { cat >program.R && Rscript --vanilla program.R 2>&1; }

numbers_of_r() {
    by_r <<'END'
set.seed(7); a <- matrix(rnorm(3600), 60); b <- crossprod(a); s <- svd(a); e <- eigen(b, symmetric = TRUE)
print(signif(c(max(abs(a %*% solve(a) - diag(60))) < 1e-9, s$d[1], e$values[1], det(b[1:5, 1:5])), 10))
print(range(Mod(fft(fft(1:64), inverse = TRUE) / 64 - 1:64)) < 1e-10)
print(signif(c(sum(runif(1e5)), rgamma(2, 3), rbinom(3, 50, .3), sample(100, 4), rexp(1)), 12))
print(coef(lm(dist ~ speed, cars)), digits = 10)
print(optim(c(-1.2, 1), function(x) 100 * (x[2] - x[1]^2)^2 + (1 - x[1])^2, method = "BFGS")$par, digits = 6)
print(integrate(dnorm, -1.96, 1.96)); print(uniroot(function(x) x^3 - x - 1, c(1, 2))$root, digits = 6)
y <- 1; h <- 1e-3; for (i in 1:5000) { k <- -y * h; y <- y + k + k^2 / 2 }; print(y, digits = 12)
print(c(pnorm(1.96), qt(.975, 7), gamma(.5), besselJ(1, 0), choose(60, 30)), digits = 12)
print(c(-1 / 0, 0 / 0, sqrt(-1 + 0i), .Machine$integer.max + 1L)); print(table(cut(rnorm(1000), -3:3)))
END
}

words_of_r() {
    by_r <<'END'
w <- vapply(1:20000, function(i) sprintf("%s%d", letters[i %% 26 + 1], (i * 7919) %% 20011), "")
s <- sort(w, method = "radix"); print(c(head(s, 3), tail(s, 3))); print(identical(s[rank(s)], s))
print(regmatches("a1b22c", gregexpr("[0-9]+", "a1b22c"))[[1]]); print(sum(grepl("^(a|b)+1+2?$", w)))
print(gsub("(\\w+) (\\w+)", "\\2 \\1", "one two", perl = TRUE)); print(rev(utf8ToInt(toupper("ab"))))
print(tryCatch(stop("stopped"), error = function(e) conditionMessage(e), finally = cat("finally\n")))
print(tryCatch(as.integer("x"), warning = function(e) conditionMessage(e)))
f <- function(n) f(n + 1); print(class(tryCatch(f(1), error = function(e) e)))
print(tryCatch(vector("raw", 2^31 * 3), error = function(e) "too large"))
e <- new.env(); for (i in 1:20000) assign(paste0("k", i), i, e); print(sum(unlist(mget(ls(e), e))))
con <- gzfile("f.gz", "w"); writeLines(w, con); close(con); print(identical(readLines("f.gz"), w))
saveRDS(w, "f.rds", compress = "xz"); print(identical(readRDS("f.rds"), w)); print(unname(tools::md5sum("f.rds")))
x <- data.frame(k = rep(1:5, 4), v = 1:20); write.csv(x, "x.csv"); print(aggregate(v ~ k, read.csv("x.csv"), sum))
END
}

processes_of_r() {
    by_r <<'END'
library(parallel); print(unlist(mclapply(1:12, function(i) { set.seed(i); sum(rnorm(1e4) > i / 10) }, mc.cores = 4)))
print(system("echo by a shell; exit 3")); print(system("seq 3 | sort -r", intern = TRUE))
p <- pipe("tr a-z A-Z >up", "w"); writeLines("words", p); close(p); print(readLines("up"))
j <- mcparallel(Sys.sleep(0.2)); k <- mcparallel(41 + 1); print(unname(unlist(mccollect(list(j, k)))))
r <- suppressWarnings(mclapply(1:2, function(i) if (i == 2) stop("in a child") else i, mc.cores = 2))
print(class(r[[2]]))
c <- makeCluster(3, type = "PSOCK"); print(unlist(parLapply(c, 1:6, function(i) i^2)))
print(clusterEvalQ(c, R.version$major)[[3]]); stopCluster(c)
s <- serverSocket(6011); q <- mcparallel({ k <- socketConnection(port = 6011, blocking = TRUE, open = "r+")
    writeLines("asked", k); x <- readLines(k, 1); close(k); x })
k <- socketAccept(s, blocking = TRUE, open = "r+"); x <- readLines(k, 1); writeLines(paste(x, "and said"), k); close(k)
print(unname(mccollect(q)[[1]])); close(s)
system("mkfifo queue; echo through a queue >queue", wait = FALSE); m <- fifo("queue", "r", blocking = TRUE)
print(readLines(m, 1)); close(m); setTimeLimit(elapsed = 1)
print(tryCatch({ repeat 1 }, error = function(e) sub(".*reached", "reached", conditionMessage(e))))
END
}

pictures_of_r() {
    by_r <<'END'
pdf("p.pdf", compress = FALSE); plot(cars); hist(rivers); persp(volcano, theta = 30); invisible(dev.off())
postscript("p.ps"); boxplot(count ~ spray, InsectSprays); contour(volcano); invisible(dev.off())
xfig("p.fig"); barplot(1:5); invisible(dev.off()); pictex("p.tex"); curve(sin, 0, 6); invisible(dev.off())
END
    sed -i '/Date/d' p.pdf
    for i in p.*; do cksum "$i"; done
}

compiled_by_r() { # byte code of its own, closures that it compiles while they run
    by_r <<'END'
fib <- function(n) if (n < 2) n else fib(n - 1) + fib(n - 2); print(fib(18))
g <- compiler::cmpfun(function(n) { s <- 0; for (i in seq_len(n)) s <- (s + i * 7) %% 1000003; s }); print(g(1e5))
setClass("P", representation(x = "numeric")); invisible(setGeneric("area", function(o) standardGeneric("area")))
setMethod("area", "P", function(o) o@x^2); print(area(new("P", x = 3)))
A <- setRefClass("A", fields = list(n = "numeric"), methods = list(up = function() { n <<- n + 1; invisible(.self) }))
a <- A$new(n = 1); a$up()$up(); print(a$n); print(Reduce(`+`, Map(function(x, y) x * y, 1:5, 5:1)))
x <- 1:3e6 + 0; x <- rev(x); print(sum(x[seq(1, 3e6, 1000)])); rm(x); invisible(gc())
print(do.call(rbind, list(1:2, 3:4)))
END
}

# by_octave: runs what it reads as a program of Octave's
by_octave() { cat >program.m && octave-cli --no-init-file --no-history --quiet program.m 2>&1; }

numbers_of_octave() {
    by_octave <<'END'
rand("twister", 1:625); a = rand(40); [q, r] = qr(a); s = svd(a);
printf("%.10g %d %d %.8g\n", s(1), norm(q * r - a) < 1e-12, norm(inv(a) * a - eye(40)) < 1e-9, det(a(1:4, 1:4)));
s = sprand(300, 300, 0.01) + speye(300) * 9; b = (1:300)'; x = s \ b;
printf("%d %d\n", norm(s * x - b) < 1e-9, issparse(s'));
[l, u, p, q] = lu(s); c = chol(s' * s); printf("%d %d %d\n", norm(l * u - p * s * q, 1) < 1e-9, size(c));
printf("%.6g ", eigs(sparse(diag(1:50)), 3), eig([2 1; 1 3])); disp(norm(expm(logm([2 1; 1 3])) - [2 1; 1 3]) < 1e-9);
[t, y] = ode45(@(t, y) [y(2); (1 - y(1)^2) * y(2)], [0 2], [2; 0.1]); printf("%d %.5g\n", rows(y), y(end, 1));
y = lsode(@(x, t) -x, 1, 0:5); printf("%.7g ", y);
printf("%.6g ", quadgk(@(x) exp(-x .^ 2), -Inf, Inf), fzero(@cos, [1 2]));
x = fsolve(@(x) [x(1)^2 + x(2)^2 - 1; x(1) - x(2)], [1; 1]); printf("%.5f %.5f\n", x);
x = glpk([10; 6; 4], [1 1 1; 10 4 5; 2 2 6], [100; 600; 300], [0; 0; 0], [], "UUU", "CCC", -1); printf("%.6g ", x);
x = qp([0; 0], [2 0; 0 2], [1; 1], [1 1], 1); printf("%.6g ", x); f = fft(1:16); printf("%.6g ", abs(f(1:4))); disp("");
printf("%.10g ", interp1(1:5, (1:5) .^ 2, 2.5, "spline"), polyfit(1:4, [1 4 9 17], 1), erf(0.5), gammainc(1, 2));
disp("");
disp(int8(200)); disp(bitshift(uint64(1), 63)); disp([1/0, -1/0, 0/0]); disp(primes(40)); disp(nchoosek(40, 20));
END
}

words_of_octave() {
    by_octave <<'END'
c = arrayfun(@(i) sprintf("%c%d", 97 + mod(i, 26), mod(i * 7919, 2011)), 1:500, "UniformOutput", false);
s = sort(c); disp(s{1}); disp(s{end}); disp(sum(cellfun(@numel, c))); disp(cellfun(@(x) x(end), c(1:6)));
[t, n] = regexp("ab12cd3", '([a-z]+)(?<d>\d+)', "tokens", "names"); disp(t{2}{1}); disp(numel(unique(c)));
disp(regexprep("one two", '(\w+) (\w+)', "$2 $1")); disp(strjoin(strsplit("x,y,z", ","), "-"));
try; error("an:id", "caught %d", 5); catch e; disp(e.message); disp(e.identifier); end
try; [1 2] * [3 4]; catch e; disp(e.message); end
function r = deep(n); r = 1 + deep(n + 1); end
try; deep(0); catch e; disp(e.identifier); end
try; ones(1e6, 1e6); catch e; disp(e.identifier); end
m = containers.Map(); for i = 1:50; m(num2str(i)) = i; end; disp(sum(cell2mat(values(m))));
f = fopen("f", "w"); fprintf(f, "%d %s\n", 1, "line"); fwrite(f, magic(4), "int16"); fclose(f);
f = fopen("f"); disp(fgetl(f)); disp(fread(f, [4 4], "int16")); fclose(f);
a = magic(5); save -text t a; save -binary b a; save -zip z a; save -hdf5 h a; k = a;
for i = {"t", "b", "z", "h"}; a = 0; load(i{1}); disp(isequal(a, k)); end
disp(hash("md5", "abc")); disp(jsonencode(jsondecode('{"k":[1,2,{"m":null}]}'))); disp(datestr(730000.5, 31));
END
}

processes_of_octave() {
    by_octave <<'END'
[s, o] = system("echo by a shell; exit 3"); printf("%d %s", s, o);
p = popen("tr a-z A-Z >up", "w"); fputs(p, "words\n"); disp(pclose(p)); disp(fileread("up"));
p = popen("seq 3", "r"); while ischar(l = fgetl(p)); disp(l); end; disp(pclose(p));
[i, o, n] = popen2("sort", "-r"); fputs(i, "a\nc\nb\n"); fclose(i); [p, s] = waitpid(n); disp(WEXITSTATUS(s));
do; l = fgets(o); if ischar(l); printf("%s", l); end; until ! ischar(l); fclose(o);
[r, w] = pipe();
for i = 1:5
    n = fork();
    if n == 0; fprintf(w, "%d\n", i * i); fflush(w); exec("/bin/sh", {"-c", sprintf("exit %d", i)}); end
    [p, s] = waitpid(n); printf("%d ", WEXITSTATUS(s));
end
fclose(w); x = 0; while ischar(l = fgetl(r)); x += str2double(l); end; disp(x); setenv("A", "b"); system("echo $A");
mkdir d; cd d; f = fopen("g", "w"); fclose(f); cd ..; disp(ls("d")); disp(exist("d/g"));
unlink("d/g"); disp(rmdir("d"));
mkfifo("q", 600); system("echo through a queue >q", false, "async"); f = fopen("q"); disp(fgetl(f)); fclose(f);
tic; pause(0.2); disp(toc >= 0.2); kill(getpid(), 0);
END
}

pictures_of_gnuplot() {
    cat >p <<'END'
set samples 60; set isosamples 20; f(x) = x > 0 ? x * f(x - 1) / x + 1 : 0
print f(20), besj0(1), inverf(0.5), {1, 2} * {3, 4}
set terminal svg; set output "p.svg"; plot sin(x), [-1:1] x**2 with points, '-' using 1:2 with lines
1 2
2 5
e
set terminal postscript color; set output "p.ps"; splot x**2 - y**2 with pm3d
set terminal pngcairo size 320,200; set output "p.png"; plot besj0(x), "< seq 10" using 1:1 with impulses
set terminal dumb 40 12; set output; plot [0:6] cos(x); a = 1; b = 1; set print "-"; set fit quiet logfile "/dev/null"
fit a * x + b "< seq 20 | awk '{ print $1, 3 * $1 + 2 }'" via a, b
print sprintf("%.5f %.5f", a, b); system("exit 2"); print GPVAL_SYSTEM_ERRNO
do for [i = 1:3] { print system("echo " . i) }
END
    gnuplot-nox p 2>&1
    sed -i '/Date/d' p.ps
    for i in p.*; do cksum "$i"; done
}
