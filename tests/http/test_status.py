# SPDX-License-Identifier: MIT
"""The status: three forms of it, and whether what it counts is what happened."""

import base64
import hashlib
import json
import os
import re
import shutil
import signal
import subprocess
import unittest

import prometheus
import suite
import tree
from evixd import Daemon, TestCase, configuration, host, unless_poor, wait_until
from wire import Connection, fetch, request

PAGE, JSON, PLAIN = "text/html; charset=utf-8", "application/json", "text/plain; version=0.0.4; charset=utf-8"


class Site(TestCase):
    WORKERS = 1
    SETTINGS = {}

    @classmethod
    def serve(cls):
        tree.write(cls.root, "small.txt", b"small")
        tree.write(cls.root, "large.bin", tree.content(300000))
        return Daemon(config=configuration(workers=cls.WORKERS, hosts=[host(
            cls.root, {"path": "/"}, {"path": "/status", "handler": "status"},
            {"path": "/deep/a \"b/", "handler": "status"},
        )], **cls.SETTINGS), workers=cls.WORKERS)

    def metrics(self):
        return prometheus.parse(fetch(self.address, "/status/metrics").body.decode())

    def object(self):
        return json.loads(fetch(self.address, "/status/json").body)


@suite.cases([
    ("without accept", "/status", None, PAGE),
    ("a browser", "/status", "text/html,application/xhtml+xml,application/xml;q=0.9,*/*;q=0.8", PAGE),
    ("anything", "/status", "*/*", PAGE),
    ("json", "/status", "application/json", JSON),
    ("plain text", "/status", "text/plain", PLAIN),
    ("a scraper", "/status", "application/openmetrics-text;version=1.0.0;q=0.5,text/plain;version=0.0.4;q=0.4,*/*;q=0.1", PLAIN),
    ("with a slash", "/status/", None, PAGE),
    ("the suffix decides over accept", "/status/json", "text/html", JSON),
    ("a scraper that knows the path", "/status/metrics", "application/openmetrics-text", PLAIN),
    ("a location that ends in a slash", "/deep/a%20%22b/json", None, JSON),
])
class Forms(Site):
    def check(self, _label, target, accept, kind):
        fields = ["Accept: " + accept] if accept else []
        for method in ("GET", "HEAD"):
            response = fetch(self.address, target, method, fields)
            self.assertEqual(response.status, 200)
            self.assertEqual(response.get("Content-Type"), kind)
            self.assertEqual(response.get("Cache-Control"), "no-store")
            negotiated = not target.endswith(("json", "metrics"))
            self.assertEqual("accept" in response.members("Vary"), negotiated)
            self.assertIsNotNone(response.get("Content-Length"))


class Refusals(Site):
    def test_conditions(self):
        """9110 13.1: it is there, but never the same, so that no tag is its own."""
        for field, status in (("If-Match: *", 200), ('If-Match: "x"', 412), ("If-None-Match: *", 304),
                              ('If-None-Match: "x"', 200)):
            for target in ("/status", "/status/json"):
                self.assertEqual(fetch(self.address, target, fields=[field]).status, status, field)

    def test_other_suffix(self):
        for target in ("/status/other", "/status/json/", "/status/json/x", "/status/metricsx"):
            self.assertEqual(fetch(self.address, target).status, 404, target)

    def test_other_method(self):
        self.assertEqual(fetch(self.address, "/status", "POST").status, 405)

    def test_path_beside_it(self):
        self.assertEqual(fetch(self.address, "/statusx").status, 404)


class Page(Site):
    def page(self, target="/status"):
        response = fetch(self.address, target)
        return response, response.body.decode("utf-8")

    def test_is_whole_and_runs_nothing(self):
        response, page = self.page()
        self.assertTrue(page.startswith("<!DOCTYPE html>"))
        self.assertTrue(page.endswith("</html>\n"))
        for pattern in (r"<script", r"\sstyle=", r"\son[a-z]+=", r"(src|href)=\"(?!/|\?|data:,)"):
            self.assertNotRegex(page, pattern)
        style, = re.findall(r"<style>(.*?)</style>", page, re.DOTALL)
        digest = base64.b64encode(hashlib.sha256(style.encode()).digest()).decode()
        self.assertIn("style-src 'sha256-%s'" % digest, response.get("Content-Security-Policy"))
        self.assertIn("default-src 'none'", response.get("Content-Security-Policy"))

    def test_refresh(self):
        for target, seconds in (("/status", "5"), ("/status?refresh=2", "2"),
                                ("/status?refresh=x%22", "5"), ("/status?refresh=99999999999", "5"),
                                ("/status?refresh=0", None)):
            found = re.findall(r'http-equiv="refresh" content="(\d+)"', self.page(target)[1])
            self.assertEqual(found, [seconds] if seconds else [], target)

    def test_links_lead_to_the_other_forms(self):
        for target in ("/status", "/deep/a%20%22b/"):
            _, page = self.page(target)
            links = re.findall(r'href="(/[^"]*)"', page)
            self.assertEqual(len(links), 2)
            for link in links:
                self.assertEqual(fetch(self.address, link).status, 200, link)


class First(Site):
    def test_one_is_a_request_and_more_are_requests(self):
        with Connection(self.address) as client:
            client.send(request("/small.txt"))
            client.read_response()
            client.send(request("/status"))
            text = client.read_response().body.decode()
        titles = re.findall(r"<title>[^<]*?([\d,]+) (requests?), ", text)
        self.assertIn(("1", "request"), titles)
        for count, word in titles:
            self.assertEqual(word, "request" if count == "1" else "requests", titles)


class Truth(Site):
    """What is counted is what happened."""

    SETTINGS = {"limits": {"target": 256, "head": 1024, "body": 100},
                "timeouts": {"head": 0.2, "keep_alive": 0.3}}

    def difference(self, action, name, **labels):
        before = prometheus.value(self.metrics(), name, **labels)
        action()
        return prometheus.value(self.metrics(), name, **labels) - before

    def test_promtool(self):
        promtool = shutil.which("promtool")
        if not promtool:
            raise unittest.SkipTest("no promtool")
        text = fetch(self.address, "/status/metrics").body
        done = subprocess.run([promtool, "check", "metrics"], input=text, capture_output=True,
                              timeout=60, check=False)
        self.assertEqual((done.returncode, done.stdout + done.stderr), (0, b""))

    def test_requests_by_method_and_class(self):
        for method, target, status in (("GET", "/small.txt", "2xx"), ("HEAD", "/small.txt", "2xx"),
                                       ("GET", "/nothing", "4xx"), ("POST", "/", "4xx"),
                                       ("OPTIONS", "/", "2xx"), ("NEVER", "/", "5xx")):
            known = method if method != "NEVER" else "OTHER"
            more = method == "GET" and status == "2xx"  # the first look at the counters
            self.assertEqual(
                self.difference(lambda: fetch(self.address, target, method),
                                "evixd_requests_total", method=known, status=status),
                1 + more, (method, target))

    def test_bytes(self):
        def act():
            fetch(self.address, "/large.bin")
            fetch(self.address, "/small.txt", fields=["X-Padding: " + "p" * 500])

        sent = self.difference(act, "evixd_sent_bytes_total")
        self.assertTrue(300000 < sent < 320000, sent)
        received = self.difference(act, "evixd_received_bytes_total")
        self.assertTrue(500 < received < 1500, received)

    def test_limits(self):
        for name, data in (
            ("target", request("/" + "t" * 300)),
            ("head", request("/", fields=["X: " + "h" * 2000])),
            ("body", request("/status", "POST", fields=["Content-Length: 1000"])),
        ):
            def act(data=data):
                with Connection(self.address) as connection:
                    connection.send(data)
                    self.assertIn(connection.read_response().status, (413, 414, 431))
            self.assertEqual(self.difference(act, "evixd_limit_hits_total", limit=name), 1, name)

    def test_timeouts(self):
        def head():
            with Connection(self.address) as connection:
                connection.send(b"GET / HT")
                self.assertEqual(connection.read_response().status, 408)

        def keep_alive():
            with Connection(self.address) as connection:
                connection.send(request("/small.txt"))
                connection.read_response()
                connection.expect_end()

        self.assertEqual(self.difference(head, "evixd_timeouts_total", timeout="head"), 1)
        self.assertEqual(self.difference(keep_alive, "evixd_timeouts_total", timeout="keep_alive"), 1)

    def test_latency_counts_every_response(self):
        def act():
            with Connection(self.address) as connection:
                connection.send(request("/small.txt") * 50)
                for _ in range(50):
                    connection.read_response()

        families = self.metrics()
        before = [s[2] for s in families["evixd_request_duration_seconds"][1] if s[0].endswith("_count")]
        act()
        families = self.metrics()
        after = [s[2] for s in families["evixd_request_duration_seconds"][1] if s[0].endswith("_count")]
        self.assertEqual(after[0] - before[0], 51)

    def test_times_have_the_digits_that_were_counted(self):
        """Nanoseconds, and none that a double would make up."""
        text = fetch(self.address, "/status/metrics").body.decode()
        for name in ("cpu_seconds_total", "loop_lag_seconds", "request_duration_seconds_sum"):
            self.assertRegex(text, r"(?m)^evixd_%s \d+\.\d{9}$" % name)
        self.assertNotRegex(text, r"(?m)\.\d{10}")

    def test_quantiles_that_are_told_are_drawn(self):
        fetch(self.address, "/small.txt")
        text = fetch(self.address, "/status", fields=["Accept: text/html"]).body.decode()
        told = re.findall(r"<span>(p[\d.]+) <b>", text)
        drawn = re.findall(r'<rect class="mark"[^>]*><title>(p[\d.]+)</title>', text)
        self.assertEqual(told, ["p50", "p90", "p99", "p99.9"])
        self.assertEqual(drawn, told)

    @unless_poor("a file that was just written is not kept: two changes within a tick look alike")
    def test_cache(self):
        tree.write(self.root, "cached.txt", b"cached")
        act = lambda: fetch(self.address, "/cached.txt")
        self.assertEqual(self.difference(act, "evixd_cache_lookups_total", result="miss"), 1)
        self.assertEqual(self.difference(act, "evixd_cache_lookups_total", result="hit"), 1)
        self.assertGreaterEqual(prometheus.value(self.metrics(), "evixd_cache_entries"), 1)
        self.assertGreater(prometheus.value(self.metrics(), "evixd_cache_bytes"), 6)


class Connections(Site):
    def test_states(self):
        """Open connections by what they do, and none is left when all have gone."""
        def state(name):
            return wait_until(lambda: self.object()["connections"][name] == 1, name)

        with Connection(self.address) as idle, Connection(self.address) as reading, \
                Connection(self.address, receive_buffer=4096) as slow:
            idle.send(request("/small.txt"))
            idle.read_response()
            state("idle")
            reading.send(b"GET / HTTP/1.1\r\n")
            # That one, the slow one that has sent nothing yet, and the one that asks.
            wait_until(lambda: self.object()["connections"]["reading_head"] == 3, "three readers")
            slow.send(request("/large.bin") * 40)
            slow.receive(10)
            state("sending")
        wait_until(lambda: self.object()["connections"]["open"] == 1, "all but the one that asks")
        counted = self.object()["connections"]
        self.assertEqual(sum(counted[name] for name in (
            "working", "reading_head", "idle", "reading_body", "sending", "lingering")), 1)

    def test_aborted(self):
        before = self.object()["requests"]["aborted"]
        with Connection(self.address, receive_buffer=4096) as connection:
            connection.send(request("/large.bin") * 40)
            connection.receive(10)
            connection.reset()
        wait_until(lambda: self.object()["requests"]["aborted"] > before, "an aborted response")


class Workers(Site):
    WORKERS = 2

    @classmethod
    def serve(cls):
        daemon = super().serve()
        daemon.expect = [r"worker \d+ .*was ended by signal 9"]
        return daemon

    def test_totals_do_not_fall_when_a_worker_dies(self):
        """A worker that dies takes nothing with it that was counted."""
        for _ in range(20):
            fetch(self.address, "/small.txt")
        before = self.object()
        self.assertEqual(len(before["workers"]), 2)
        self.assertEqual({w["pid"] for w in before["workers"]}, set(self.daemon.worker_pids))
        for worker in before["workers"]:
            os.kill(worker["pid"], signal.SIGKILL)
            wait_until(lambda: worker["pid"] not in self.daemon.worker_pids, "its successor")
        after = wait_until(
            lambda: (lambda o: o if len(o["workers"]) == 2 and all(w["pid"] for w in o["workers"])
                     else None)(self.object()), "two workers in the status")
        self.assertGreater(after["requests"]["total"], before["requests"]["total"])
        self.assertGreater(after["bytes"]["sent"], before["bytes"]["sent"])
        self.assertEqual(after["respawns"], 2)
        self.assertEqual({w["worker"] for w in after["workers"]}, {0, 1})
        self.assertEqual(after["connections"]["open"], 1)
        families = self.metrics()
        self.assertEqual(prometheus.value(families, "evixd_worker_requests_total"),
                         prometheus.value(families, "evixd_requests_total"))

    def test_shares_are_told(self):
        """Who hears of a worker that is idle while others are busy can do something about it."""
        for _ in range(80):
            fetch(self.address, "/small.txt")
        shares = [worker["requests"] for worker in self.object()["workers"]]
        self.assertEqual(len(shares), 2)
        self.assertGreater(min(shares), 0)

    def test_any_worker_tells_of_all(self):
        """Whoever answers, the totals are those of all."""
        last = -1
        for _ in range(40):
            total = self.object()["requests"]["total"]
            self.assertGreater(total, last)
            last = total


if __name__ == "__main__":
    suite.main()
