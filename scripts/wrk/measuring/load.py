# SPDX-License-Identifier: MIT
"""The loads: wrk (as fast as it goes), oha (at a fixed rate), and connections that only wait."""

import http.client
import json
import os
import select
import shutil
import socket
import subprocess
import threading

from . import probe, processes
from .servers import HERE

REQUEST = b"GET %s HTTP/1.1\r\nHost: 127.0.0.1\r\n\r\n"


def run(command, seconds):
    try:
        return subprocess.run(command, capture_output=True, text=True, timeout=seconds + 60,
                              preexec_fn=processes.preparation(processes.LOAD_CORE))
    except subprocess.TimeoutExpired as error:
        raise processes.Failed(f"{command[0]} did not end") from error


def wrk(port, seconds, connections, path="/1k.html", script="report.lua", arguments=()):
    """One run of wrk; the answer of report.lua's done()."""
    command = ["wrk", "-t1", f"-c{connections}", f"-d{seconds}s", "--timeout", "10s",
               "-s", os.path.join(HERE, script), f"http://127.0.0.1:{port}{path}", "--", *arguments]
    output = run(command, seconds)
    for line in output.stdout.splitlines():
        if line.startswith("RESULT "):
            return json.loads(line[7:])
    raise processes.Failed(f"wrk: {output.stdout[-200:]} {output.stderr[-200:]}")


def has_oha():
    return shutil.which("oha") is not None


def oha(port, seconds, connections, rate, path="/1k.html"):
    """One run of oha at a fixed rate. A latency counts from when its request was due, so a server
    that stands still for a while pays for all the requests that it kept waiting."""
    command = ["oha", "--no-tui", "--output-format", "json", "-z", f"{seconds}s",
               "-c", str(connections), "-q", str(rate), "--latency-correction",
               "--disable-compression", f"http://127.0.0.1:{port}{path}"]
    output = run(command, seconds)
    try:
        return read_oha(json.loads(output.stdout))
    except (ValueError, KeyError, TypeError) as error:
        raise processes.Failed(f"oha: {error!r} {output.stderr[-200:]}") from error


def read_oha(report):
    """oha's JSON in the words of report.lua. Requests cut off by the end of the run are no
    errors."""
    statuses = {int(code): count for code, count in report["statusCodeDistribution"].items()}
    errors = {what: count for what, count in report["errorDistribution"].items()
              if "deadline" not in what}
    percentiles = report["latencyPercentiles"]
    requests = sum(statuses.values())
    return {
        "requests": requests,
        "rate": report["summary"]["requestsPerSec"],
        "bytes": report["summary"]["totalData"],
        **{name: (percentiles[key] or 0) * 1e6
           for name, key in (("p50", "p50"), ("p99", "p99"), ("p999", "p99.9"))},
        "errors": sum(errors.values()),
        "statuses": sum(count for code, count in statuses.items() if code > 399),
    }


def ask(port, path="/1k.html", fields=""):
    """One request on a connection of its own: status and length of the body. The connection is
    closed by whom it pleases: the floor does not read what it is asked."""
    request = f"GET {path} HTTP/1.1\r\nHost: 127.0.0.1\r\nConnection: close\r\n{fields}\r\n"
    try:
        with socket.create_connection(("127.0.0.1", port), 20) as peer:
            peer.sendall(request.encode())
            response = http.client.HTTPResponse(peer, method="GET")
            response.begin()
            return response.status, len(response.read())
    except (OSError, http.client.HTTPException) as error:
        raise processes.Failed(f"no response to {path}: {error!r}") from error


class PacedClient:
    """`with PacedClient(port, path, seconds)`: asks for a file at a fixed pace while the block lasts,
    in a process of its own that the kernel prefers to the load, so that what is measured is not how
    long that process waits for its core."""

    def __init__(self, port, path, seconds):
        self.command = probe.command("hot", port, seconds, path)
        self.seconds = seconds
        self.process = None

    def __enter__(self):
        self.process = subprocess.Popen(
            self.command, stdout=subprocess.PIPE, text=True,
            preexec_fn=processes.preparation(processes.LOAD_CORE, favoured=os.geteuid() == 0))
        return self

    def latencies(self):
        """Quantiles in microseconds, by report.lua's names."""
        try:
            found = json.loads(self.process.communicate(timeout=self.seconds + 20)[0])
        except (subprocess.TimeoutExpired, ValueError) as error:
            raise processes.Failed(f"the small file's client: {error!r}") from error
        return {name: found[min(int(share * len(found)), len(found) - 1)]
                for name, share in (("p50", 0.5), ("p99", 0.99), ("p999", 0.999))}

    def __exit__(self, *_error):
        self.process.kill()
        self.process.wait()
        self.process.stdout.close()


class IdleConnections:
    """`with IdleConnections(port, count)`: kept open, each after one answered request."""

    def __init__(self, port, count, path="/1k.html"):
        self.port = port
        self.count = count
        self.request = REQUEST % path.encode()
        self.peers = []

    def __enter__(self):
        try:
            while len(self.peers) < self.count:
                self.open_some(min(200, self.count - len(self.peers)))
        except (OSError, http.client.HTTPException, processes.Failed) as error:
            reached = len(self.peers)
            self.__exit__()
            raise processes.Failed(f"of {reached} idle connections: {error}") from error
        return self

    def open_some(self, count):
        batch = [socket.create_connection(("127.0.0.1", self.port), 20) for _ in range(count)]
        self.peers += batch
        for peer in batch:
            peer.sendall(self.request)
        for peer in batch:
            response = http.client.HTTPResponse(peer, method="GET")
            response.begin()
            response.read()
            if response.status != 200:
                raise processes.Failed(f"answered {response.status}")

    def still_open(self):
        """How many the server has not closed."""
        poller = select.poll()
        for peer in self.peers:
            poller.register(peer, select.POLLIN | select.POLLRDHUP)
        return len(self.peers) - len(poller.poll(0))

    def __exit__(self, *_error):
        for peer in self.peers:
            peer.close()
        self.peers = []


def measured(server, load, seconds):
    """A load's result, with the CPU time that the server spent on each request of it, and its
    memory amidst it."""
    memory = []
    timer = threading.Timer(0.6 * seconds, lambda: memory.append(server.memory_bytes()))
    before = server.cpu_seconds()
    timer.start()
    try:
        result = load()
        result["cpu_us"] = (server.cpu_seconds() - before) * 1e6 / max(result["requests"], 1)
    finally:
        timer.join()
    result["memory"] = memory[0]
    return result
