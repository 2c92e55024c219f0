# SPDX-License-Identifier: MIT
"""The files that are asked for: those of the cases, and those that an access log speaks of."""

import os
import re

# conditional.lua and replay.lua know this date; it is old enough to be a validator.
FILE_TIME = 1577836800  # Wed, 01 Jan 2020 00:00:00 GMT
MANY = 10000
MANY_A_FOLDER = 200
LARGEST = 16 << 20

# Common and combined format: the request line, the status, the bytes.
LOG_LINE = re.compile(r'"(?P<method>[A-Z]+) (?P<path>/[^ "]*) [^"]*" '
                      r'(?P<status>\d{3}) (?P<bytes>\d+|-)')


def put(root, name, data):
    path = os.path.join(root, name)
    os.makedirs(os.path.dirname(path), exist_ok=True)
    with open(path, "wb") as file:
        file.write(data)
    os.utime(path, (FILE_TIME, FILE_TIME))


def make_site(root):
    put(root, "1k.html", b"<p>" + b"x" * 1021)
    put(root, "100k.bin", os.urandom(100 << 10))
    put(root, "10m.bin", os.urandom(10 << 20))
    for number in range(MANY):
        data = (f"{number:05}" * 820).encode()[:4096]
        folder, place = divmod(number, MANY_A_FOLDER)
        put(root, f"many/{folder:02}/{place:04}.html", data)
        put(root, f"flat/{number:05}.html", data)


def log_paths(log):
    """Path to size, of what the log's requests were given: 200 says it all, 206 and 304 that it
    was there."""
    found = {}
    with open(log, errors="replace") as file:
        for match in filter(None, map(LOG_LINE.search, file)):
            path = match["path"].split("?")[0]
            size = int(match["bytes"]) if match["bytes"].isdigit() else 0
            if match["status"] in ("200", "206", "304"):
                known = found.get(path, 0)
                found[path] = max(known, size if match["status"] != "304" else 0)
    return found


def make_log_site(root, log):
    """A file for each path of the log, of the size that the log tells; `/` is index.html."""
    for path, size in log_paths(log).items():
        name = os.path.normpath(path.lstrip("/") + ("index.html" if path.endswith("/") else ""))
        if name.startswith("..") or "%" in name or len(name) > 1000:
            continue
        try:
            put(root, name, os.urandom(min(max(size, 1), LARGEST)))
        except OSError:
            pass  # a name that is a folder elsewhere in the log
