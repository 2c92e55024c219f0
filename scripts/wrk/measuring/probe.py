# SPDX-License-Identifier: MIT
"""Two clients, each a process of its own: one that asks for a hot file at a fixed pace, and one
that reads cold files as fast as they come."""

import json
import os
import select
import socket
import sys
import time

INTERVAL_S = 0.002


def hot(port, path, seconds):
    """Latencies in microseconds of what was due in `seconds`, each from when it was due: a server
    that stands still pays for all that it kept waiting. What is not answered in time counts with
    the time that it waited."""
    request = f"GET {path} HTTP/1.1\r\nHost: 127.0.0.1\r\n\r\n".encode()
    begin = time.monotonic()
    latencies = []
    with socket.create_connection(("127.0.0.1", port), 10) as peer:
        for number in range(int(seconds / INTERVAL_S)):
            due = begin + number * INTERVAL_S
            time.sleep(max(due - time.monotonic(), 0))
            left = begin + seconds - time.monotonic()
            if left > 0:
                peer.settimeout(left)
                try:
                    peer.sendall(request)
                    peer.recv(65536)
                except socket.timeout:
                    pass
            latencies.append((time.monotonic() - due) * 1e6)
    latencies.sort()
    return latencies


def cold(port, paths, seconds):
    """Bytes that arrived in `seconds` of files asked for at once."""
    peers = []
    for path in paths:
        peer = socket.create_connection(("127.0.0.1", port), 10)
        peer.sendall(f"GET {path} HTTP/1.1\r\nHost: 127.0.0.1\r\n\r\n".encode())
        peers.append(peer)
    got = 0
    end = time.monotonic() + seconds
    while peers and time.monotonic() < end:
        for peer in select.select(peers, [], [], max(end - time.monotonic(), 0))[0]:
            data = peer.recv(1 << 18)
            got += len(data)
            if not data:
                peers.remove(peer)
    return got


def command(kind, port, seconds, *paths):
    """The command line that runs one of them; it prints its result as JSON."""
    return [sys.executable, os.path.abspath(__file__), kind, str(port), str(seconds), *paths]


if __name__ == "__main__":
    if sys.argv[1] == "hot":
        print(json.dumps(hot(int(sys.argv[2]), sys.argv[4], float(sys.argv[3]))))
    else:
        print(json.dumps(cold(int(sys.argv[2]), sys.argv[4:], float(sys.argv[3]))))
