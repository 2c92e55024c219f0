# SPDX-License-Identifier: MIT
"""Tests that write the configuration anew while the daemon runs, and then tell it."""

import tree
from evixd import BACKEND, Daemon, TestCase, configuration, host
from load import write_files


class RewrittenCase(TestCase):
    """`running()` starts a daemon of the test's own, `write()` changes what it was configured with.

    Both take settings, and serve what Load asks for.
    """

    @classmethod
    def serve(cls):
        write_files(cls.root)
        return cls.make()

    @classmethod
    def text(cls, workers=1, shutdown=60, **settings):
        settings.setdefault("hosts", [host(cls.root, {"path": "/"})])
        settings.setdefault("timeouts", {"shutdown": shutdown})
        return configuration(workers=workers, backend=BACKEND, **settings)

    @classmethod
    def make(cls, expect=(), listeners=1, env=None, ignored=(), **settings):
        return Daemon(
            config=cls.text(**settings), workers=None, listeners=listeners, expect=expect, env=env,
            ignored=ignored,
        )

    def running(self, **options):
        daemon = self.make(**options).start()
        self.addCleanup(daemon.kill)
        return daemon

    def write(self, daemon, **settings):
        """At once: a reload that is still to come must not find it by halves."""
        tree.replace(daemon.config_path, self.text(**settings).encode())
