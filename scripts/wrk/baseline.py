#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""The yardstick in Python, once for each way of waiting: receives, looks for the blank line, sends
a fixed 1 KiB response. Run by scripts/wrk/c10k, or by hand: baseline.py WAY PORT.

ways: threads (one for each connection), poll, epoll, asyncio
"""

import asyncio
import select
import socket
import sys
import threading

BODY = b"x" * 1024
RESPONSE = (b"HTTP/1.1 200 OK\r\nServer: baseline\r\nContent-Type: text/plain\r\n"
            b"Content-Length: %d\r\n\r\n%s" % (len(BODY), BODY))
BLANK_LINE = b"\r\n\r\n"
BACKLOG = 4096


def answer(kept, data):
    """What to send for the requests that end in this data, and what to keep of the next."""
    if kept:
        data = kept + data
    found = data.count(BLANK_LINE)
    return RESPONSE * found, data[data.rfind(BLANK_LINE) + 4:] if found else data


def listen(port):
    listener = socket.socket()
    listener.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
    listener.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
    listener.bind(("127.0.0.1", port))
    listener.listen(BACKLOG)
    return listener


def run_threads(listener):
    def serve(peer):
        kept = b""
        with peer:
            try:
                while data := peer.recv(16384):
                    out, kept = answer(kept, data)
                    peer.sendall(out)
            except OSError:
                pass

    threading.stack_size(256 << 10)
    while True:
        threading.Thread(target=serve, args=(listener.accept()[0],), daemon=True).start()


def run_poller(listener, poller, readable):
    """poll and epoll differ in the object alone. A reader that leaves more than a socket buffer
    unread is cut off, as the floor does."""
    peers, kept = {}, {}
    listener.setblocking(False)
    poller.register(listener, readable)
    while True:
        for number, _events in poller.poll():
            if number == listener.fileno():
                peer = listener.accept()[0]
                peer.setblocking(False)
                peers[peer.fileno()] = peer
                poller.register(peer, readable)
                continue
            peer = peers[number]
            try:
                data = peer.recv(16384)
                out, kept[number] = answer(kept.get(number), data)
                if data and peer.send(out) == len(out):
                    continue
            except OSError:
                pass
            poller.unregister(peer)
            peers.pop(number).close()
            kept.pop(number, None)


def run_asyncio(listener):
    class Peer(asyncio.Protocol):
        def connection_made(self, transport):
            self.transport = transport
            self.kept = b""

        def data_received(self, data):
            out, self.kept = answer(self.kept, data)
            self.transport.write(out)

    async def serve():
        loop = asyncio.get_running_loop()
        server = await loop.create_server(Peer, sock=listener, backlog=BACKLOG)
        await server.serve_forever()

    asyncio.run(serve())


WAYS = {
    "threads": run_threads,
    "poll": lambda listener: run_poller(listener, select.poll(), select.POLLIN),
    "epoll": lambda listener: run_poller(listener, select.epoll(), select.EPOLLIN),
    "asyncio": run_asyncio,
}

if __name__ == "__main__":
    if len(sys.argv) != 3 or sys.argv[1] not in WAYS:
        sys.exit(__doc__)
    WAYS[sys.argv[1]](listen(int(sys.argv[2])))
