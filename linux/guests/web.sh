# SPDX-License-Identifier: GPL-2.0-or-later
# Web servers of the image `web` with the FastCGI server /files/greeter, which they have as /hello; what is in /files is
# served else. A function returns when its server answers.

lighttpd_serves() {
    cat >/tmp/lighttpd.conf <<'END'
server.document-root = "/files"
server.port = 8080
server.modules = ("mod_fastcgi")
server.max-keep-alive-requests = 1000000
server.max-keep-alive-idle = 3600
server.max-fds = 32768
server.max-connections = 20000
fastcgi.server = ("/hello" => (("socket" => "/tmp/greeter", "check-local" => "disable")))
mimetype.assign = ("" => "text/plain")
END
    spawn-fcgi -s /tmp/greeter -- /files/greeter >/dev/null && lighttpd -f /tmp/lighttpd.conf && answers 8080
}

# As processes that serve one connection each (prefork).
apache_serves() {
    mkdir -p /tmp/fcgid
    chown www-data:www-data /tmp/fcgid
    cat >/tmp/apache.conf <<'END'
ServerRoot /usr/lib/apache2
ServerName localhost
DocumentRoot /files
Listen 8081
LoadModule mpm_prefork_module modules/mod_mpm_prefork.so
LoadModule authz_core_module modules/mod_authz_core.so
LoadModule alias_module modules/mod_alias.so
LoadModule fcgid_module modules/mod_fcgid.so
User www-data
Group www-data
PidFile /tmp/apache.pid
ErrorLog /tmp/apache.log
StartServers 1
MinSpareServers 1
MaxSpareServers 1
KeepAlive On
KeepAliveTimeout 3600
MaxKeepAliveRequests 0
FcgidIPCDir /tmp/fcgid
FcgidProcessTableFile /tmp/fcgid/table
FcgidMinProcessesPerClass 1
FcgidMaxProcessesPerClass 1
FcgidMaxRequestsPerProcess 0
Alias /hello /files/greeter
<Directory /files>
    Options +ExecCGI
    Require all granted
</Directory>
<Location /hello>
    SetHandler fcgid-script
</Location>
END
    apache2 -f /tmp/apache.conf && answers 8081
}

# answers PORT: as soon as there is a page
answers() { until wget -q -O /dev/null "http://127.0.0.1:$1/hello"; do sleep 0.2; done; }
