# SPDX-License-Identifier: MIT
"""Modules whose daemons have many rings at a time take turns, two at once.

The kernel counts the memory of rings against RLIMIT_MEMLOCK of the user: 8 MiB, a usual limit, hold
some 28 of them, and daemons with eight workers that are reloaded and upgraded have as many alone.
"""

import fcntl
import os

TURNS = 2


def take_turn():
    """Waits for it, and keeps it as long as the process lives. Locks lie beside the program."""
    if os.environ.get("BACKEND") != "io_uring":
        return None
    folder = os.path.dirname(os.path.abspath(os.environ.get("EVIXD", "./evixd")))
    name = os.path.join(folder, "rings-%d.lock" % (os.getpid() % TURNS))
    try:
        lock = os.open(name, os.O_RDWR | os.O_CREAT | os.O_NOFOLLOW | os.O_CLOEXEC, 0o600)
    except OSError:
        return None  # somebody else's build folder: then nobody waits
    fcntl.flock(lock, fcntl.LOCK_EX)
    return lock
