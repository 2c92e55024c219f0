# SPDX-License-Identifier: MIT
"""Constant load on the daemon while something happens to it: every byte of every answer is checked.

Some clients keep their connection as long as the daemon does, the others make one for each request.
All of them behave: who was told `Connection: close` makes a new one, and nobody repeats a request.
So whatever goes wrong is the daemon's fault, and is a failure. The query of each request is the
number of the client and of the request among its own.
"""

import threading
import time

import tree
from evixd import wait_until
from wire import Connection, WireError, request

FILES = {"small.bin": tree.content(900), "middle.bin": tree.content(70000), "empty.bin": b""}


def write_files(root):
    for name, data in FILES.items():
        tree.write(root, name, data)


class _Client(threading.Thread):
    def __init__(self, load, number, keeps):
        super().__init__(daemon=True)
        self.load = load
        self.number = number
        self.keeps = keeps
        self.names = list(FILES)[number % len(FILES):] + list(FILES)[:number % len(FILES)]
        self.answered = 0
        self.failures = []

    def run(self):
        while not self.load.is_over.is_set():
            try:
                with Connection(self.load.address, timeout=30) as connection:
                    self.use(connection)
            except (OSError, WireError) as error:
                self.failures.append("%s: %s" % (type(error).__name__, error))
                time.sleep(0.01)

    def use(self, connection):
        """Asks until the daemon ends the connection, or the test does."""
        while not self.load.is_over.is_set():
            name = self.names[self.answered % len(self.names)]
            fields = [] if self.keeps else ["Connection: close"]
            target = "/%s?%d.%d" % (name, self.number, self.answered)
            connection.send(request(target, fields=fields))
            answer = connection.read_response()
            if answer.status != 200 or answer.body != FILES[name]:
                raise WireError("%r is not what %s holds" % (answer, name))
            self.answered += 1
            if not answer.keeps_alive:
                connection.expect_end()
                return


class Load:
    """`with Load(address) as load:` and, in it, load.goes_on() after each thing that happens."""

    def __init__(self, address, kept=3, fresh=3):
        self.address = address
        self.is_over = threading.Event()
        self.clients = [_Client(self, n, n < kept) for n in range(kept + fresh)]

    @property
    def answered(self):
        return sum(client.answered for client in self.clients)

    @property
    def failures(self):
        return [failure for client in self.clients for failure in client.failures]

    def goes_on(self, rounds=2):
        """Waits until each client has been answered that often from now on, or has failed."""
        marks = [client.answered + rounds for client in self.clients]
        wait_until(
            lambda: self.failures
            or all(client.answered >= mark for client, mark in zip(self.clients, marks)),
            "all clients are answered", timeout=60,
        )

    def end(self):
        self.is_over.set()
        for client in self.clients:
            client.join(60)

    def __enter__(self):
        for client in self.clients:
            client.start()
        self.goes_on()
        return self

    def __exit__(self, kind, *_error):
        self.end()
        if kind is None and self.failures:
            raise AssertionError(
                "%d failures beside %d answers:\n%s"
                % (len(self.failures), self.answered, "\n".join(self.failures[:10]))
            )
