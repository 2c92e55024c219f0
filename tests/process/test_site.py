# SPDX-License-Identifier: MIT
"""A whole site's configuration, every group of settings in it, does what it says."""

import os
import socket
import stat
import unittest

import suite
import tree
from evixd import Daemon, TestCase, run
from wire import Connection, fetch, request

HASH = "$2y$04$KBCwKxOzLha2MUDgW0PjXe/hE/UCO9qF89dOydoHjSwxcHev5LRn."
HAS_CRYPT = "+libcrypt" in run("--version").stdout

SITE = """
workers = "auto";  backend = "auto";  %(account)s  pid_file = "%(top)s/run/evixd.pid";
error_log = { target = "stderr"; level = "notice"; };          # stderr, syslog, or a path
limits   = { connections = 10000; connections_per_address = 0; target = "8K"; head = "32K"; fields = 100;
             body = "16M"; requests_per_connection = 0; min_rate = 128; };
timeouts = { head = 15; body = 30; send = 30; keep_alive = 65; linger = 5; shutdown = 30; };
files    = { cache = "watch"; entries = 20000; memory = "64M"; small = "64K"; symlinks = "beneath"; };
listen   = ( { address = "127.0.0.1:0"; backlog = 4096; }, { address = "unix:%(top)s/run/http.sock"; mode = "0660"; },
             { address = "127.0.0.1:0"; protocol = "echo"; } );               # a plain TCP echo service
mime_types = "%(top)s/mime.types";  default_type = "application/octet-stream";
hosts = (
  { names = ( "example.org", "*.example.org" );  default = true;  root = "%(top)s/www";
    index = ( "index.html" );  access_log = { target = "%(top)s/log/access.log"; format = "combined"; };
    error_pages = ( { status = 404; file = "/404.html"; } );
    locations = (
      { path = "/"; },
      { path = "/downloads/"; listing = true; },
      { path = "/assets/"; files = ( "*.js", "*.css" ); headers = { Cache-Control = "public, max-age=31536000, immutable"; }; },
      { path = "/app/"; fallback = "/app/index.html"; },
      { path = "/old/"; redirect = { status = 301; to = "/new/"; }; },
      { path = "/internal/"; allow = ( "127.0.0.0/8", "::1" ); },
      %(private)s
      { path = "/echo"; handler = "echo"; },
      { path = "/status"; handler = "status"; allow = ( "127.0.0.0/8", "::1" ); } ); } );
@include "conf.d/site.conf"
"""


class Site(TestCase):
    @classmethod
    def configuration(cls):
        account = 'user = "nobody";  group = "nogroup";' if os.getuid() == 0 else ""
        private = '{ path = "/private/"; auth = { realm = "private"; users = "%s/htpasswd"; }; },'
        return SITE % {"top": cls.root, "account": account,
                       "private": private % cls.root if HAS_CRYPT else ""}

    @classmethod
    def serve(cls):
        os.chmod(cls.root, 0o755)
        for name, data in (
            ("index.html", "home"), ("404.html", "not here"), ("downloads/a.tar.gz", "a"),
            ("assets/x.js", "x"), ("assets/x.png", "x"), ("app/index.html", "app"), ("new/x", "x"),
            ("internal/x", "x"), ("private/x", "x"), ("paper.odd", "x"),
        ):
            tree.write(cls.root, "www/" + name, data)
        tree.write(cls.root, "mime.types", "application/x-odd odd\n")
        tree.write(cls.root, "htpasswd", "alice:%s\n" % HASH)
        for name in ("run", "log"):
            os.mkdir(os.path.join(cls.root, name))
            os.chmod(os.path.join(cls.root, name), 0o777)
        daemon = Daemon(config=cls.configuration(), listeners=3, workers=2)
        os.chmod(daemon.folder, 0o755)
        tree.write(daemon.folder, "conf.d/site.conf", 'headers_always = { X-Site = "included"; };\n')
        return daemon

    def get(self, target, *arguments, **options):
        return fetch(self.address, target, *arguments, **options)

    def test_check_and_dump(self):
        """What is dumped is read back as the same."""
        path = self.daemon.config_path
        self.assertEqual(run("-t", "-c", path).returncode, 0)
        dump = run("-T", "-c", path)
        self.assertEqual((dump.returncode, dump.stderr), (0, ""))
        again = tree.write(self.root, "dump.conf", dump.stdout)
        self.assertEqual(run("-T", "-c", again).stdout, dump.stdout)

    def test_files(self):
        self.assertEqual(self.get("/").body, b"home")
        self.assertEqual(self.get("/", host="www.example.org").body, b"home")
        self.assertEqual(self.get("/paper.odd").get("Content-Type"), "application/x-odd")
        self.assertEqual(self.get("/new/x").get("Content-Type"), "application/octet-stream")
        self.assertIn(b"a.tar.gz", self.get("/downloads/").body)
        self.assertEqual(self.get("/new/").status, 403)

    def test_rules(self):
        self.assertIn("immutable", self.get("/assets/x.js").get("Cache-Control"))
        self.assertIsNone(self.get("/assets/x.png").get("Cache-Control"))
        self.assertIsNone(self.get("/assets/none.js").get("Cache-Control"))
        self.assertEqual(self.get("/none").body, b"not here")
        self.assertEqual(self.get("/app/page", fields=["Accept: text/html"]).body, b"app")
        self.assertEqual(self.get("/app/page.js", fields=["Accept: text/html"]).body, b"not here")
        self.assertEqual(self.get("/old/x").get("Location"), "/new/x")
        self.assertEqual(self.get("/old").get("Location"), "/old/")
        self.assertEqual(self.get("/none").get("X-Site"), "included")

    def test_access(self):
        self.assertEqual(self.get("/internal/x").body, b"x")
        unix = self.daemon.addresses[1]
        self.assertEqual(fetch(unix, "/internal/x").status, 403)
        self.assertEqual(fetch(unix, "/").body, b"home")
        self.assertEqual(fetch(unix, "/status").status, 403)
        self.assertEqual(self.get("/status").status, 200)

    @unittest.skipUnless(HAS_CRYPT, "built without libcrypt")
    def test_passwords(self):
        self.assertEqual(self.get("/private/x").status, 401)
        right = "Authorization: Basic YWxpY2U6c2VjcmV0"
        self.assertEqual(self.get("/private/x", fields=[right]).body, b"x")

    def test_handlers_and_protocols(self):
        with Connection(self.address) as connection:
            connection.send(request("/echo", "POST", ["Content-Length: 5"], body=b"hello"))
            self.assertEqual(connection.read_response("POST").body, b"hello")
        with socket.create_connection(self.daemon.addresses[2], timeout=10) as echo:
            echo.sendall(b"plain")
            self.assertEqual(echo.recv(5, socket.MSG_WAITALL), b"plain")

    def test_files_of_the_daemon(self):
        with open(self.root + "/run/evixd.pid", encoding="ascii") as file:
            self.assertEqual(int(file.read()), self.daemon.process.pid)
        self.assertEqual(stat.S_IMODE(os.stat(self.root + "/run/http.sock").st_mode), 0o660)
        self.assertTrue(os.path.exists(self.root + "/log/access.log"))


if __name__ == "__main__":
    suite.main()
