# SPDX-License-Identifier: GPL-2.0-or-later
# Debian's programs that use facilities of the kernel's, one function each: what it says natively it says in the server
# (lab/cobnut/linux/suites.py). Each begins in an empty folder.

# with_root: runs a function of these where / can be exchanged for another root, in a namespace of mounts
with_root() {
    unshare -m sh -c 'mount --rbind / /mnt && cd /mnt && mount --move . / && exec chroot . bash -c "$0"' \
        "cd /tmp/case; . /files/system.sh; $1"
}

# small_root: makes the folder root, with busybox in it
small_root() {
    mkdir -p root/{bin,dev,etc,old,proc,run,sys,tmp,usr,var}
    cp /bin/busybox root/bin
    for name in cat chown chroot echo head hostname id ls mount ps sh sleep touch wc; do
        ln -s busybox root/bin/$name
    done
    echo ID=x >root/etc/os-release
    cp /etc/passwd /etc/group root/etc
}

# a_group: makes the control group cg/a, of all controllers that programs are bound by
a_group() {
    mkdir -p cg
    mount -t cgroup2 none cg
    echo '+cpu +io +memory +pids' >cg/cgroup.subtree_control
    mkdir -p cg/a
}

control_groups() {
    a_group
    grep -ow -E 'cpu|io|memory|pids|misc' cg/cgroup.controllers
    echo 30M >cg/a/memory.max
    dmesg -n 1
    exec 2>/dev/null # without what is said of processes that are killed
    bash -c 'echo $$ >cg/a/cgroup.procs; python3 -c "x = bytearray(60 << 20)"'
    grep -w oom_kill cg/a/memory.events
    sleep 50 &
    echo $! >cg/a/cgroup.procs
    echo 1 >cg/a/cgroup.freeze
    until grep 'frozen 1' cg/a/cgroup.events; do sleep 0.1; done
    echo 1 >cg/a/cgroup.kill
    echo 0 >cg/a/cgroup.freeze
    wait 2>/dev/null
    echo 200 >cg/a/cpu.weight && cat cg/a/cpu.weight
    rmdir cg/a
    umount cg
}

old_control_groups() {
    for names in cpu,cpuacct devices pids freezer misc; do
        mkdir -p old
        mount -t cgroup -o $names none old
        ls old | grep -x -E 'cpuacct.usage|devices.deny|notify_on_release'
        umount old
    done
}

devices_of_a_control_group() { # those that a program in it may open, by a program of BPF's
    mkdir cg
    mount -t cgroup -o devices none cg && mkdir cg/b && echo 'c 1:5 rwm' >cg/b/devices.deny
    bash -c 'echo $$ >cg/b/cgroup.procs; head -c 2 /dev/zero; head -c 2 /dev/urandom | wc -c' 2>&1
    rmdir cg/b
    umount cg
}

container_by_crun() { with_root 'container crun'; }

container_by_runc() { with_root 'container runc'; }

# container: one with limits on memory, processes and devices, by this program
container() {
    mount -t cgroup2 none /sys/fs/cgroup
    small_root
    mv root rootfs
    $1 spec
    python3 -c '
import json
c = json.load(open("config.json"))
c["process"]["terminal"] = False
script = "id -u; hostname; ps | wc -l; cat /proc/self/cgroup; grep Cap /proc/self/status; "
script += "head -c 2 /dev/zero | wc -c; touch /x"
c["process"]["args"] = ["sh", "-c", script]
devices = [{"allow": False, "access": "rwm"}]
c["linux"]["resources"] = {"memory": {"limit": 30000000}, "pids": {"limit": 20}, "devices": devices}
json.dump(c, open("config.json", "w"))'
    $1 run c
    echo $?
}

container_by_systemd() { with_root nspawned; }

# nspawned: what container_by_systemd runs
nspawned() {
    mount -t cgroup2 none /sys/fs/cgroup
    small_root
    echo 0123456789abcdef0123456789abcdef >/etc/machine-id
    options="-q --register=no --keep-unit -D root --pipe"
    systemd-nspawn $options sh -c 'id -u; ps | wc -l; hostname; ls /dev/null'
    systemd-nspawn $options --private-network --private-users=pick --read-only sh -c 'id -u; touch /x' 2>&1
    echo $?
}

users_of_a_namespace() {
    echo user:100000:65536 | tee /etc/subuid >/etc/subgid
    chmod u+s /usr/bin/new?idmap
    chmod 777 .
    setpriv --reuid 1000 --regid 100 --clear-groups unshare -U --map-auto --map-root-user \
        sh -c 'cat /proc/self/uid_map; touch own; chown 5:5 own; ls -n own | cut -d" " -f3,4'
    ls -n own | cut -d' ' -f3,4
    unshare -imnpuUCT -r -f --mount-proc sh -c 'hostname x; hostname; ls /proc/self/ns | wc -l; ps ax | wc -l'
}

roots_exchanged() {
    small_root
    with_root 'mount --bind root root; cd root; pivot_root . old; exec chroot . sh -c "ls /; ls /old/files | head -n 1"'
}

keys() {
    keyctl session - bash -c '
        k=$(keyctl add user a b @s); keyctl print $k; keyctl describe $k | sed "s/^[^:]*//"
        keyctl add encrypted e "new user:a 32" @s | wc -l
        keyctl timeout $k 1; sleep 2; keyctl print $k 2>&1' 2>&1 | grep -v Joined
    keyctl get_persistent @s >/dev/null && echo persistent
    keyctl supports | grep -E 'persistent|dh_compute|public|restrict'
}

watched_files() {
    mkdir w m
    mount -t tmpfs none m
    inotifywait -q -m -t 3 w >in &
    (cd m && exec timeout 5 fatrace -c -s 3 >../fan 2>/dev/null) &
    sleep 1
    touch w/a; mv w/a w/b; rm w/b
    touch m/x; cat m/x
    wait
    cat in
    grep -E '^(touch|cat)' fan | cut -d'(' -f1 | sort -u
    umount m
}

watched_processes() { # by what the kernel tells of processes that begin and end
    timeout 6 forkstat -D 3 -e fork,exec,exit >log 2>/dev/null &
    sleep 1.5
    cp /bin/true here
    ./here
    wait
    grep -o -E '(exec|exit) .*here' log | awk '{ print $1 }' | sort -u
}

accounted_processes() {
    touch log
    accton log >/dev/null
    cp /bin/true here
    ./here
    accton off >/dev/null
    lastcomm -f log | awk '{ print $1 }' | grep here
}

packets() {
    ip link set lo up
    timeout 20 tcpdump -i lo -c 2 -n -t -l icmp 2>/dev/null | cut -d, -f1,2 &
    sleep 2
    ping -c 1 127.0.0.1 | grep -c '1 received'
    wait
    nc.openbsd -l 4445 >/dev/null &
    sleep 0.5
    nmap -n -sS -p 4445,4446 127.0.0.1 | grep tcp
    nmap -n -sU -p 9 127.0.0.1 | grep udp
    kill %2 2>/dev/null
    for way in '' -I -T; do traceroute -n $way 127.0.0.1 | tail -n 1 | awk '{ print $2 }'; done
}

queues_and_routes() {
    ip link set lo up
    tc qdisc show dev lo
    tc qdisc replace dev lo root fq_codel && tc qdisc show dev lo | cut -d' ' -f 1,2,4-
    ping -c 1 127.0.0.1 | grep -c '1 received'
    tc qdisc del dev lo root
    ip addr add 10.9.0.1/24 dev lo
    ip route add 10.8.0.0/24 nexthop via 10.9.0.2 nexthop via 10.9.0.3 && ip route show 10.8.0.0/24
    ip nexthop add id 1 blackhole && ip nexthop
    ip mroute
    ip addr del 10.9.0.1/24 dev lo
    ethtool lo
    ethtool -k lo | grep -E '^(rx|tx)-checksumming|^scatter'
}

sockets_by_socat() {
    socat -u TCP-LISTEN:5555,reuseaddr - &
    sleep 1
    echo by tcp | socat - TCP:127.0.0.1:5555
    wait
    socat -u ABSTRACT-LISTEN:x - &
    sleep 1
    echo by a name | socat -u - ABSTRACT-CONNECT:x
    wait
    socat -u SYSTEM:'echo by a terminal; test -t 1 && echo it is',pty,setsid,ctty - | tr -d '\r'
}

programs_of_bpf() {
    mount -t bpf none /mnt
    bpftool map create /mnt/x type hash key 4 value 4 entries 10 name t
    bpftool map update pinned /mnt/x key 1 0 0 0 value 7 0 0 0
    bpftool map dump pinned /mnt/x
    umount /mnt
    bpftool feature probe kernel 2>/dev/null |
        grep -E 'program_type (socket_filter|cgroup_(skb|device|sock) |xdp|sk_lookup)|map_type (hash|array|xskmap|lpm)'
}

ways_of_io() { # each reads what it has written, with sums
    for engine in sync psync vsync pvsync2 libaio io_uring mmap splice posixaio; do
        fio --name=x --ioengine=$engine --rw=randrw --size=256k --bs=4k --verify=crc32c --filename=f --iodepth=4 \
            --minimal 2>&1 | tail -n 1 | cut -d';' -f 3,5 | sed "s/^/$engine /"
    done
}

schedules() {
    schedtool -R -p 20 $$ && schedtool $$ | cut -d: -f2
    schedtool -N $$
    chrt -d --sched-runtime 1000000 --sched-deadline 5000000 --sched-period 5000000 0 echo deadline
    chrt -b 0 echo batch
    ionice -c 3 ionice
}

devices_of_udev() {
    mkdir -p /run/udev
    /usr/lib/systemd/systemd-udevd --daemon 2>/dev/null
    timeout 4 udevadm monitor -k -u >log 2>/dev/null &
    sleep 1.5
    udevadm trigger -c change /sys/class/mem/null
    sleep 2
    awk '/null/ { print $1, $3, $4 }' log | sed 's/\[.*\]//'
    udevadm info /dev/null | head -n 3
    udevadm control --exit
    wait
}

attributes_and_space() {
    touch f
    setfacl -m u:1000:rw f && getfacl -c f
    mkdir t
    mount -t tmpfs -o size=4m,nr_inodes=100 none t
    cd t || exit
    setfattr -n trusted.x -v y . && getfattr --only-values -n trusted.x . && echo
    head -c 5000000 /dev/zero 2>&1 >z | tail -n 1
    rm z
    fallocate -l 1M y && fallocate -p -o 4096 -l 8192 y && stat -c %b y
    for i in $(seq 120); do touch $i || break; done 2>&1 | tail -n 1
    cd ..
    umount t
    cp /bin/busybox b && setcap cap_net_raw+ep b && getcap b
    capsh --drop=cap_chown -- -c 'chown 1 b' 2>&1
    flock l sleep 1 &
    sleep 0.5
    flock -n l true
    echo $?
    wait
}
