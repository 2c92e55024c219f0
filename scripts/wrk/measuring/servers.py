# SPDX-License-Identifier: MIT
"""The servers that are compared: each writes its configuration and returns its command line.

One worker each, no access log, connections kept for as long as the measurement lasts, and room for
more connections than any case opens. Beyond that they run as they come.
"""

import os
import shutil
import sys
import tempfile

TOP = os.path.dirname(os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__)))))
HERE = os.path.join(TOP, "scripts", "wrk")
DESCRIPTORS = 16384


def built(variable, *path):
    """A program of this tree: where the environment says, else in the build folder."""
    program = os.environ.get(variable, os.path.join(TOP, "build", *path))
    if not os.path.exists(program):
        sys.exit(f"{program} is not there: `make {'/'.join(path)}` in the build folder makes it, "
                 f"{variable} names another")
    return program


def write(work, name, text):
    path = os.path.join(work, name)
    with open(path, "w") as file:
        file.write(text)
    return path


def evixd(backend, files=""):
    def command(work, root, port):
        config = write(work, f"evixd-{port}.conf", f"""
workers = 1; backend = "{backend}";
error_log = {{ target = "stderr"; level = "error"; }};
limits = {{ connections = {DESCRIPTORS}; }};
files = {{ {files} }};
listen = ( {{ address = "127.0.0.1:{port}"; }} );
hosts = ( {{ root = "{root}"; }} );
""")
        return [built("EVIXD", "evixd"), "-c", config]
    return command


def floor(how):
    def command(_work, _root, port):
        return [built("FLOOR", "scripts", "wrk", "floor"), how, str(port)]
    return command


def python(how):
    def command(_work, _root, port):
        return [sys.executable, os.path.join(HERE, "baseline.py"), how, str(port)]
    return command


def nginx(extra=""):
    def command(work, root, port):
        config = write(work, f"nginx-{port}.conf", f"""
worker_processes 1; worker_rlimit_nofile {DESCRIPTORS}; daemon off;
pid {work}/nginx-{port}.pid; error_log {work}/nginx.log crit;
events {{ worker_connections {DESCRIPTORS}; }}
http {{ access_log off; sendfile on; tcp_nopush on;
keepalive_timeout 3600; keepalive_requests 1000000000;
types {{ text/html html; application/octet-stream bin; }} {extra}
client_body_temp_path {work}/a; proxy_temp_path {work}/b; fastcgi_temp_path {work}/c;
uwsgi_temp_path {work}/d; scgi_temp_path {work}/e;
server {{ listen 127.0.0.1:{port} backlog=4096; root {root}; }} }}
""")
        return ["nginx", "-p", work, "-c", config]
    return command


NGINX_CACHE = ("open_file_cache max=20000 inactive=60s; open_file_cache_valid 60s; "
               "open_file_cache_errors on;")


def lighttpd(work, root, port):
    config = write(work, f"lighttpd-{port}.conf", f"""
server.document-root = "{root}"
server.bind = "127.0.0.1"
server.port = {port}
server.max-fds = {DESCRIPTORS}
server.max-connections = {DESCRIPTORS - 1000}
server.max-keep-alive-requests = 1000000000
server.max-keep-alive-idle = 3600
server.listen-backlog = 4096
mimetype.assign = ( ".html" => "text/html", ".bin" => "application/octet-stream" )
""")
    return ["lighttpd", "-D", "-f", config]


def h2o(work, root, port):
    config = write(work, f"h2o-{port}.yaml", f"""
num-threads: 1
max-connections: {DESCRIPTORS}
http1-request-timeout: 3600
error-log: {work}/h2o.log
listen: {{ host: 127.0.0.1, port: {port} }}
hosts: {{ default: {{ paths: {{ /: {{ file.dir: {root} }} }} }} }}
""")
    return ["h2o", "-c", config]


def caddy(work, root, port):
    config = write(work, f"Caddyfile-{port}", f"""{{
admin off
auto_https off
storage file_system {work}/caddy
}}
http://127.0.0.1:{port} {{
root * {root}
file_server
}}
""")
    return ["env", f"HOME={work}", "GOMAXPROCS=1",
            "caddy", "run", "--config", config, "--adapter", "caddyfile"]


def apache(work, root, port):
    modules = "/usr/lib/apache2/modules"
    config = write(work, f"apache-{port}.conf", f"""
ServerRoot {work}
PidFile {work}/apache-{port}.pid
ServerName localhost
LoadModule mpm_event_module {modules}/mod_mpm_event.so
LoadModule authz_core_module {modules}/mod_authz_core.so
LoadModule mime_module {modules}/mod_mime.so
TypesConfig /etc/mime.types
Listen 127.0.0.1:{port}
ListenBacklog 4096
ErrorLog {work}/apache.log
DocumentRoot {root}
MaxKeepAliveRequests 0
KeepAliveTimeout 3600
ServerLimit 1
StartServers 1
ThreadLimit 1200
ThreadsPerChild 1200
MaxRequestWorkers 1200
AsyncRequestWorkerFactor 20
""")
    return ["apache2", "-D", "FOREGROUND", "-f", config]


def installed(server):
    """Whether the program that a server's command line names is there."""
    with tempfile.TemporaryDirectory(prefix="servers-") as work:
        words = server(work, "/", 1)
        if words[0] == "env":
            words = [word for word in words[1:] if "=" not in word]
        return shutil.which(words[0]) is not None
