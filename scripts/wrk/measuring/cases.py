# SPDX-License-Identifier: MIT
"""The loads that compare runs: what is asked for, how, and what the right answer is."""

from . import load, processes
from .site import MANY

DATE = "If-Modified-Since: Wed, 01 Jan 2020 00:00:00 GMT\r\n"


class Case:
    """A load by wrk. `status` and `length` are what one request of it has to be answered with."""

    def __init__(self, title, path="/1k.html", script="report.lua", connections=64, status=200,
                 length=None, fields="", floor=False):
        self.title = title
        self.path = path
        self.script = script
        self.connections = connections
        self.status = status
        self.length = length
        self.fields = fields
        self.floor = floor  # the floor program's answer is the right one

    def check(self, name, port):
        """A server that is not asked what we think it is asked would win or lose for nothing."""
        status, length = load.ask(port, self.path, self.fields)
        if status != self.status or self.length not in (None, length):
            raise processes.Failed(f"answers {self.title} with {status} and {length} bytes")

    def load(self, port, seconds, options):
        return load.wrk(port, seconds, self.connections, self.path, self.script,
                        self.arguments(options))

    def arguments(self, _options):
        return ()


class Pipelined(Case):
    """wrk takes the sixteen answers of a write for sixteen rounds, and corrects their latencies by
    that: they mean nothing."""

    def load(self, port, seconds, options):
        return {**super().load(port, seconds, options), "p50": None, "p99": None, "p999": None}


class Flat(Case):
    def arguments(self, _options):
        return ("flat",)


class Replay(Case):
    def arguments(self, options):
        return (options.log,)


class Mixed(Case):
    """Downloads that never pause, and one client that asks for a small file 500 times a second.
    Requests and their CPU time are those of the downloads, latencies those of the small file."""

    HOT = "/1k.html"

    def load(self, port, seconds, options):
        with load.PacedClient(port, self.HOT, seconds) as client:
            downloads = super().load(port, seconds, options)
            return {**downloads, **client.latencies()}


class Paced(Case):
    """The same number of requests a second for each server: then latencies can be compared."""

    RATE = 10000

    def load(self, port, seconds, _options):
        return load.oha(port, seconds, self.connections, self.RATE, self.path)


# The rows of the budget table.
BUDGETS = {
    "small": Case("1 KiB file, keep-alive, 64 connections", length=1024, floor=True),
    "small-1000": Case("1 KiB file, 1,000 connections", connections=1000, length=1024, floor=True),
    "pipelined": Pipelined("1 KiB file, 16 requests pipelined", script="pipelined.lua",
                           length=1024, floor=True),
    "many": Case(f"{MANY:,} distinct 4 KiB files at random", path="/many/00/0000.html",
                 script="many.lua", length=4096),
    "close": Case("a new connection for each request", script="close.lua", length=1024),
    "100k": Case("100 KiB file", path="/100k.bin", length=100 << 10),
    "10m": Case("10 MiB file, 16 connections", path="/10m.bin", connections=16, length=10 << 20),
    "404": Case("404", path="/none.html", status=404),
    "304": Case("304", script="conditional.lua", status=304, length=0, fields=DATE),
    "mixed": Mixed("a small file, 500/s, beside 16 downloads of 10 MiB", path="/10m.bin",
                   connections=16, length=10 << 20),
}
# Decide no budget.
FURTHER = {
    "ranges": Case("4 KiB ranges of a 10 MiB file", path="/10m.bin", script="ranges.lua",
                   status=206, length=4096, fields="Range: bytes=4096-8191\r\n"),
    "flat": Flat(f"{MANY:,} distinct 4 KiB files in one folder", path="/flat/00000.html",
                 script="many.lua", length=4096),
    "replay": Replay("an access log replayed", script="replay.lua"),
    "paced": Paced(f"1 KiB file, {Paced.RATE:,} requests a second (oha)", length=1024),
}
CASES = {**BUDGETS, **FURTHER}
