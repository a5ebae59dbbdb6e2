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
