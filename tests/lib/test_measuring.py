# SPDX-License-Identifier: MIT
"""What the comparisons of scripts/wrk compute and start, but for the loads: those take their time,
and tell nothing on a machine that has other things to do."""

import contextlib
import os
import sys
import tempfile
import unittest

TOP = os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
sys.path.insert(0, os.path.join(TOP, "scripts", "wrk"))

import suite
from measuring import (budgets, cases, load, plots, probe, processes, reports, servers, site,
                       stepping, tables)

LOG = '''\
192.0.2.7 - - [18/May/2026:08:00:00 +0000] "GET / HTTP/1.1" 200 300 "-" "curl/7.88.1"
192.0.2.7 - - [18/May/2026:08:00:00 +0000] "GET /a/b.css?v=2 HTTP/1.1" 200 20 "-" "-"
192.0.2.7 - - [18/May/2026:08:00:01 +0000] "GET /a/b.css HTTP/1.1" 304 0
192.0.2.7 - - [18/May/2026:08:00:01 +0000] "GET /known.html HTTP/1.1" 304 -
192.0.2.7 - - [18/May/2026:08:00:02 +0000] "GET /none HTTP/1.1" 404 153 "-" "-"
192.0.2.7 - - [18/May/2026:08:00:02 +0000] "GET /../up HTTP/1.1" 200 5 "-" "-"
192.0.2.7 - - [18/May/2026:08:00:03 +0000] "\\x16\\x03\\x01" 400 0 "-" "-"
'''


def rounds(cpu_us, p99=100):
    return [{"cpu_us": cpu_us, "p99": p99}]


class Sites(unittest.TestCase):
    def setUp(self):
        self.folder = tempfile.TemporaryDirectory(prefix="measuring-")
        self.addCleanup(self.folder.cleanup)
        self.log = os.path.join(self.folder.name, "access")
        with open(self.log, "w") as file:
            file.write(LOG)

    def test_a_log_tells_paths_and_sizes(self):
        self.assertEqual(site.log_paths(self.log),
                         {"/": 300, "/a/b.css": 20, "/known.html": 0, "/../up": 5})

    def test_a_site_of_a_log_stays_in_its_folder(self):
        root = os.path.join(self.folder.name, "site", "root")
        site.make_log_site(root, self.log)
        sizes = {}
        for folder, _folders, names in os.walk(os.path.dirname(root)):
            for name in names:
                path = os.path.join(folder, name)
                sizes[os.path.relpath(path, root)] = os.path.getsize(path)
        self.assertEqual(sizes, {"index.html": 300, "a/b.css": 20, "known.html": 1})

    def test_the_sample_log_has_every_kind(self):
        with open(os.path.join(TOP, "scripts", "wrk", "access-sample.txt")) as file:
            lines = file.read().splitlines()
        found = [site.LOG_LINE.search(line) for line in lines]
        self.assertNotIn(None, found)
        self.assertEqual({match["status"] for match in found}, {"200", "206", "304", "404"})


class Reports(unittest.TestCase):
    def test_ohas_report(self):
        result = load.read_oha({
            "summary": {"requestsPerSec": 2.5, "totalData": 99},
            "latencyPercentiles": {"p50": 0.001, "p99": 0.25, "p99.9": None},
            "statusCodeDistribution": {"200": 3, "404": 1},
            "errorDistribution": {"aborted due to deadline": 5, "connection refused": 2}})
        self.assertEqual(result, {"requests": 4, "rate": 2.5, "bytes": 99, "p50": 1000.0,
                                  "p99": 250000.0, "p999": 0, "errors": 2, "statuses": 1})

    def test_instructions(self):
        maps = [(0x1000, 0x2000, 0x500, "/bin/one"), (0x9000, 0x9800, 0, "[vdso]")]
        steps = stepping.read("/bin/one", "request 30\nrequest 10\nat 1004 39\nat 9000 1\n", maps)
        self.assertEqual((steps.least, steps.most, steps.mean), (10, 30, 20))
        self.assertEqual(steps.mapping(0x1004), ("/bin/one", 0x504))
        self.assertEqual(steps.shares(lambda name, _offset: name),
                         [("/bin/one", 19.5), ("[vdso]", 0.5)])

    def test_numbers_that_are_read(self):
        self.assertEqual([tables.microseconds(value) for value in (None, 12.3, 9999, 45678, 2e6)],
                         ["-", "12 us", "9999 us", "45.7 ms", "2.00 s"])

    def test_medians_pass_over_what_is_not_known(self):
        self.assertEqual(tables.median([{"p99": 1}, {"p99": None}, {"p99": 3}], "p99"), 2)
        self.assertIsNone(tables.median([{"p99": None}], "p99"))

    def test_what_was_printed_is_read_again(self):
        """Figures of README are those of the reports, whatever else was printed between them."""
        rows = [tables.LOAD_HEADER, tables.load_row("evixd-io_uring", [
            {"cpu_us": 6.5, "rate": 9.0, "p50": 1e6, "p99": 20000, "p999": None, "memory": 2 << 20,
             "errors": 0}])]
        with tempfile.TemporaryDirectory(prefix="measuring-") as folder:
            with open(os.path.join(folder, "compare.txt"), "w") as file:
                with contextlib.redirect_stdout(file):
                    print("A machine, 2 cores.")
                    print("\n1 KiB file")
                    tables.show(rows)
                    print("\n10,000 idle connections, each after one request")
                    tables.show([["server", "bytes each"], ["evixd-io_uring", "355"]])
            machine, found = reports.read(os.path.join(folder, "compare.txt"))
            self.assertEqual(machine, "A machine, 2 cores.")
            self.assertEqual(list(found), ["1 KiB file", "10,000 idle connections, each after one request"])
            self.assertEqual(found["1 KiB file"]["evixd-io_uring"], {
                "CPU us/req": "6.50", "(least-most)": "(6.50-6.50)", "req/s": "9", "p50": "1.00 s",
                "p99": "20.0 ms", "p99.9": "-", "MiB": "2.0", "errors": "0"})

    def test_readme_has_a_place_for_them(self):
        """Whether it is up to date, `scripts/wrk/readme --check` tells."""
        with open(os.path.join(TOP, "README.md")) as file:
            text = file.read()
        self.assertLess(text.index("<!-- measured:"), text.index("<!-- end of measured -->"))

    def test_bars_cut_off_what_is_far_beyond(self):
        script = plots.bars([("t", [("evixd-io_uring", 1), ("b", 2), ("c", 100)])], 1, "us")
        self.assertIn('2 1 "evixd-io\\\\_uring" 0x0072b2 1\n', script)
        self.assertIn('0 5 "c" 0xb0b0b0 100\n', script)


class Budgets(unittest.TestCase):
    """The best peer is the cheapest of those that count; plain nginx does not."""

    def verdicts(self, case, ours, p99=100):
        of_case = {"evixd-epoll": rounds(ours, p99), "nginx": rounds(1.0), "h2o": rounds(10.0, 90),
                   "nginx-cache": rounds(20.0, 80), "floor-epoll": rounds(8.0),
                   "floor-io_uring": rounds(7.0)}
        found = budgets.judge({"backend": "epoll", "cases": {case: of_case}})
        return [(row.what, row.value_text, row.verdict) for row in found]

    def test_the_floor_and_the_best_peer(self):
        self.assertEqual(self.verdicts("small", 8.04),
                         [("small: CPU", "1.15 x floor-io_uring", "met"),
                          ("small: CPU", "0.80 x h2o", "NOT MET")])

    def test_p99_has_a_best_peer_of_its_own(self):
        self.assertEqual(self.verdicts("small-1000", 8.0, p99=85),
                         [("small-1000: CPU", "0.80 x h2o", "met"),
                          ("small-1000: p99", "1.06 x nginx-cache", "NOT MET")])

    def test_a_case_without_a_budget(self):
        self.assertEqual(self.verdicts("replay", 8.0), [])

    def test_beside_downloads_the_latency_decides(self):
        self.assertEqual(self.verdicts("mixed", 30.0, p99=80),
                         [("mixed: p99", "1.00 x nginx-cache", "met")])

    def test_a_verdict_on_a_noisy_machine(self):
        """Only what was met is taken back; where the floor ran at even cost, it stands."""
        of_case = {"evixd-epoll": rounds(7.0), "h2o": rounds(10.0), "floor-epoll": rounds(8.0)}
        for dearest, words in ((8.7, ["met", "met"]), (9.0, ["noisy", "noisy"])):
            found = budgets.judge({"backend": "epoll", "cases": {"small": of_case},
                                   "yardstick": {"small": rounds(8.0) + rounds(dearest)}})
            self.assertEqual([row.verdict for row in found], words)
        of_case["evixd-epoll"] = rounds(9.5)
        found = budgets.judge({"backend": "epoll", "cases": {"small": of_case},
                               "yardstick": {"small": rounds(8.0) + rounds(9.0)}})
        self.assertEqual([row.verdict for row in found], ["NOT MET, noisy", "NOT MET, noisy"])

    def test_every_case_of_the_table_has_one(self):
        self.assertEqual(set(cases.BUDGETS),
                         {*budgets.OF_THE_BEST_PEER, *budgets.P99_OF_THE_BEST_PEER})

    def test_idle_and_start(self):
        found = budgets.judge({
            "backend": "epoll", "cases": {}, "start": {"evixd-epoll": [30, 10, 12]},
            "idle": {"evixd-epoll": {"bytes_each": 401, "few_us": 10, "many_us": 11}}})
        self.assertEqual([(row.value_text, row.verdict) for row in found],
                         [("401 bytes", "NOT MET"), ("1.10 x", "met"), ("12.0 ms", "met")])


class Running(unittest.TestCase):
    """evixd as the commands start it."""

    def setUp(self):
        folder = tempfile.TemporaryDirectory(prefix="measuring-")
        self.addCleanup(folder.cleanup)
        root = os.path.join(folder.name, "site")
        site.put(root, "1k.html", b"x" * 1024)
        port = processes.free_port()
        self.server = processes.Server("evixd", servers.evixd("epoll")(folder.name, root, port),
                                       port, folder.name)
        self.server.__enter__()
        self.addCleanup(self.server.__exit__)

    def test_what_is_measured_of_it(self):
        port = self.server.port
        self.assertEqual(load.ask(port), (200, 1024))
        self.assertEqual(load.ask(port, fields=cases.DATE), (304, 0))
        with load.IdleConnections(port, 20) as idle:
            self.assertEqual(idle.still_open(), 20)
        self.assertEqual(len(self.server.pids()), 2)
        self.assertGreater(self.server.cpu_seconds(), 0)
        self.assertGreater(self.server.memory_bytes(), 100000)

    def test_latencies_count_from_when_they_were_due(self):
        latencies = probe.hot(self.server.port, "/1k.html", 0.1)
        self.assertEqual(len(latencies), 50)
        self.assertEqual(latencies, sorted(latencies))

    def test_a_paced_client_beside_a_load(self):
        with load.PacedClient(self.server.port, "/1k.html", 0.1) as client:
            found = client.latencies()
        self.assertEqual(list(found), ["p50", "p99", "p999"])
        self.assertEqual(sorted(found.values()), list(found.values()))

    def test_a_wrong_answer_is_not_measured(self):
        with self.assertRaises(processes.Failed):
            cases.CASES["404"].__class__("x", status=404).check("evixd", self.server.port)


if __name__ == "__main__":
    suite.main()
