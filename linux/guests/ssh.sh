# SPDX-License-Identifier: GPL-2.0-or-later
# For programs.sh and services.sh.

# ssh_server: is job 1 then, at port 2222, and knows the key `key` of this folder. `$ssh $at` goes there, and has
# `$options`, which other programs of ssh's know as well.
ssh_server() {
    mkdir -p /run/sshd /root/.ssh && chmod 700 /root /root/.ssh
    ssh-keygen -q -t ed25519 -N '' -f host && ssh-keygen -q -t ed25519 -N '' -f key
    cp key.pub /root/.ssh/authorized_keys
    echo 'sshd:x:100:65534::/run/sshd:/bin/false' >>/etc/passwd
    : >config
    /usr/sbin/sshd -f config -p 2222 -h "$PWD/host" -o StrictModes=no -o 'Subsystem=sftp internal-sftp' -D &
    options="-i $PWD/key -o StrictHostKeyChecking=no -o UserKnownHostsFile=/dev/null -o LogLevel=ERROR"
    ssh="ssh -p 2222 $options" at=root@127.0.0.1
    until $ssh $at true 2>/dev/null; do sleep 0.3; done
}
