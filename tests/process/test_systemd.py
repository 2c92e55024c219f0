# SPDX-License-Identifier: MIT
"""The service under a real systemd, installed as `make install` does.

SYSTEMD_SANDBOX names a program that boots a systemd of its own in namespaces, over a throw-away
overlay of this machine's root, and runs a command in there as root: `PROGRAM -- COMMAND...`, with
the caller's environment, folder and output, and exits with the command's status. Without it the
module is skipped. With it, the module starts itself again in there.
"""

import glob
import grp
import json
import os
import re
import shutil
import signal
import socket
import subprocess
import sys
import unittest

import suite
import tree
from evixd import EVIXD, Daemon, children, configuration, host, parent, wait_until
from load import Load, write_files
from suite import TIME_SCALE
from test_notify import FIGURES
from wire import Connection, fetch, request

SANDBOX = os.environ.get("SYSTEMD_SANDBOX", "")
INSIDE = "EVIXD_TEST_INSIDE"
RINGS = "EVIXD_TEST_RINGS"  # whether io_uring works where nothing forbids it
ADDRESS = ("127.0.0.1", 80)
ROOT = "/srv/www"
LOGS = "/var/log/evixd"
DROP_INS = "/run/systemd/system/evixd.service.d"
SOURCES = os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "..", "systemd")


def command(*words, status=0, timeout=60):
    """What it said; its status has to be this one, None for any."""
    result = subprocess.run(
        words, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.STDOUT,
        text=True, timeout=timeout * TIME_SCALE, check=False,
    )
    if status is not None and result.returncode != status:
        raise AssertionError("%s: status %d\n%s" % (" ".join(words), result.returncode, result.stdout))
    return result.stdout


def systemctl(*words, **options):
    return command("systemctl", *words, **options)


def show(name, unit="evixd.service"):
    return systemctl("show", "--value", "--property", name, unit).strip()


def journal(*words):
    """The journal's lines of the service, as dictionaries."""
    command("journalctl", "--sync")
    text = command("journalctl", "--output=json", "--unit=evixd", *words)
    return [json.loads(line) for line in text.splitlines() if line.startswith("{")]


def prefix():
    """Where make has installed to, by the unit."""
    found = re.search(r"ExecStart=.*path=(\S+)/sbin/evixd .*--config (\S+)", systemctl("show", "evixd"))
    return found[1], found[2]


def install():
    for name in ("MAKEFLAGS", "MFLAGS", "MAKELEVEL"):
        os.environ.pop(name, None)
    command("make", "-s", "-C", os.path.dirname(EVIXD), "install", timeout=120)
    systemctl("daemon-reload")
    command("systemd-sysusers")
    command("systemd-tmpfiles", "--create", status=None)


def drop_in(name, text):
    os.makedirs(DROP_INS, exist_ok=True)
    with open(os.path.join(DROP_INS, name), "w", encoding="utf-8") as file:
        file.write(text)
    systemctl("daemon-reload")


class Service(unittest.TestCase):
    """Each test begins with a service that is stopped, and leaves it so."""

    maxDiff = 2000

    def setUp(self):
        write_files(ROOT)
        tree.write(ROOT, "index.html", b"index")
        self.folder, self.config = prefix()
        self.configure()
        for path in glob.glob(LOGS + "/*"):
            os.remove(path)
        self.addCleanup(self.clean)

    def clean(self):
        systemctl("stop", "evixd.socket", "evixd.service", status=None)
        systemctl("reset-failed", status=None)
        shutil.rmtree(DROP_INS, ignore_errors=True)
        systemctl("daemon-reload")

    def configure(self, **settings):
        settings.setdefault("listen", [{"address": ":80"}])
        settings.setdefault("hosts", [host(ROOT, {"path": "/"})])
        settings.setdefault("workers", 2)
        with open(self.config, "w", encoding="utf-8") as file:
            file.write(configuration(**settings))

    def start(self):
        systemctl("start", "evixd", status=None)
        if show("ActiveState") != "active":
            self.fail("\n".join(line["MESSAGE"] for line in journal("-n20")))

    @property
    def master(self):
        return int(show("MainPID"))


class Life(Service):
    def test_start_and_stop(self):
        self.start()
        self.assertEqual(fetch(ADDRESS, "/").body, b"index")  # right away: READY came after listen
        self.assertRegex(show("StatusText"), FIGURES)
        self.assertEqual(len(children(self.master)), 2)
        systemctl("stop", "evixd")
        self.assertEqual(show("ActiveState"), "inactive")
        self.assertEqual(show("Result"), "success")

    def test_stop_finishes_what_is_in_flight(self):
        tree.write(ROOT, "large.bin", b"x" * (32 << 20))
        self.start()
        with Connection(ADDRESS, receive_buffer=8192) as client:
            client.send(request("/large.bin"))
            client.read_head()
            systemctl("--no-block", "stop", "evixd")
            wait_until(lambda: show("StatusText").startswith("Stopping: "), "it says so")
            self.assertEqual(len(client.take(32 << 20)), 32 << 20)
        wait_until(lambda: show("ActiveState") == "inactive", "it has stopped")
        self.assertEqual(show("Result"), "success")

    def test_broken_configuration_is_not_started(self):
        with open(self.config, "w", encoding="utf-8") as file:
            file.write("workers = 0;\n")
        systemctl("start", "evixd", status=1)
        self.assertEqual(show("ActiveState"), "failed", "and does not wait for a restart")
        self.assertEqual(show("NRestarts"), "0")
        self.assertEqual(show("ExecMainStatus"), "1")
        self.assertIn(
            "%s:1: " % self.config, " ".join(line["MESSAGE"] for line in journal("-n20"))
        )
        self.configure()
        self.start()
        self.assertEqual(fetch(ADDRESS, "/").body, b"index")

    def test_everything_works_in_there(self):
        """io_uring where the machine has it, watches of files, logs, low ports."""
        path = LOGS + "/access.log"
        self.configure(access_log={"target": path, "format": "common"})
        self.start()
        for pid in children(self.master):
            kinds = [os.readlink("/proc/%d/fd/%s" % (pid, fd)) for fd in os.listdir("/proc/%d/fd" % pid)]
            self.assertIn("anon_inode:inotify", kinds)
            if "yes" == os.environ[RINGS]:
                self.assertIn("anon_inode:[io_uring]", kinds)
        for number in range(3):
            tree.replace(os.path.join(ROOT, "index.html"), b"%d" % number)
            self.assertEqual(fetch(ADDRESS, "/").body, b"%d" % number)
        wait_until(lambda: read(path).count("GET /") == 3, "the lines of the log")
        os.rename(path, path + ".1")
        systemctl("kill", "--kill-who=main", "--signal=USR1", "evixd")
        wait_until(lambda: os.path.exists(path), "a new log")
        self.assertEqual(os.stat(path).st_uid, os.stat(path + ".1").st_uid)

    def test_workers_have_nothing(self):
        self.start()
        for pid in children(self.master):
            fields = dict(
                line.split(":\t", 1) for line in read("/proc/%d/status" % pid).splitlines() if ":\t" in line
            )
            self.assertNotIn("0", fields["Uid"].split())
            for name in ("CapInh", "CapPrm", "CapEff", "CapAmb"):
                self.assertEqual(int(fields[name], 16), 0, name)
            self.assertEqual(fields["NoNewPrivs"], "1")
            self.assertEqual(fields["Seccomp"], "2")
        said = {line["MESSAGE"] for line in journal("--priority=warning")}
        self.assertFalse([text for text in said if "no filter" in text], "and that is evixd's own")

    def test_exposure(self):
        command("systemd-analyze", "security", "--threshold=20", "evixd")


class Reload(Service):
    def test_under_load(self):
        self.start()
        with Load(ADDRESS) as load:
            for workers in (1, 4, 2):
                self.configure(workers=workers)
                systemctl("reload", "evixd")
                self.assertEqual(show("ActiveState"), "active")
                wait_until(
                    lambda: " %d worker" % workers in journal("-n1", "-g", "in force")[-1]["MESSAGE"],
                    "%d workers" % workers,
                )
                load.goes_on()
        self.assertEqual(show("NRestarts"), "0")

    def test_broken_configuration_is_refused(self):
        self.start()
        master = self.master
        with open(self.config, "w", encoding="utf-8") as file:
            file.write("workers = 0;\n")
        systemctl("reload", "evixd", status=1)
        self.assertEqual(show("ActiveState"), "active")
        self.assertEqual(self.master, master)
        self.assertEqual(fetch(ADDRESS, "/").body, b"index")


class Upgrade(Service):
    def upgrade(self, is_former_done=True):
        """The new master's process, when systemd knows of it, and the former one is gone."""
        former = self.master
        systemctl("kill", "--kill-who=main", "--signal=USR2", "evixd")
        wait_until(lambda: self.master not in (0, former), "there is another", timeout=60)
        if is_former_done:
            wait_until(
                lambda: not os.path.exists("/proc/%d" % former), "the former has gone", timeout=60
            )
        return self.master

    def test_under_load(self):
        drop_in("watchdog.conf", "[Service]\nWatchdogSec=6\n")
        self.start()
        with Load(ADDRESS) as load:
            for _ in range(2):
                self.upgrade()
                load.goes_on()
        self.assertEqual(show("ActiveState"), "active")
        self.assertEqual(show("NRestarts"), "0")
        before = int(show("WatchdogTimestampMonotonic"))
        wait_until(lambda: int(show("WatchdogTimestampMonotonic")) > before, "a sign of life")
        wait_until(lambda: FIGURES.fullmatch(show("StatusText")), "figures of the new one")
        systemctl("reload", "evixd")

    def test_systemd_takes_the_new_one_for_its_own(self):
        """So it sees its end, and the journal says nothing of a stranger, or of one that is not heard."""
        self.start()
        self.assertEqual(parent(self.upgrade()), 1)
        wait_until(lambda: FIGURES.fullmatch(show("StatusText")), "the new one is heard")
        invocation = show("InvocationID")
        said = [line["MESSAGE"] for line in journal() if line.get("INVOCATION_ID") == invocation]
        for text in said:
            self.assertNotRegex(text, "not our child|reception only permitted|refusing|Killing")
        self.assertIn("Started evixd.service - HTTP server for files.", said)

    def test_stop_of_the_new_one_is_graceful(self):
        """Of what the former one still has in hand, too."""
        tree.write(ROOT, "large.bin", b"x" * (32 << 20))
        self.start()
        with Connection(ADDRESS, receive_buffer=8192) as of_former:
            of_former.send(request("/large.bin"))
            of_former.read_head()
            self.upgrade(is_former_done=False)
            with Connection(ADDRESS, receive_buffer=8192) as of_new:
                of_new.send(request("/large.bin"))
                of_new.read_head()
                systemctl("--no-block", "stop", "evixd")
                wait_until(lambda: show("StatusText").startswith("Stopping: "), "it says so")
                self.assertEqual(len(of_new.take(32 << 20)), 32 << 20)
            self.assertEqual(show("ActiveState"), "deactivating")
            self.assertEqual(len(of_former.take(32 << 20)), 32 << 20)
        wait_until(lambda: show("ActiveState") == "inactive", "it has stopped", timeout=60)
        self.assertEqual(show("Result"), "success")

    def test_restart(self):
        self.start()
        new = self.upgrade()
        systemctl("restart", "evixd")
        self.assertNotIn(self.master, (0, new))
        self.assertFalse(os.path.exists("/proc/%d" % new))
        self.assertEqual(fetch(ADDRESS, "/").body, b"index")
        self.assertEqual(show("NRestarts"), "0")

    def test_busy_port_is_waited_for(self):
        """For as long as it takes; by default systemd gives up after five starts."""
        with socket.socket() as other:
            other.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
            other.bind(("0.0.0.0", 80))
            other.listen()
            systemctl("start", "--no-block", "evixd")
            wait_until(lambda: int(show("NRestarts")) > 6, "it is tried again", timeout=60)
        wait_until(lambda: show("ActiveState") == "active", "it serves", timeout=60)
        self.assertEqual(fetch(ADDRESS, "/").body, b"index")

    def test_crash_of_the_new_one(self):
        """It is started anew, as the first one would be."""
        self.start()
        new = self.upgrade()
        os.kill(new, signal.SIGKILL)
        wait_until(lambda: self.master not in (0, new), "there is another", timeout=60)
        wait_until(lambda: show("ActiveState") == "active", "it serves", timeout=60)
        self.assertEqual(show("NRestarts"), "1")
        self.assertEqual(fetch(ADDRESS, "/").body, b"index")

    def test_hung_new_one_is_started_anew(self):
        drop_in("watchdog.conf", "[Service]\nWatchdogSec=6\n")
        self.start()
        new = self.upgrade()
        os.kill(new, signal.SIGSTOP)
        wait_until(lambda: self.master not in (0, new), "there is another", timeout=60)
        wait_until(lambda: show("ActiveState") == "active", "it serves", timeout=60)
        self.assertEqual(show("NRestarts"), "1")

    def test_failed_upgrade(self):
        self.start()
        former = self.master
        with open(self.config, "w", encoding="utf-8") as file:
            file.write("workers = 0;\n")
        systemctl("kill", "--kill-who=main", "--signal=USR2", "evixd")
        wait_until(lambda: journal("-g", "upgrade failed"), "it says so", timeout=60)
        self.assertEqual((self.master, show("ActiveState")), (former, "active"))
        self.assertEqual(fetch(ADDRESS, "/").body, b"index")
        self.configure()
        self.upgrade()

    def test_behind_a_socket(self):
        systemctl("start", "evixd.socket")
        self.start()
        with Load(ADDRESS) as load:
            self.upgrade()
            load.goes_on()
        with Load(ADDRESS, kept=0, fresh=4) as load:
            systemctl("restart", "evixd")
            load.goes_on()


class Activation(Service):
    def test_order_of_the_units(self):
        """As README has it: systemd opens no socket for a service that is active."""
        self.start()
        systemctl("start", "evixd.socket", status=1)
        systemctl("stop", "evixd")
        systemctl("enable", "--now", "evixd.socket")
        self.addCleanup(systemctl, "disable", "evixd.socket")
        self.start()
        self.assertEqual(show("ActiveState", "evixd.socket"), "active")
        self.assertEqual(fetch(ADDRESS, "/").body, b"index")

    def test_the_first_client_starts_it(self):
        systemctl("start", "evixd.socket")
        self.assertEqual(show("ActiveState"), "inactive")
        self.assertEqual(fetch(ADDRESS, "/").body, b"index")
        wait_until(lambda: show("ActiveState") == "active", "systemd knows, too")

    def test_restart_under_load(self):
        """No client is refused, and none that behaves is cut off."""
        systemctl("start", "evixd.socket")
        self.start()
        with Load(ADDRESS, kept=0, fresh=4) as load:
            for _ in range(3):
                systemctl("restart", "evixd")
                load.goes_on()

    def test_by_name(self):
        self.configure(listen=[{"address": "127.0.0.1:1", "name": "http"}])
        systemctl("start", "evixd.socket")
        self.start()
        self.assertEqual(fetch(ADDRESS, "/").body, b"index")

    def test_crash_under_load(self):
        """Of the whole service: who connects meanwhile waits for the next one."""
        systemctl("start", "evixd.socket")
        self.start()
        systemctl("kill", "--signal=KILL", "evixd")
        self.assertEqual(fetch(ADDRESS, "/").body, b"index")
        wait_until(lambda: show("NRestarts") != "0" or show("ActiveState") == "active", "restart")


class Watchdog(Service):
    def setUp(self):
        super().setUp()
        drop_in("watchdog.conf", "[Service]\nWatchdogSec=6\n")

    def test_hung_worker_is_replaced(self):
        """By the master; the service as a whole goes on."""
        self.start()
        master = self.master
        hung = children(master)[0]
        os.kill(hung, signal.SIGSTOP)
        wait_until(lambda: hung not in children(master), "it is gone", timeout=30)
        wait_until(lambda: len(children(master)) == 2, "it has a successor")
        for _ in range(8):
            self.assertEqual(fetch(ADDRESS, "/").body, b"index")
        self.assertEqual(self.master, master)
        self.assertEqual(show("NRestarts"), "0")

    def test_hung_master_is_started_anew(self):
        self.start()
        master = self.master
        os.kill(master, signal.SIGSTOP)
        wait_until(lambda: self.master not in (0, master), "there is another", timeout=60)
        wait_until(lambda: show("ActiveState") == "active", "it serves", timeout=30)
        self.assertEqual(show("NRestarts"), "1")
        self.assertEqual(fetch(ADDRESS, "/").body, b"index")

    def test_healthy_service_is_left_alone(self):
        self.start()
        master = self.master
        before = int(show("WatchdogTimestampMonotonic"))
        wait_until(lambda: int(show("WatchdogTimestampMonotonic")) > before, "a sign of life")
        self.assertEqual(self.master, master)


class Journal(Service):
    def test_priorities(self):
        """Levels as the journal has them, and neither time nor level in the text."""
        self.start()
        os.kill(children(self.master)[0], signal.SIGKILL)
        wait_until(lambda: len(children(self.master)) == 2, "a successor")
        wait_until(lambda: [line for line in journal() if "signal 9" in line["MESSAGE"]], "the line")
        invocation = show("InvocationID")
        lines = journal("_SYSTEMD_INVOCATION_ID=" + invocation)
        said = {line["MESSAGE"]: line["PRIORITY"] for line in lines}
        listening, = [text for text in said if "listening on" in text]
        died, = [text for text in said if "signal 9" in text]
        self.assertEqual(said[listening], "5")
        self.assertEqual(said[died], "3")
        self.assertRegex(listening, r"^listening on http://")
        self.assertEqual({line["SYSLOG_IDENTIFIER"] for line in lines if "listening" in line["MESSAGE"]}, {"evixd"})


class DynamicUser(Service):
    def setUp(self):
        super().setUp()
        # systemd 252 leaves a link that leads nowhere, over which a fixed user would stumble.
        self.addCleanup(command, "rm", "-f", "/run/evixd")
        with open(os.path.join(SOURCES, "dynamic-user.conf"), encoding="utf-8") as file:
            drop_in("dynamic-user.conf", file.read())

    def test_serves_and_logs(self):
        path = LOGS + "/access.log"
        self.configure(access_log={"target": path, "format": "common"})
        self.start()
        self.assertEqual(fetch(ADDRESS, "/").body, b"index")
        user = os.stat("/proc/%d" % self.master).st_uid
        self.assertTrue(61184 <= user <= 65519, user)  # the range of dynamic users
        wait_until(lambda: read(path).count("GET /") == 1, "the line of the log")

    def test_reads_what_its_group_may(self):
        """That of the user whom sysusers made, as evixd.conf(5) says of the file of users."""
        path = os.path.join(ROOT, "secret.txt")
        tree.write(ROOT, "secret.txt", b"secret")
        os.chown(path, 0, grp.getgrnam("evixd").gr_gid)
        os.chmod(path, 0o640)
        self.start()
        self.assertEqual(fetch(ADDRESS, "/secret.txt").body, b"secret")

    def test_logrotate(self):
        """With the installed file, without the line that the drop-in says to take out."""
        with open(os.path.join(SOURCES, "evixd.logrotate"), encoding="utf-8") as file:
            lines = file.readlines()
        remaining = [line for line in lines if line.strip() != "su evixd evixd"]
        self.assertEqual(len(remaining), len(lines) - 1)
        path = "/run/evixd.logrotate"
        with open(path, "w", encoding="utf-8") as file:
            file.writelines(remaining)
        rotate(self, path)

    def test_socket_reload_and_stop(self):
        systemctl("start", "evixd.socket")
        self.start()
        with Load(ADDRESS, kept=2, fresh=2) as load:
            systemctl("reload", "evixd")
            load.goes_on()
        systemctl("stop", "evixd")
        self.assertEqual(show("Result"), "success")

    def test_exposure(self):
        command("systemd-analyze", "security", "--threshold=20", "evixd")


class Rotation(Service):
    def test_logrotate(self):
        """With the file that is installed."""
        rotate(self, os.path.join(SOURCES, "evixd.logrotate"))


def rotate(test, file):
    """What logrotate, where it is, does by this file of its configuration."""
    program = shutil.which("logrotate", path="/usr/sbin:/usr/bin")
    if not program:
        test.skipTest("logrotate is not installed")
    path = LOGS + "/access.log"
    test.configure(access_log={"target": path, "format": "common"})
    test.start()
    test.assertEqual(fetch(ADDRESS, "/").body, b"index")
    wait_until(lambda: read(path).count("GET /") == 1, "the line of the log")
    rules = shutil.copyfile(file, "/tmp/evixd.logrotate")
    os.chmod(rules, 0o644)  # as it is installed: what others may write is ignored
    command(program, "--force", rules)
    wait_until(lambda: os.path.exists(path), "a new log")
    test.assertEqual(fetch(ADDRESS, "/").body, b"index")
    wait_until(lambda: read(path).count("GET /") == 1, "a line in the new log")
    test.assertEqual(read(path + ".1").count("GET /"), 1)


def read(path):
    try:
        with open(path, encoding="utf-8") as file:
            return file.read()
    except FileNotFoundError:
        return ""


def refuse(reason):
    print("# skipped: %s" % reason)
    print("# 0 passed, 0 failed, 1 skipped")
    sys.exit(77)


def has_rings():
    """The daemon says what it does without."""
    with Daemon(directory=SOURCES, arguments=["-b", "auto"]) as daemon:
        pid = daemon.worker_pids[0]
        return any(
            os.readlink("/proc/%d/fd/%s" % (pid, fd)) == "anon_inode:[io_uring]"
            for fd in os.listdir("/proc/%d/fd" % pid)
        )


def enter():
    """Starts this module again under the sandbox's systemd."""
    if not SANDBOX:
        refuse("SYSTEMD_SANDBOX names no program that boots a systemd")
    if os.geteuid() != 0:
        refuse("only root can boot a systemd")
    version = command(EVIXD, "--version")
    if "+libsystemd" not in version:
        refuse("libsystemd is not built in")
    if "libasan" in command("ldd", EVIXD):
        refuse("the sanitizers need what the unit forbids")
    if not os.path.exists(os.path.join(os.path.dirname(EVIXD), "systemd", "evixd.service")):
        refuse("no units are made here: --with-systemdsystemunitdir")
    os.environ[INSIDE] = "yes"
    os.environ[RINGS] = "yes" if has_rings() else "no"
    os.execvp(SANDBOX, [SANDBOX, "--", sys.executable, os.path.abspath(__file__), *sys.argv[1:]])


if __name__ == "__main__":
    if INSIDE not in os.environ:
        enter()
    install()
    suite.main(limit=280)
