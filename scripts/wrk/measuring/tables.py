# SPDX-License-Identifier: MIT
"""Tables of text, in columns as wide as they need to be."""

import os
import statistics
import sys


def median(rounds, key):
    """None if no round knows it."""
    known = [each[key] for each in rounds if each[key] is not None]
    return statistics.median(known) if known else None


def microseconds(value):
    """Three digits that count, whatever the size."""
    if value is None:
        return "-"
    if value >= 1e6:
        return f"{value / 1e6:.2f} s"
    if value >= 1e4:
        return f"{value / 1e3:.1f} ms"
    return f"{value:.0f} us"


def mebibytes(value):
    return f"{value / 2**20:.1f}"


class Tee:
    """Two places for what is printed."""

    def __init__(self, *files):
        self.files = files

    def write(self, text):
        for file in self.files:
            file.write(text)

    def flush(self):
        for file in self.files:
            file.flush()


def keep_output(folder, name):
    """From now on, what is printed is also written to a file of the folder, if there is one."""
    if folder:
        os.makedirs(folder, exist_ok=True)
        sys.stdout = Tee(sys.stdout, open(os.path.join(folder, name), "w"))


def show(rows, indent="  "):
    """Prints rows of cells; the first row is the header, the first column stands left."""
    widths = [max(len(str(row[i])) for row in rows) for i in range(len(rows[0]))]
    for row in rows:
        cells = [str(row[0]).ljust(widths[0])]
        cells += [str(cell).rjust(width) for cell, width in zip(row[1:], widths[1:])]
        print((indent + "  ".join(cells)).rstrip(), flush=True)


LOAD_HEADER = ["server", "CPU us/req", "(least-most)", "req/s", "p50", "p99", "p99.9", "MiB",
               "errors"]


def load_row(name, rounds):
    """One server's line of a case that wrk or oha measured."""
    costs = [each["cpu_us"] for each in rounds]
    return [name, f"{median(rounds, 'cpu_us'):.2f}", f"({min(costs):.2f}-{max(costs):.2f})",
            f"{median(rounds, 'rate'):.0f}", *(microseconds(median(rounds, key))
                                               for key in ("p50", "p99", "p999")),
            mebibytes(median(rounds, "memory")), sum(each["errors"] for each in rounds)]
