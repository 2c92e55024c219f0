# SPDX-License-Identifier: MIT
"""A client: one connection after the other, each drawn from the seed, the client and its number.

    python3 -m fuzzing.client SETTINGS

Exit status: 0, 1 if an answer was wrong; the transcript of its connection is what it prints.
"""

import json
import os
import random
import sys
import time
import traceback

from fuzzing import files, services
from fuzzing.answers import FileRequest, View, Wrong
from fuzzing.journal import History, seconds
from fuzzing.malformed import malformed
from fuzzing.pool import Pool
from fuzzing.pump import Cut, Gone, Pump
from fuzzing.site import CUT, FIXED, LIVE, SHELF
from wire import WireError

MOST_FAULTS = 3  # then a client has said enough
BEFORE_NS = 6 * 10**9  # so much of what came before a connection is in its transcript
SLOW_BYTES = 400000  # the most that is asked for at once by a client that takes its time

# How often each kind is asked for.
KINDS = {
    "whole": (10, files.whole), "head": (3, files.head), "absolute": (1, files.absolute),
    "old version": (2, files.old_version), "content unasked": (2, files.content_unasked),
    "range": (6, files.one_range), "ranges": (4, files.many_ranges), "condition": (5, files.condition),
    "unmodified": (2, files.unmodified), "live": (10, files.live), "live condition": (6, files.live_condition),
    "live range": (5, files.live_range), "cut": (3, files.cut), "sibling": (3, files.sibling),
    "echo": (4, services.echo_length), "chunked echo": (4, services.echo_chunked),
    "echoed head": (2, services.echo_head), "password": (3, services.password), "denied": (1, services.denied),
    "listing": (2, services.listing), "shelf": (3, services.shelf), "redirect": (3, services.redirect),
    "fallback": (2, services.fallback), "missing": (4, services.missing), "no listing": (1, services.no_listing),
    "options": (2, services.options), "method": (3, services.refused_method),
    "expectation": (1, services.expectation), "status": (1, services.status), "malformed": (3, malformed),
}
# How a connection ends, and how often.
ENDS = {"close": 40, "half-close": 18, "half a request": 6, "more": 14, "reset": 10, "leave": 12}


class Client:
    """settings: address, echo, journal, seed, number, until (monotonic seconds), kinds, ledger, scale."""

    def __init__(self, settings, out=sys.stdout):
        self.settings = settings
        self.out = out
        self.seed, self.number = settings["seed"], settings["number"]
        self.address, self.echo = (settings[k] and tuple(settings[k]) for k in ("address", "echo"))
        self.pool = Pool(self.seed)
        self.history = History(settings["journal"], FIXED)
        self.kinds = [kind for kind in KINDS if kind in (settings.get("kinds") or KINDS)]
        self.ledger = os.open(settings["ledger"], os.O_WRONLY | os.O_CREAT | os.O_APPEND, 0o600)
        self.scale = settings.get("scale", 1)
        self.tags = {}
        self.faults = 0
        self.counts = {"connections": 0, "answers": 0, "sessions": 0, "resets": 0, "excused": 0}

    def close(self):
        self.history.close()
        os.close(self.ledger)

    def run(self):
        """Until its time is over, or enough is wrong. Returns the number of faults."""
        number = self.settings.get("first", 0)
        last = number + self.settings.get("connections", 1 << 62)
        while (number < last and time.monotonic() < self.settings["until"] and self.faults < MOST_FAULTS):
            self.connect(number)
            number += 1
        return self.faults

    def connect(self, number):
        drawn = random.Random("%s/%d/%d" % (self.seed, self.number, number))
        self.counts["connections"] += 1
        if self.echo and drawn.random() < 0.04:
            conversation = Session(self, drawn, number)
        else:
            conversation = Conversation(self, drawn, number)
        try:
            conversation.run()
        except Gone:
            self.counts["resets"] += 1
        except (Wrong, WireError, OSError, ValueError, KeyError, TypeError, AttributeError) as error:
            self.history.refresh()
            if isinstance(error, Cut) and conversation.is_excused(error):
                self.counts["excused"] += 1
            else:
                self.faults += 1
                self.tell(conversation, error)
        finally:
            conversation.close()

    def tell(self, conversation, error):
        """The transcript, with what was changed and ordered meanwhile."""
        pump = conversation.pump
        lines = ["", "FAULT: seed %s, client %d, connection %d: %s: %s" % (
            self.seed, self.number, conversation.number, type(error).__name__, error)]
        if not isinstance(error, (Wrong, WireError)):
            lines += traceback.format_exception(error)
        lines.append(conversation.describe())
        if pump is not None:
            events = [(event[0], event) for event in pump.events]
            events += [(at, (at, "*** " + text)) for at, text in
                       self.history.story(pump.opened - BEFORE_NS, time.monotonic_ns(), conversation.names())]
            for _at, event in sorted(events, key=lambda pair: pair[0]):
                lines.append(told(event))
            lines.append("unread: %d bytes, %r" % (len(pump.buffer), bytes(pump.buffer[:300])))
        print("\n".join(lines), file=self.out, flush=True)


def told(event):
    at = seconds(event[0])
    if len(event) == 3:
        return "%s < %d bytes %r" % (at, event[1], event[2]) if event[1] else "%s < the end" % at
    if isinstance(event[1], bytes):
        return "%s > %d bytes %r" % (at, len(event[1]), event[1][:2000])
    return "%s   %s" % (at, event[1])


class Conversation:
    """One connection with its requests."""

    def __init__(self, client, drawn, number):
        self.client, self.random, self.number = client, drawn, number
        # Another one for the pieces, since how long a request is may depend on answers.
        self.cuts = random.Random(drawn.random())
        self.pump = None
        self.requests = []  # all of them
        self.answered = 0
        self.offsets = []  # of the end of each request's head in what is sent
        self.total = 0
        self.end = drawn.choices(list(ENDS), ENDS.values())[0]
        self.is_slow = drawn.random() < 0.08
        self.buffer = 4096 if self.is_slow or drawn.random() < 0.15 else None
        self.records = []

    def describe(self):
        return "ends with %r, slow: %s, SO_RCVBUF %s; %d of %d answered; requests: %s" % (
            self.end, self.is_slow, self.buffer, self.answered, len(self.requests),
            ", ".join("%s%s" % (request.kind, " (%s)" % request.label if hasattr(request, "label") else "")
                      for request in self.requests))

    def names(self):
        """Of the files that it asked for."""
        return {request.name for request in self.requests if isinstance(request, FileRequest)} | set(SHELF)

    def run(self):
        random = self.random
        timeout = 30  # by TIME_SCALE
        self.pump = Pump(self.client.address, timeout, self.buffer)
        self.pump.date_tolerance = 60 * self.client.scale
        if self.is_slow:
            self.pump.size, self.pump.pause = random.choice((700, 3000)), random.choice((0.0005, 0.002))
        self.pump.sends_first = random.random() < 0.2
        batches = random.choice((1, 1, 1, 2, 3))
        for batch in range(batches):
            if not self.exchange(batch == batches - 1):
                return
        self.finish()

    # Drawing.

    def draw(self):
        """Some requests, the last of which may have to be the connection's last one."""
        client = self.client
        count = self.random.randrange(1, 5) if self.random.random() < 0.7 else self.random.randrange(5, 21)
        weights = [KINDS[kind][0] for kind in client.kinds]
        made = []
        for _ in range(count):
            kind = self.random.choices(client.kinds, weights)[0]
            number = len(self.requests) + len(made) + 1
            ident = "%d-%d-%d" % (client.number, self.number, number)
            # Its own, since what is drawn may depend on what answers have told.
            drawn = random.Random("%s/%s" % (client.seed, ident))
            request = KINDS[kind][1](drawn, ident, client.tags)
            request.kind = kind
            if self.is_slow and self.is_heavy(request):
                request = self.small_one(number)
            made.append(request)
            if request.closes:
                break
        if self.needs_another(made):
            made.insert(0, self.small_one(0))
        return made

    def small_one(self, index):
        request = files.small("%d-%d-%d" % (self.client.number, self.number, index))
        request.kind = "small"
        return request

    def needs_another(self, made):
        """A client with a small window that sends behind its only request may lose a short answer:
        it must not send more, and the daemon waits for those that do where the answer is long."""
        return self.sends_behind() and self.buffer is not None and not self.requests and len(made) == 1

    def sends_behind(self):
        """Whether it sends more behind its last request, which may have said that it does not."""
        return self.end in ("more", "half a request")

    @staticmethod
    def is_heavy(request):
        """A file that may be large; what is renamed may come to any name."""
        if not isinstance(request, FileRequest):
            return False
        return request.name in LIVE or max(FIXED.get(request.name, 0), CUT.get(request.name, 0)) > SLOW_BYTES

    def cut(self, data):
        """The steps that send the bytes, cut anywhere."""
        random = self.cuts
        cuts = sorted(random.randrange(len(data) + 1) for _ in range(random.choice((0, 0, 0, 1, 2, 5))))
        steps, at = [], 0
        for cut in cuts + [len(data)]:
            if cut > at:
                steps.append(("send", data[at:cut]))
                if random.random() < 0.7 and cut < len(data):
                    steps.append(("wait", random.choice((0, 0.0003, 0.002, 0.01))))
                at = cut
        return steps

    def plan(self, requests, is_last):
        """Queues what is to be sent."""
        steps, data = [], b""
        for request in requests:
            self.offsets.append(self.total + len(request.head))
            self.total += len(request.data)
            if request.pause:
                steps += self.cut(data + request.head) + [("wait", request.pause)]
                data = request.body
            else:
                data += request.data
        steps += self.cut(data) if data else []
        if is_last:
            steps += self.plan_end(requests[-1])
        if self.end == "reset" and is_last:
            at = self.cuts.randrange(len(steps) + 1)
            steps[at:] = [("wait", self.cuts.choice((0, 0.0002, 0.002, 0.02))), ("reset",)]
        self.pump.plan.extend(steps)

    def plan_end(self, last):
        """What comes behind the last request."""
        random = self.cuts
        pause = ("wait", random.choice((0, 0, 0.0003, 0.003)))
        if self.end == "half-close":
            return [pause, ("half-close",)]
        if self.end == "half a request":
            return [pause, ("send", b"GET /fixed/100.bin HTTP/1.1\r\nHo"), pause, ("half-close",)]
        if self.end == "more" and last.closes:
            more = random.choice((b"\r\n", b"GET /fixed/1", b"GET /fixed/100.bin HTTP/1.1\r\nHost: test\r\n\r\n" * 3))
            return [pause, ("send", more)] + random.choice(([], [pause, ("half-close",)]))
        return []

    # Exchanging.

    def exchange(self, is_last):
        """A batch. False: the connection has ended, as it may."""
        requests = self.draw()
        is_last = is_last or requests[-1].closes
        if is_last and self.end in ("close", "more"):
            requests[-1].close()
        first = len(self.requests)
        self.requests += requests
        self.plan(requests, is_last)
        for index in range(first, len(self.requests)):
            if not self.take(index):
                return False
        return True

    def take(self, index):
        """One answer. False: it was the last one, and the end came as well."""
        request, pump = self.requests[index], self.pump
        response = pump.read_response(request.method)
        received = time.monotonic_ns()
        self.client.history.refresh()
        view = View(self.client.history, self.client.pool, self.client.tags,
                    pump.time_of(self.offsets[index]), received, pump.opened)
        if response.interim and not request.may_interim:
            raise Wrong("an interim answer that nobody expects: %r" % response.interim)
        request.judge(view, response)
        self.answered += 1
        self.client.counts["answers"] += 1
        self.record(request, response)
        if response.keeps_alive:
            if request.closes:
                raise Wrong("the connection goes on after the last request's %r" % response)
            return True
        self.client.history.refresh()
        if not (request.closes or request.may_close
                or self.client.history.was_ordered("HUP", pump.opened, received)):
            raise Wrong("the connection ends after %r for no reason" % response)
        self.expect_end()
        return False

    def record(self, request, response):
        if not request.is_logged:
            return
        size = "?" if response.get("Transfer-Encoding") or response.until_close else str(len(response.body))
        self.records.append("A %s %d %s %d\n" % (request.ident, response.status, size, time.monotonic_ns()))

    def expect_end(self):
        """Not one byte more, and FIN."""
        try:
            rest = self.pump.read_to_end()
        except Cut as cut:
            # A client that sends behind its last request may be told so by a reset: all answers are here.
            if cut.kind == "reset" and self.sends_behind() and self.requests[-1].closes:
                return
            raise
        if rest:
            raise Wrong("%d bytes behind the last answer: %r" % (len(rest), rest[:200]))

    def finish(self):
        """All is answered, and the end is the client's to begin."""
        if self.end in ("half-close", "half a request"):
            self.expect_end()
        elif self.end == "reset":
            self.pump.advance()
            time.sleep(0.001)
            while self.pump.plan:
                time.sleep(self.pump.advance() or 0)

    def is_excused(self, cut):
        """Whether the connection may have been cut off: its worker was killed, or the file truncated."""
        history, now = self.client.history, time.monotonic_ns()
        if history.was_killed(self.pump.port, self.pump.opened, now):
            return True
        if cut.kind == "silence":
            return False
        # Its own file alone excuses an answer that ends early: the whole answers before it arrive.
        return any(request.file is not None
                   and history.was_cut(request.file, self.pump.time_of(offset), now)
                   for request, offset in zip(self.requests[self.answered:][:1],
                                              self.offsets[self.answered:][:1]))

    def close(self):
        """And says of each request what became of it."""
        if self.pump is not None:
            self.pump.close()
        self.records += ["U %s\n" % request.ident for request in self.requests[self.answered:] if request.ident]
        if self.records:
            os.write(self.client.ledger, "".join(self.records).encode())


class Session:
    """One session of RFC 862: all comes back."""

    def __init__(self, client, drawn, number):
        self.client, self.random, self.number = client, drawn, number
        self.pump = None

    def describe(self):
        return "a session of RFC 862"

    @staticmethod
    def names():
        return set()

    def run(self):
        random = self.random
        self.pump = pump = Pump(self.client.echo, 30, random.choice((None, None, 4096)))
        data = random.randbytes(random.choice((0, 1, 1000, 70000, 300000)))
        for start in range(0, len(data), 50000):
            pump.plan.append(("send", data[start : start + 50000]))
            pump.plan.append(("wait", random.choice((0, 0, 0.001))))
        pump.plan.append(("half-close",))
        if random.random() < 0.1:
            pump.plan.append(("reset",))
        found = pump.read_to_end()
        if found != data:
            raise Wrong("%d bytes came back of %d" % (len(found), len(data)))
        self.client.counts["sessions"] += 1

    def is_excused(self, _cut):
        return self.client.history.was_killed(self.pump.port, self.pump.opened, time.monotonic_ns())

    def close(self):
        if self.pump is not None:
            self.pump.close()


def main():
    client = Client(json.loads(sys.argv[1]))
    faults = client.run()
    print(json.dumps(client.counts))
    client.close()
    sys.exit(1 if faults else 0)


if __name__ == "__main__":
    main()
