# SPDX-License-Identifier: MIT
"""Runs other people's clients against the daemon: each in a folder of its own, without their user's
settings, and skipped where it is not installed."""

import os
import re
import shutil
import subprocess

from evixd import TIME_SCALE, Daemon, TestCase, configuration, host, wait_until


def require(test, *programs):
    """Skips the test, and names the program, where one is missing."""
    for program in programs:
        if shutil.which(program) is None:
            test.skipTest("%s is not installed" % program)


class ClientCase(TestCase):
    """A test with a site at self.root, and a log of what the clients asked for."""

    locations = ({"path": "/", "listing": True},)

    @classmethod
    def serve(cls):
        cls.site = os.path.join(cls.root, "site")
        cls.log = os.path.join(cls.root, "access.log")
        os.makedirs(cls.site, exist_ok=True)
        cls.populate()
        return Daemon(config=configuration(hosts=[host(
            cls.site, *cls.locations,
            access_log={"target": cls.log, "format": "%m %U %s %B %{Range}i %{User-agent}i"},
        )]))

    @classmethod
    def populate(cls):
        """Makes the site."""

    @property
    def url(self):
        return "http://%s:%d" % self.address

    def run_client(self, *command, status=0, timeout=60, env=None, cwd=None, text=True):
        """Its standard output; the status must be as expected."""
        home = cwd or self.folder()
        clean = {"PATH": os.environ["PATH"], "HOME": home, "LC_ALL": "C.UTF-8", "TZ": "UTC",
                 "GIT_CONFIG_NOSYSTEM": "1", **(env or {})}
        result = subprocess.run(
            command, cwd=home, env=clean, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE,
            stderr=subprocess.PIPE, timeout=timeout * TIME_SCALE, check=False,
        )
        if result.returncode != status:
            raise AssertionError("%s ended with %d:\n%s\n%s" % (
                command, result.returncode, result.stdout.decode("utf-8", "replace")[-2000:],
                result.stderr.decode("utf-8", "replace")[-4000:]))
        return result.stdout.decode() if text else result.stdout

    def requests(self, pattern, count=1):
        """The matches of logged lines; waits until there are so many, since the log is written once
        a second. The lines are in the order of the requests."""
        expression = re.compile(pattern)

        def find():
            if not os.path.exists(self.log):
                return []
            with open(self.log, encoding="latin-1") as file:
                found = [match for match in map(expression.match, file) if match]
            return found if len(found) >= count else []

        return wait_until(find, "%d requests like %r" % (count, pattern)) if count else find()


def files_of(folder):
    """{relative name: content} of all regular files below."""
    found = {}
    for path, _folders, names in os.walk(os.fsencode(folder)):
        for name in names:
            whole = os.path.join(path, name)
            with open(whole, "rb") as file:
                found[os.path.relpath(whole, os.fsencode(folder))] = file.read()
    return found
