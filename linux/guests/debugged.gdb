# SPDX-License-Identifier: GPL-2.0
# What gdb is to say of debugged.c: the same natively as on the server.
set pagination off
set width 0
set print thread-events off
set print inferior-events off
set print address off

echo == a breakpoint, where it is, and the registers\n
break leaf
run
backtrace
info registers eip
# without RF: it is set if the page with the breakpoint had to be mapped first, as returns from faults set it
print/x $eflags & ~0x10000
print $sp < $fp
print value
print pair
print $mxcsr
info symbol $pc
x/2i $pc
finish
up
info locals
delete
call nested(1, 1)

echo == a breakpoint of the processor's, three times\n
hbreak turn
continue
continue
info registers eip eflags
stepi
stepi
print number
print half

echo == what is written to, and read\n
delete
watch counter
continue
continue
bt 2
rwatch half
continue
print half
delete

echo == a signal\n
handle SIGUSR1 stop print pass
continue
print caught
tbreak on_signal
continue
bt 2

echo == a thread and a child\n
hbreak turn if number >= 10
continue
bt 2
print number
finish
catch fork
continue
delete
set var caught = 99
catch syscall 252
continue
print $_siginfo.si_signo
delete
continue
