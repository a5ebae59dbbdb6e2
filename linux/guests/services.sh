# SPDX-License-Identifier: GPL-2.0-or-later
# Debian's servers and makers of file systems and containers at work, one function each: what it says natively it says
# in the server (lab/cobnut/linux/suites.py). Each begins in an empty folder.

redis() {
    redis-server --port 6390 --save '' --appendonly yes --dir "$PWD" --daemonize yes --io-threads 2 >/dev/null
    until redis-cli -p 6390 ping 2>/dev/null | grep PONG; do sleep 0.2; done
    for i in 1 2 3; do redis-cli -p 6390 rpush l $i; done
    redis-cli -p 6390 eval 'local s = 0 for i = 1, 10000 do s = s + i end redis.call("set", "x", s) return s' 0
    redis-cli -p 6390 bgsave && sleep 2
    redis-cli -p 6390 bgrewriteaof && sleep 2
    redis-cli -p 6390 info persistence | tr -d '\r' | grep -E 'status|in_progress'
    redis-benchmark -p 6390 -n 1000 -c 30 -q -t set,get | tr '\r' '\n' | grep -c 'requests per'
    redis-cli -p 6390 shutdown
    ls
}

memory_cache() {
    memcached -u root -p 11300 -t 4 -d
    sleep 1
    printf 'set a 0 0 5\r\nhello\r\nget a\r\nincr b 1\r\nset n 0 0 1\r\n5\r\nincr n 7\r\nstats\r\nquit\r\n' |
        nc.openbsd -N 127.0.0.1 11300 | tr -d '\r' | grep -E '^(STORED|VALUE|hello|END|NOT|12|STAT threads)'
    pkill memcached
}

web_by_eight_workers() {
    mkdir -p /var/log/nginx /var/lib/nginx
    seq 3000 >index.html
    echo "user root; worker_processes 8; daemon off; events {} thread_pool default threads=4; http { aio threads;
        sendfile on; server { listen 8082; root $PWD; access_log off; } }" >n.conf
    nginx -c "$PWD/n.conf" &
    page | cksum
    for i in $(seq 30); do page | cksum & done | sort | uniq -c
    pgrep -c nginx
    kill -HUP %1
    sleep 1
    page | cksum
    kill -QUIT %1
    wait %1
    echo $?
}

# page: of the web server at port 8082, once there is an answer
page() { until curl -s http://localhost:8082/index.html; do sleep 0.2; done; }

names_by_unbound() {
    printf 'server:\n interface: 127.0.0.1\n port: 5301\n username: ""\n chroot: ""\n directory: "%s"\n num-threads: 3
 pidfile: "%s/pid"\n use-syslog: no\n local-data: "a.test. IN A 10.1.2.3"\n' "$PWD" "$PWD" >u.conf
    unbound -c u.conf
    for way in +notcp +tcp; do until dig $way +short -p 5301 @127.0.0.1 a.test | grep ^10; do sleep 0.3; done; done
    kill "$(cat pid)"
}

names_by_bind() {
    mkdir -p /var/cache/bind /run/named
    printf '$TTL 60\n@ IN SOA ns a (1 1 1 1 1)\n IN NS ns\nns IN A 127.0.0.1\nw IN A 10.9.8.7\nx IN TXT "t"\n' >z
    printf 'options { directory "%s"; listen-on port 5302 { 127.0.0.1; }; listen-on-v6 { none; }; recursion no;
        pid-file "%s/p"; }; controls {}; zone "e.test" { type master; file "z"; };' "$PWD" "$PWD" >b.conf
    named -n 4 -c "$PWD/b.conf" -g 2>log &
    until dig +short -p 5302 @127.0.0.1 w.e.test | grep ^10; do sleep 0.3; done
    dig +short +tcp -p 5302 @127.0.0.1 x.e.test TXT
    dig +noall +answer -p 5302 @127.0.0.1 e.test AXFR | wc -l
    kill %1
    wait
    grep -c exiting log
}

names_by_dnsmasq() {
    dnsmasq -k -u root -p 5303 --no-resolv --no-hosts --address=/t.test/10.5.5.5 --listen-address=127.0.0.1 \
        --bind-interfaces --pid-file="$PWD/p" &
    until dig +short -p 5303 @127.0.0.1 q.t.test | grep ^10; do sleep 0.3; done
    kill %1
}

mail_by_postfix() { # what is handed in by a program; a server with a dozen processes of several users
    for user in postfix:101 postdrop:103; do
        echo "${user%:*}:x:${user#*:}:${user#*:}::/:/bin/false" >>/etc/passwd
        echo "${user%:*}:x:${user#*:}:" >>/etc/group
    done
    mkdir -p /var/mail /etc/postfix /var/spool/postfix /var/lib/postfix
    cp /usr/share/postfix/master.cf.dist /etc/postfix/master.cf
    printf '%s\n' compatibility_level=3.6 command_directory=/usr/sbin daemon_directory=/usr/lib/postfix/sbin \
        data_directory=/var/lib/postfix queue_directory=/var/spool/postfix myhostname=a.test mail_owner=postfix \
        mydestination=a.test,localhost maillog_file=/tmp/case/log maillog_file_prefixes=/tmp alias_maps= \
        setgid_group=postdrop inet_protocols=ipv4 mail_spool_directory=/var/mail >/etc/postfix/main.cf
    chown postfix /var/lib/postfix
    chgrp postdrop /usr/sbin/postdrop /usr/sbin/postqueue && chmod g+s /usr/sbin/postdrop
    postfix set-permissions 2>/dev/null
    postfix start 2>/dev/null
    printf 'Subject: x\n\nbody\n' | sendmail root
    until grep -s body /var/mail/root; do sleep 0.5; done
    postfix stop 2>/dev/null
}

balance_by_haproxy() {
    printf 'global\n nbthread 4\ndefaults\n mode http\n timeout connect 2s\n timeout client 5s\n timeout server 5s
frontend f\n bind 127.0.0.1:8090\n default_backend b\nbackend b\n server a 127.0.0.1:8091\n server c 127.0.0.1:8092
' >h.cfg
    for port in 8091 8092; do
        mkdir $port && echo $port >$port/index.html
        python3 -m http.server -d $port $port >/dev/null 2>&1 &
        until curl -s http://127.0.0.1:$port/index.html >/dev/null; do sleep 0.3; done
    done
    haproxy -f h.cfg -db 2>/dev/null &
    until curl -sf http://127.0.0.1:8090/index.html >/dev/null; do sleep 0.3; done
    for i in $(seq 6); do curl -s http://127.0.0.1:8090/index.html; done | sort | uniq -c
    kill %1 %2 %3
}

messages_by_mosquitto() {
    mosquitto -p 1884 >/dev/null 2>&1 &
    sleep 1
    mosquitto_sub -p 1884 -t a/# -C 3 >got &
    sleep 1
    for i in 1 2 3; do mosquitto_pub -p 1884 -t a/$i -q 2 -m m$i; done
    until [ "$(wc -l <got)" = 3 ]; do sleep 0.2; done
    cat got
    kill %1
}

files_by_ftp() {
    mkdir -p /srv/ftp /var/run/vsftpd/empty
    echo content >/srv/ftp/f
    echo 'ftp:x:110:65534::/srv/ftp:/bin/false' >>/etc/passwd
    printf '%s\n' listen=YES listen_port=2121 anonymous_enable=YES local_enable=NO background=NO \
        secure_chroot_dir=/var/run/vsftpd/empty >v.conf
    vsftpd "$PWD/v.conf" &
    until curl -s ftp://127.0.0.1:2121/f; do sleep 0.3; done
    curl -s ftp://127.0.0.1:2121/ | awk '{ print $NF }'
    kill %1
}

proxy_by_squid() {
    mkdir -p s /var/log/squid /var/spool/squid
    echo proxy:x:13:13::/:/bin/false >>/etc/passwd
    chmod 777 . s /var/log/squid /run
    echo page >s/p
    python3 -m http.server -d s 8095 >/dev/null 2>&1 &
    printf '%s\n' 'http_port 3129' 'http_access allow all' 'cache_mem 8 MB' 'pid_filename none' 'access_log none' \
        'cache_log /tmp/case/log' 'coredump_dir /tmp' 'icon_directory /tmp' 'unlinkd_program /bin/true' \
        'pinger_enable off' 'shutdown_lifetime 1 seconds' 'visible_hostname x' >q.conf
    squid -N -f "$PWD/q.conf" 2>/dev/null &
    until curl -s -x 127.0.0.1:3129 http://127.0.0.1:8095/p | grep -x page; do sleep 0.5; done
    kill %1 %2
}

rsync_over_ssh() {
    . /files/ssh.sh
    ssh_server
    mkdir d
    for i in $(seq 50); do head -c $((i * 999)) /usr/bin/python3.11 >d/$i; done
    rsync -a -e "$ssh" d/ "$at:$PWD/e/" && diff -r d e && echo same
    echo more >>d/50
    rsync -a -z --stats -e "$ssh" d/ "$at:$PWD/e/" | grep 'transferred: '
    sftp -q -P 2222 $options "$at:$PWD/d/7" got >/dev/null 2>&1
    cmp got d/7 && echo by sftp
    $ssh -M -S "$PWD/master" -f -N $at
    $ssh -S "$PWD/master" $at echo by a master
    $ssh -S "$PWD/master" -O exit $at 2>&1 | tr -d '\r'
    $ssh -f -N -L 9909:127.0.0.1:2222 $at
    nc.openbsd -w 2 127.0.0.1 9909 </dev/null | head -c 7
    pkill ssh
    kill %1
}

squashed_files() {
    mkdir d
    for i in $(seq 30); do head -c $((i * 3000)) /usr/bin/python3.11 >d/$i; done
    ln -s 3 d/l
    for way in gzip xz zstd lzo; do
        mksquashfs d s.$way -comp $way -quiet -no-progress -processors 4 >/dev/null
        unsquashfs -q -n -d u.$way s.$way >/dev/null
        diff -r --no-dereference d u.$way && echo $way
    done
}

file_system_by_hand() {
    mkdir d
    for i in $(seq 30); do head -c $((i * 3000)) /usr/bin/python3.11 >d/$i; done
    truncate -s 20M image
    mkfs.ext4 -q -d d image
    debugfs -R 'dump 30 got' image 2>/dev/null
    cmp got d/30 && echo same
    resize2fs image 30M >/dev/null 2>&1
    e2fsck -fn image | grep -o '[0-9]*/[0-9]* files'
    setfattr -n trusted.a -v b d && getfattr --only-values -n trusted.a d && echo
    setfacl -m u:1000:rw d/1 && getfacl -c d/1
}

containers() { # the first file system of all cannot be exchanged for another root, so a mount of it is laid above it
    unshare -m sh -c 'mount --rbind / /mnt && cd /mnt && mount --move . / &&
        exec chroot . bash -c ". /files/services.sh; within"'
    setpriv --reuid 1000 --clear-groups --inh-caps=-all --no-new-privs grep -E 'Cap(Eff|Bnd)|NoNew' /proc/self/status
    unshare -n sh -c 'ip link set lo up; ip rule list; ip -6 rule list; ping -c 1 127.0.0.1 | grep -c "1 received"'
}

# within: what containers runs in a root of its own
within() {
    bwrap --ro-bind / / --dev /dev --proc /proc --tmpfs /tmp --unshare-all --die-with-parent \
        sh -c 'echo in; ls -d /proc/[0-9]* | wc -l; touch /x 2>&1; ls /tmp | wc -l; ip -br link show lo | wc -l; id -u'
    bwrap --ro-bind / / --dev /dev --proc /proc --unshare-user --uid 77 --gid 88 sh -c 'id -u; id -g'
    bwrap --ro-bind / / --proc /proc --unshare-pid --new-session --cap-drop ALL sh -c 'grep CapEff /proc/self/status'
}

records_by_berkeley_db() {
    printf 'a\n1\nb\n2\n' | db_load -T -t btree x.db
    db_dump -p x.db | grep -A9 HEADER
    db_verify x.db
}
