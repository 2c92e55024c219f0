# SPDX-License-Identifier: MIT
"""A connection that sends by a plan, in pieces and with pauses, while its answers are read."""

import collections
import select
import socket
import time

from wire import Connection, WireError

TOLD_BYTES = 400  # of each piece that came, in transcripts
LONGEST_BLOCK = 0.05  # after so long a client that sends first reads nevertheless, or both wait


class Cut(WireError):
    """The connection ended where more was due. kind: "end" (FIN), "reset" or "silence"."""

    def __init__(self, kind):
        super().__init__("the connection was cut off: " + kind)
        self.kind = kind


class Gone(Exception):
    """The client itself has reset the connection, as planned."""


class Pump(Connection):
    """receive() of Connection, with what is to be sent going on meanwhile.

    plan: steps ("send", bytes), ("wait", seconds), ("half-close",), ("reset",).
    size, pause: how much is read at a time, and how long the client sleeps before it does.
    """

    def __init__(self, address, timeout, receive_buffer=None):
        self.opened = time.monotonic_ns()
        super().__init__(address, timeout, receive_buffer)
        self.port = 0 if isinstance(address, str) else self.socket.getsockname()[1]
        self.socket.setblocking(False)
        self.poll = select.poll()
        self.plan = collections.deque()
        self.due = 0.0
        self.blocked_since = None
        self.sent = 0
        self.marks = []  # (bytes sent after it, time before it) of each send
        self.send_error = None
        self.size, self.pause, self.sends_first = 65536, 0.0, False
        self.events = [(self.opened, "connecting from port %d" % self.port)]

    def note(self, text):
        self.events.append((time.monotonic_ns(), text))

    def time_of(self, offset):
        """When the first `offset` bytes were given to the kernel: just before that."""
        for sent, at in self.marks:
            if sent >= offset:
                return at
        return time.monotonic_ns()

    # What goes out.

    def _stop_sending(self, error):
        self.send_error = error
        self.note("sending failed: %s" % error)
        self.plan.clear()
        self.blocked_since = None

    def _send_some(self, data):
        before = time.monotonic_ns()
        try:
            count = self.socket.send(data)
        except BlockingIOError:
            self.blocked_since = self.blocked_since or time.monotonic()
            return False
        except OSError as error:
            self._stop_sending(error)
            return True
        self.sent += count
        self.marks.append((self.sent, before))
        self.events.append((before, data[:count]))
        self.blocked_since = None
        if count < len(data):
            self.plan[0] = ("send", data[count:])
            return True
        self.plan.popleft()
        return True

    def _half_close(self):
        try:
            self.socket.shutdown(socket.SHUT_WR)
            self.note("half-close")
        except OSError as error:
            self.note("half-close failed: %s" % error)

    def advance(self):
        """Does what is due. Returns the seconds until more is, or None."""
        while self.plan:
            left = self.due - time.monotonic()
            if left > 0:
                return left
            step = self.plan[0]
            if step[0] == "send":
                if not self._send_some(step[1]):
                    return None
                continue
            self.plan.popleft()
            if step[0] == "wait":
                self.due = time.monotonic() + step[1]
            elif step[0] == "half-close":
                self._half_close()
            else:
                self.note("reset")
                self.reset()
                raise Gone()
        return None

    # What comes in.

    def _may_read(self):
        if not self.sends_first or not self.plan:
            return True
        return (self.blocked_since is not None
                and time.monotonic() - self.blocked_since > LONGEST_BLOCK)

    def _wait(self, left, deadline):
        mask = select.POLLIN if self._may_read() else 0
        if self.blocked_since is not None:
            mask |= select.POLLOUT
            left = LONGEST_BLOCK if left is None else min(left, LONGEST_BLOCK)
        until = deadline - time.monotonic()
        self.poll.register(self.socket, mask)
        wait = until if left is None else min(left, until)
        events = self.poll.poll(max(0, wait * 1000 + 0.5))
        return bool(events and events[0][1] & ~select.POLLOUT and self._may_read())

    def receive(self, size=65536):
        deadline = time.monotonic() + self.timeout
        while True:
            left = self.advance()
            if self._wait(left, deadline):
                if self.pause:
                    time.sleep(self.pause)
                return self._read(min(size, self.size))
            if time.monotonic() > deadline:
                self.note("nothing came for %.0f s" % self.timeout)
                raise Cut("silence")

    def _read(self, size):
        try:
            data = self.socket.recv(size)
        except BlockingIOError:
            return self.receive(size)
        except OSError as error:
            self.note("reading failed: %s" % error)
            raise Cut("reset") from None
        self.events.append((time.monotonic_ns(), len(data), data[:TOLD_BYTES]))
        return data

    def _more(self):
        data = self.receive()
        if not data:
            raise Cut("end")
        self.buffer += data
