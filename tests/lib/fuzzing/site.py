# SPDX-License-Identifier: MIT
"""The site that is served: its files, and the configurations that take turns."""

import os

import tree
from evixd import configuration, host

SMALL = 16 << 10  # files.small: what is larger is sent from the file

# Names of files that never change, with their sizes.
FIXED = {"fixed/%d.bin" % size: size for size in (
    0, 1, 100, 1024, 4095, 8192, 8193, SMALL, SMALL + 1, 65537, 300000, 5 << 20)}
FIXED.update({"list/file-%02d.txt" % number: number * 37 for number in range(40)})
FIXED.update({
    "pre/page.html": 3000, "pre/page.html.gz": 1100, "pre/page.html.br": 900, "pre/page.html.zst": 1000,
    "pre/large.css": 90000, "pre/large.css.gz": 40000,
    "app/index.html": 700, "errors/404.html": 500, "private/secret.bin": 2000,
})
# Files that come, go and are replaced by rename(2); and their largest sizes.
LIVE = {"live/%d.bin" % number: size for number, size in enumerate(
    (200, 2000, 9000, SMALL, SMALL + 3000, 100000, 400000, 3 << 20))}
# Files that are truncated in place as well.
CUT = {"cut/%d.bin" % number: size for number, size in enumerate((5000, 60000, 1 << 20, 4 << 20))}
# A folder with a listing in which files come and go.
SHELF = {"shelf/book-%d.txt" % number: 100 + number for number in range(8)}

# alice, "secret".
USERS = b"alice:$2y$04$KBCwKxOzLha2MUDgW0PjXe/hE/UCO9qF89dOydoHjSwxcHev5LRn.\n"


class Site:
    """What of the site is where. `folder` is the fuzzer's own."""

    def __init__(self, folder, has_users=True, cache="watch"):
        self.folder = folder
        self.cache = cache
        self.root = os.path.join(folder, "root")
        self.spare = os.path.join(folder, "spare")  # the same file system, and not served
        self.access_log = os.path.join(folder, "access.log")
        self.journal = os.path.join(folder, "journal")
        self.users = os.path.join(folder, "users")
        self.has_users = has_users

    def make(self, pool):
        for name, size in FIXED.items():
            tree.write(self.root, name, bytes(pool.content(name, 0, size)))
        for name in ("live", "cut", "shelf"):
            os.makedirs(os.path.join(self.root, name))
        os.makedirs(self.spare)
        tree.write(self.folder, "users", USERS)
        # Siblings as old as their file are served, older ones are not: whatever order they came in.
        for name in FIXED:
            os.utime(os.path.join(self.root, name), (1700000000, 1700000000))

    def locations(self, number):
        """Of the configuration of this number."""
        found = [
            {"path": "/"},
            {"path": "/list/", "listing": True},
            {"path": "/shelf/", "listing": True},
            {"path": "/echo", "handler": "echo"},
            {"path": "/status", "handler": "status"},
            {"path": "/old/", "redirect": {"status": 301, "to": "/fixed/"}},
            {"path": "/gen", "redirect": {"status": 302, "to": "/g%d" % number}},
            {"path": "/denied/", "allow": []},
            {"path": "/app/", "fallback": "/app/index.html"},
            {"path": "/own/", "error_pages": [{"status": 404, "file": "/errors/404.html"}]},
            {"path": "/pre/", "headers": {"X-Generation": "g%d" % number}},
        ]
        if self.has_users:
            found.append({"path": "/private/", "auth": {"realm": "vault", "users": self.users}})
        return found

    def configuration(self, backend, number, workers, ports=(0, 0)):
        return configuration(
            backend=backend, workers=workers,
            listen=[{"address": "127.0.0.1:%d" % ports[0]},
                    {"address": "127.0.0.1:%d" % ports[1], "protocol": "echo"}],
            error_log={"target": "stderr", "level": "notice"},
            files={"small": SMALL, "cache": self.cache},
            timeouts={"shutdown": 120},
            hosts=[host(self.root, *self.locations(number), access_log={"target": self.access_log})],
        )
