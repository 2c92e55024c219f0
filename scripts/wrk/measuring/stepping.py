# SPDX-License-Identifier: MIT
"""Counts a worker's instructions with steps.c, and says whose they are."""

import bisect
import collections
import os
import re
import signal
import statistics
import subprocess
import time

from . import processes
from .servers import built

FIELDS = b"Host: localhost\r\nUser-Agent: steps\r\nAccept: */*\r\n"
BROWSER = (b"Host: localhost\r\nConnection: keep-alive\r\nCache-Control: max-age=0\r\n"
           b"Upgrade-Insecure-Requests: 1\r\nUser-Agent: Mozilla/5.0 (X11; Linux x86_64) "
           b"AppleWebKit/537.36 (KHTML, like Gecko) Chrome/130.0.0.0 Safari/537.36\r\n"
           b"Accept: text/html,application/xhtml+xml,application/xml;q=0.9,image/avif,image/webp,"
           b"*/*;q=0.8\r\nSec-Fetch-Site: none\r\nSec-Fetch-Mode: navigate\r\n"
           b"Sec-Fetch-User: ?1\r\nSec-Fetch-Dest: document\r\n"
           b"Accept-Encoding: gzip, deflate, br, zstd\r\nAccept-Language: de,en;q=0.8\r\n")
REQUESTS = {
    "small": b"GET /1k.html HTTP/1.1\r\n" + FIELDS + b"\r\n",
    "browser": b"GET /1k.html HTTP/1.1\r\n" + BROWSER + b"\r\n",
    "304": b"GET /1k.html HTTP/1.1\r\n" + FIELDS +
           b"If-Modified-Since: Wed, 01 Jan 2020 00:00:00 GMT\r\n\r\n",
    "404": b"GET /none.html HTTP/1.1\r\n" + FIELDS + b"\r\n",
}
SKIP = 77
PATIENCE_S = 0.7  # for a request; the worker's clock has something to do each second


class Impossible(Exception):
    """Nothing can be counted here, for the reason given."""


def made(program):
    """How the compiler made a program: its version and options, as the debug information says."""
    if not os.path.exists(program):
        raise Impossible(f"{program} is not there")
    try:
        output = subprocess.run(["readelf", "--debug-dump=info", "--dwarf-depth=1", program],
                                capture_output=True, text=True)
    except OSError as error:
        raise Impossible(f"readelf (of binutils): {error}") from error
    match = re.search(r"DW_AT_producer.*?: (GNU C.*|.*clang.*)$", output.stdout, re.MULTILINE)
    if not match:
        raise Impossible("evixd was built without debug information")
    return match[1].strip()


def mappings(pid):
    """(first, last, offset in the file, name) of what can be run."""
    found = []
    with open(f"/proc/{pid}/maps") as file:
        for line in file:
            fields = line.split(None, 5)
            if "x" in fields[1]:
                first, last = (int(text, 16) for text in fields[0].split("-"))
                found.append((first, last, int(fields[2], 16), fields[5].strip()))
    return found


def symbols(path):
    """Sorted (address, size, name) of a file's functions; those of its table, else the exported."""
    for option in ([], ["-D"]):
        output = subprocess.run(["nm", "-S", *option, path], capture_output=True, text=True)
        found = [line.split(None, 3) for line in output.stdout.splitlines()]
        found = sorted((int(line[0], 16), int(line[1], 16), line[3].split("@")[0])
                       for line in found if len(line) == 4 and line[2] in "tTiWw")
        if found:
            return found
    return []


def rooms(program):
    """A function's name to the room that its source lies in."""
    output = subprocess.run(["nm", "-l", "--defined-only", program], capture_output=True, text=True)
    found = {}
    for line in output.stdout.splitlines():
        match = re.match(r"\S+ [tTwW] (\S+)\t.*?/(?:src/(\w+)/|(llhttp))", line)
        if match:
            found[match[1]] = match[2] or match[3]
    return found


class Steps:
    """What was counted: instructions of each request, and how often each address was run."""

    def __init__(self, program, requests, addresses, maps):
        self.program = program
        self.requests = requests
        self.addresses = addresses
        self.maps = maps
        self.mean = statistics.mean(requests)
        self.least, self.most = min(requests), max(requests)

    def mapping(self, address):
        for first, last, offset, name in self.maps:
            if first <= address < last:
                return name, address - first + offset
        return "?", address

    def shares(self, name_of):
        """(name, instructions a request), the most first."""
        found = collections.Counter()
        for address, times in self.addresses.items():
            found[name_of(*self.mapping(address))] += times / len(self.requests)
        return found.most_common()

    def rooms(self):
        """The same by the folder of the source, for what has one, else by library."""
        room_of = rooms(self.program)
        found = collections.Counter()
        for name, share in self.functions():
            function, place = name[:-1].split(" (")
            is_ours = place == os.path.basename(self.program)
            found[room_of.get(function.split(".")[0], "other") if is_ours else place] += share
        return found.most_common()

    def functions(self):
        tables = {}

        def name_of(name, offset):
            if name not in tables:
                tables[name] = symbols(name) if os.path.isabs(name) else []
            place = bisect.bisect(tables[name], (offset, float("inf"))) - 1
            first, size, function = tables[name][place] if place >= 0 else (0, 0, "")
            return f"{function if offset < first + size else '?'} ({os.path.basename(name)})"

        return self.shares(name_of)


def count(server, request, times):
    """Steps through the server's worker while it answers; the file is in its cache by then."""
    master, worker = server.pids()[:2]
    steps = built("STEPS", "scripts", "wrk", "steps")
    maps = mappings(worker)
    began = time.monotonic()
    # To the master, a worker that is stepped through looks stuck: it would ask it for signs of life.
    os.kill(master, signal.SIGSTOP)
    try:
        output = subprocess.run([steps, str(worker), str(server.port), str(times)],
                                input=request, capture_output=True, timeout=120,
                                preexec_fn=processes.preparation(processes.SERVER_CORE))
    except OSError as error:
        raise Impossible(f"{steps}: {error}") from error
    except subprocess.TimeoutExpired as error:
        raise Impossible("stepping took too long") from error
    finally:
        os.kill(master, signal.SIGCONT)
    if output.returncode == SKIP:
        raise Impossible(output.stderr.decode().strip())
    if output.returncode != 0:
        raise processes.Failed(output.stderr.decode().strip())
    if (time.monotonic() - began) / times > PATIENCE_S:
        raise Impossible("the machine is too busy: each request met a tick of the clock")
    return read(server.command[0], output.stdout.decode(), maps)


def read(program, text, maps):
    found, addresses = [], {}
    for line in text.splitlines():
        word, *numbers = line.split()
        if word == "request":
            found.append(int(numbers[0]))
        else:
            addresses[int(numbers[0], 16)] = int(numbers[1])
    return Steps(program, found, addresses, maps)
