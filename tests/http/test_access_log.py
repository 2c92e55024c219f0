# SPDX-License-Identifier: MIT
"""The access log: one request one line, true, whatever clients send."""

import json
import os
import re
import resource
import signal

import suite
import tree
from evixd import Daemon, TestCase, children, configuration, host, wait_until
from wire import Connection, exchange, fetch, request

COMBINED = re.compile(
    r'(?P<client>\S+) - (?P<user>\S+) \[\d\d/\w{3}/\d{4}:\d\d:\d\d:\d\d [+-]\d{4}\] '
    r'"(?P<request>(?:[^"\\]|\\.)*)" (?P<status>\d{3}) (?P<bytes>\d+|-) '
    r'"(?P<referer>(?:[^"\\]|\\.)*)" "(?P<agent>(?:[^"\\]|\\.)*)"\Z'
)


class Logged(TestCase):
    FORMAT = "combined"

    @classmethod
    def serve(cls):
        cls.path = os.path.join(cls.root, "access.log")
        tree.write(cls.root, "site/small.bin", b"s" * 1000)
        tree.write(cls.root, "site/large.bin", b"l" * (32 << 20))
        return Daemon(config=configuration(
            hosts=[host(
                cls.root + "/site", {"path": "/"}, {"path": "/echo", "handler": "echo"},
                access_log={"target": cls.path, "format": cls.FORMAT},
            )],
        ), workers=cls.WORKERS)

    WORKERS = 1

    def read(self, path=None):
        """The lines that are written by now; the last one has to be whole."""
        try:
            with open(path or self.path, "rb") as file:
                data = file.read()
        except FileNotFoundError:
            return []
        self.assertTrue(data == b"" or data.endswith(b"\n"), "a torn line")
        return data.decode("ascii").splitlines()

    def lines(self, mark, count=1, path=None):
        """The lines with `mark`, as soon as there are enough: flushed within a second or so."""
        found = wait_until(
            lambda: (lambda l: l if len(l) >= count else None)(
                [line for line in self.read(path) if mark in line]
            ),
            "%d lines with %s" % (count, mark), timeout=5,
        )
        self.assertEqual(len(found), count)
        return found


class Combined(Logged):
    def one(self, mark):
        line, = self.lines(mark)
        match = COMBINED.match(line)
        self.assertIsNotNone(match, line)
        return match

    def test_a_file(self):
        fetch(self.address, "/small.bin?plain", fields=["Referer: http://r/", "User-Agent: tester"])
        line = self.one("?plain")
        self.assertEqual(line["client"], "127.0.0.1")
        self.assertEqual(line["request"], "GET /small.bin?plain HTTP/1.1")
        self.assertEqual((line["status"], line["bytes"]), ("200", "1000"))
        self.assertEqual((line["referer"], line["agent"]), ("http://r/", "tester"))

    def test_nothing_given(self):
        fetch(self.address, "/small.bin?nothing")
        line = self.one("?nothing")
        self.assertEqual((line["referer"], line["agent"]), ("-", "-"))

    def test_statuses_and_bytes(self):
        tag = fetch(self.address, "/small.bin", "HEAD").get("ETag")
        for mark, method, fields, status, size in (
            ("s404", "GET", [], "404", None), ("s206", "GET", ["Range: bytes=0-9"], "206", "10"),
            ("s304", "GET", ["If-None-Match: " + tag], "304", "-"), ("shead", "HEAD", [], "200", "-"),
            ("s405", "DELETE", [], "405", None),
        ):
            target = "/none?" if mark == "s404" else "/small.bin?"
            body = fetch(self.address, target + mark, method, fields).body
            line = self.one("?" + mark)
            self.assertEqual(line["status"], status)
            self.assertEqual(line["bytes"], size or str(len(body)))

    def test_control_bytes_cannot_forge_a_line(self):
        """Escaped, whatever they would do to a terminal or to a parser."""
        data = b'GET /forge HTTP/1.1\r\nHost: test\r\nUser-Agent: a"b\\c\xff\x9b\td\r\nReferer: "\r\n\r\n'
        exchange(self.address, data)
        line = self.one("/forge")
        self.assertNotRegex(line[0], r"[\x00-\x1f\x7f-\xff]")
        self.assertEqual(line["agent"], r'a\"b\\c\xff\x9b\x09d'.replace(r"\x09", line["agent"][-5:-1]))

    def test_refused_requests_are_logged_too(self):
        exchange(self.address, b"GET /refused\x1b[31m HTTP/1.1\r\nHost: test\r\n\r\n")
        line = self.one("/refused")
        self.assertEqual(line["status"], "400")
        self.assertNotIn("\x1b", line[0])
        exchange(self.address, b"GET /fields HTTP/1.1\r\nHost: test\r\nBad Field: x\r\n\r\n")
        self.assertEqual(self.one("/fields")["status"], "400")

    def test_line_ends_in_the_target_stay_encoded(self):
        fetch(self.address, "/a%0d%0a127.0.0.1%20-%20-%20forged")
        self.assertIn("/a%0d%0a127.0.0.1", self.one("forged")["request"])

    def test_aborted_counts_what_was_sent(self):
        """True bytes, never more than went out, and never status 0."""
        with Connection(self.address, receive_buffer=4096) as connection:
            connection.send(request("/large.bin?abort"))
            connection.read_head()
            connection.take(1000)  # of the content, since that is what is counted
            connection.reset()
        line = self.one("?abort")
        self.assertEqual(line["status"], "200")
        self.assertGreater(int(line["bytes"]), 0)
        self.assertLess(int(line["bytes"]), 32 << 20)

    def test_echo(self):
        body = b"e" * 5000
        exchange(self.address, request("/echo?e", "POST", ["Content-Length: 5000"], body=body), ("POST",))
        self.assertEqual(self.one("/echo?e")["bytes"], "5000")

    def test_pipelined_requests_have_a_line_each_in_order(self):
        with Connection(self.address) as connection:
            connection.send(b"".join(request("/small.bin?p=%03d" % n) for n in range(100)))
            for _ in range(100):
                connection.read_response()
        lines = self.lines("?p=", 100)
        self.assertEqual(
            [re.search(r"p=(\d+)", line)[1] for line in lines], ["%03d" % n for n in range(100)]
        )


class Json(Logged):
    FORMAT = "json"

    def test_every_line_is_json(self):
        exchange(self.address, b'GET /small.bin?j HTTP/1.1\r\nHost: test\r\nUser-Agent: \xff"\\\t\r\n\r\n')
        exchange(self.address, b"GET /bad?j  HTTP/1.1\r\nHost: test\r\n\r\n")
        fetch(self.address, "/none?j")
        entries = [json.loads(line) for line in self.lines("?j", 3)]
        self.assertEqual([entry["status"] for entry in entries], [200, 400, 404])
        self.assertEqual(entries[0]["bytes"], 1000)
        self.assertEqual(entries[0]["target"], "/small.bin?j")
        self.assertTrue(entries[1]["reason"], "says why")
        self.assertTrue(entries[2]["reason"], "says why")

    def test_aborted_is_marked(self):
        with Connection(self.address, receive_buffer=4096) as connection:
            connection.send(request("/large.bin?a"))
            connection.receive(100)
            connection.reset()
        entry = json.loads(self.lines("?a")[0])
        self.assertTrue(entry["aborted"])
        self.assertLess(entry["bytes"], 32 << 20)


class Rotation(Logged):
    WORKERS = 2

    def test_no_line_is_lost(self):
        """Renamed, told by USR1, and every line is in one of the two files."""
        count = 400
        rotated = self.path + ".1"
        for number in range(count):
            fetch(self.address, "/small.bin?r=%04d" % number)
            if number == count // 2:
                os.rename(self.path, rotated)
                self.daemon.send_signal(signal.SIGUSR1)

        def found_lines():
            return [
                re.search(r"r=(\d+)", line)[1]
                for line in self.read(rotated) + self.read() if "?r=" in line
            ]

        # Each worker writes within a second, and the last line is not the last to be written.
        wait_until(lambda: len(found_lines()) >= count, "all lines", timeout=5)
        found = found_lines()
        self.assertEqual(sorted(found), ["%04d" % n for n in range(count)])

    def test_nothing_is_lost_at_exit(self):
        daemon = self.serve_anew()
        for number in range(50):
            fetch(daemon.address, "/small.bin?x=%d" % number)
        daemon.stop()
        self.assertEqual(len([line for line in self.read() if "?x=" in line]), 50)

    def serve_anew(self):
        return Daemon(config=configuration(hosts=[host(
            self.root + "/site", {"path": "/"}, access_log={"target": self.path},
        )])).start()


class LargestFile(Logged):
    """A log that meets RLIMIT_FSIZE costs its lines, not the worker (SIGXFSZ)."""

    @classmethod
    def serve(cls):
        daemon = super().serve()
        daemon.expect += ["access log .*: File too large", "access log .*: written again"]
        return daemon

    def test_worker_goes_on(self):
        worker, = children(self.daemon.process.pid)
        fetch(self.address, "/small.bin?first")
        self.lines("?first")
        limits = resource.prlimit(worker, resource.RLIMIT_FSIZE)
        resource.prlimit(worker, resource.RLIMIT_FSIZE, (os.path.getsize(self.path), limits[1]))
        fetch(self.address, "/small.bin?second")
        self.daemon.log.wait("access log .*: File too large")
        self.assertEqual(fetch(self.address, "/small.bin?third").status, 200)
        resource.prlimit(worker, resource.RLIMIT_FSIZE, limits)
        self.daemon.log.wait("access log .*: written again, 0 lines were lost")
        self.lines("?second")
        self.lines("?third")
        self.assertEqual(children(self.daemon.process.pid), [worker])


def swollen(mark):
    """A request of some 20 KiB within the limits, whose values fill more than 64 KiB when escaped."""
    value = b"\xff" * 4097
    return (b"GET /small.bin?" + mark + b'"' * 8150 + b" HTTP/1.1\r\nHost: test\r\nUser-Agent: " + value
            + b"\r\nReferer: " + value + b"\r\nX-Forwarded-For: " + value + b"\r\n\r\n")


class LongLines(Logged):
    """A client decides how long a line would be, but not whether it and others are logged."""

    FORMAT = '%h %l %u %t "%r" %s %b "%{Referer}i" "%{User-Agent}i" "%{X-Forwarded-For}i"'
    LINE = re.compile(COMBINED.pattern.replace(r"\Z", r' "(?P<forwarded>(?:[^"\\]|\\.)*)"\Z'))

    @classmethod
    def serve(cls):
        daemon = super().serve()
        tree.write(cls.root, "site/f.bin", b"f")
        return daemon

    def test_everything_has_its_line(self):
        with Connection(self.address) as connection:
            for number in range(20):
                connection.send(swollen(b"n%d" % number))
                self.assertEqual(connection.read_response().status, 200)
                connection.send(b"".join(request("/f.bin?n%d.%d" % (number, other)) for other in range(50)))
                for _ in range(50):
                    connection.read_response()
        lines = self.lines("bin?n", 20 * 51)
        self.assertEqual(len([line for line in lines if "/small.bin?n" in line]), 20)
        for line in lines:
            self.assertLessEqual(len(line), 65535)
            match = self.LINE.match(line)
            self.assertIsNotNone(match, line[:80])
            if "/small.bin?n" not in line:
                continue
            self.assertEqual((match["status"], match["bytes"]), ("200", "1000"))
            for name in ("request", "referer", "agent", "forwarded"):
                self.assertTrue(match[name].endswith("..."), name)
                self.assertGreater(len(match[name]), 4000, name)


class LongLinesOnAPipe(TestCase):
    """Two workers share the pipe: no line may be longer than what it takes in one piece."""

    @classmethod
    def serve(cls):
        tree.write(cls.root, "small.bin", b"s" * 1000)
        return Daemon(config=configuration(hosts=[host(
            cls.root, {"path": "/"}, {"path": "/status", "handler": "status"},
            access_log={"target": "stdout", "format": "json"},
        )]), workers=2)

    def test_json_stays_whole(self):
        for number in range(20):
            exchange(self.address, swollen(b"n%d" % number))
        logs = wait_until(
            lambda: (lambda l: l if l["cut"] >= 20 else None)(
                json.loads(fetch(self.address, "/status/json").body)["access_logs"]),
            "twenty lines that were cut")
        self.assertEqual(logs, {"lost": 0, "cut": 20})
        metrics = fetch(self.address, "/status/metrics").body.decode()
        self.assertIn("\nevixd_access_log_cut_lines_total 20\n", metrics)
        self.assertIn("\nevixd_access_log_lost_lines_total 0\n", metrics)
        self.daemon.output.wait(r"small\.bin\?n", 20)
        lines = [line for line in self.daemon.output.text().splitlines() if "small.bin?n" in line]
        self.assertEqual(len(lines), 20)
        for line in lines:
            self.assertLessEqual(len(line), 4095)
            entry = json.loads(line)
            self.assertEqual((entry["status"], entry["bytes"]), (200, 1000))


class CustomFormat(Logged):
    FORMAT = "%h|%m|%U|%q|%>s|%B|%{X-Mark}i|%{Content-Type}o"

    def test_directives(self):
        fetch(self.address, "/small.bin?q=1", fields=["X-Mark: here"])
        self.assertEqual(
            self.lines("here"),
            ["127.0.0.1|GET|/small.bin|?q=1|200|1000|here|application/octet-stream"],
        )


if __name__ == "__main__":
    suite.main()
