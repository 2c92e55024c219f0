# SPDX-License-Identifier: MIT
"""What evixd has to reach, as ratios to what others reached in the same run, and whether it did."""

import subprocess

from .tables import median

# The best peer is the cheapest of these: nginx only with its cache of open files.
PEERS = ("nginx-cache", "lighttpd", "h2o")
OF_THE_FLOOR = {"small": 1.15}
OF_THE_BEST_PEER = {"small": 0.80, "small-1000": 0.80, "pipelined": 0.20, "many": 0.65,
                    "close": 0.85, "100k": 1.0, "10m": 1.0, "404": 0.85, "304": 0.85}
P99_OF_THE_BEST_PEER = ("small-1000", "mixed")
# The floor program does the same work in each round: if its figures differ by more, the machine had
# other things to do, and what a ratio says in its favour is worth nothing.
NOISY_SPREAD = 0.10
IDLE_BYTES = 400
IDLE_COST = 1.1
START_MS = 20


class Row:
    def __init__(self, what, value, budget, value_text, budget_text):
        self.what = what
        self.value_text = value_text
        self.budget_text = budget_text
        self.is_met = value <= budget
        self.is_noisy = False

    @property
    def verdict(self):
        if self.is_noisy:
            return "noisy" if self.is_met else "NOT MET, noisy"
        return "met" if self.is_met else "NOT MET"


def spread(rounds):
    """By how much the dearest of the floor's rounds exceeds the cheapest."""
    costs = [each["cpu_us"] for each in rounds]
    return max(costs) / min(costs) - 1 if costs else 0.0


def ratio(what, ours, whose, theirs, budget):
    value = ours / theirs
    return Row(what, value, budget, f"{value:.2f} x {whose}", f"{budget:.2f} x")


def least(of_case, names, key="cpu_us"):
    """(name, median) of the cheapest of those that were measured; None if none was."""
    found = [(median(of_case[name], key), name) for name in names if of_case.get(name)]
    return min(found)[::-1] if found else None


def judge_case(case, of_case, ours):
    """The budgets that one load decides."""
    if not of_case.get(ours):
        return
    cost = median(of_case[ours], "cpu_us")
    floor = least(of_case, ("floor-epoll", "floor-io_uring"))
    if case in OF_THE_FLOOR and floor:
        yield ratio(f"{case}: CPU", cost, *floor, OF_THE_FLOOR[case])
    peer = least(of_case, PEERS)
    if case in OF_THE_BEST_PEER and peer:
        yield ratio(f"{case}: CPU", cost, *peer, OF_THE_BEST_PEER[case])
    peer = least(of_case, PEERS, "p99")
    if case in P99_OF_THE_BEST_PEER and peer:
        yield ratio(f"{case}: p99", median(of_case[ours], "p99"), *peer, 1.0)


def judge(results):
    """Every budget that the run can tell of, in the order of the cases."""
    ours = "evixd-" + results["backend"]
    rows = []
    for case, of_case in results["cases"].items():
        of_this = list(judge_case(case, of_case, ours))
        for row in of_this:
            row.is_noisy = spread(results.get("yardstick", {}).get(case, ())) > NOISY_SPREAD
        rows += of_this
    idle = results.get("idle", {}).get(ours)
    if idle:
        value = idle["bytes_each"]
        rows.append(Row("an idle connection", value, IDLE_BYTES, f"{value:.0f} bytes",
                        f"{IDLE_BYTES} bytes"))
        value = idle["many_us"] / idle["few_us"]
        rows.append(Row("a request beside idle connections", value, IDLE_COST, f"{value:.2f} x",
                        f"{IDLE_COST:.2f} x"))
    start = results.get("start", {}).get(ours)
    if start:
        value = sorted(start)[len(start) // 2]
        rows.append(Row("start to the first answer", value, START_MS, f"{value:.1f} ms",
                        f"{START_MS} ms"))
    return rows


def default_backend(evixd, measured):
    """The backend that evixd takes by itself: of those that it lists, in the order in which it
    tries them, the first that served."""
    try:
        listed = subprocess.run([evixd, "-V"], capture_output=True, text=True).stdout
    except OSError:
        return "epoll"  # it was not measured either
    for line in listed.splitlines():
        if line.startswith("backends:"):
            for backend in line.split()[1:]:
                if "evixd-" + backend in measured:
                    return backend
    return "epoll"
