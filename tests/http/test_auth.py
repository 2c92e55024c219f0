# SPDX-License-Identifier: MIT
"""Names and passwords: RFC 7617 over real requests, hostile credentials, changes of the file."""

import base64
import os
import select
import signal
import tempfile
import unittest

import gated_fs
import suite
import tree
from evixd import Daemon, TestCase, children, configuration, host, run, unless_poor, wait_until
from suite import TIME_SCALE
from wire import Connection, exchange, fetch, request

# Of "secret"; of "pässwörd €"; of "a:b:c"; of "".
BCRYPT = "$2y$04$KBCwKxOzLha2MUDgW0PjXe/hE/UCO9qF89dOydoHjSwxcHev5LRn."
SHA512 = ("$6$rounds=1000$k2XAnEHBqQ1Ct2aM$Kusx4StgTAJKgtQ8A1Ud4OEtpvLZ/2wzq/Tix/qeeqdrvuTHgR6KF"
          "uCyOP4TNp5lvuV.tmBxpDTp10bqrWJyv1")
YESCRYPT = "$y$j75$k2XAnEHBqQ1Ct2aMXFKNaR4Odd4$Nm1HRpDGDG5PHOkGK3UIY4ow09GeL70FApOU7n7ISc5"
UTF8 = "$2y$04$XkTiW0HfMRe1LhSyKxGvK.0KTGPLxQTdV2T5pxIhk/fP2Uyx4IORK"
COLONS = "$2y$04$XkTiW0HfMRe1LhSyKxGvK.eIV0D3efDKzxYGSeigg1mbzxqFr9mOW"
EMPTY = "$2y$04$XkTiW0HfMRe1LhSyKxGvK.XJsMw4jXT8AowUs1nzVEc1w/YAYy58e"
APR1 = "$apr1$abcdefgh$h9FWgUz3n9YxylKLlR5SQ/"

USERS = "\n".join(("# who may", "alice:" + BCRYPT, "bob:" + SHA512, "carol:" + YESCRYPT,
                   "j\u00fcrgen:" + UTF8, "colon:" + COLONS, "nothing:" + EMPTY,
                   "old:" + APR1, "")).encode()

HAS_CRYPT = "+libcrypt" in run("--version").stdout

CHALLENGE = 'Basic realm="the vault", charset="UTF-8"'


def basic(user, password=None):
    text = user if password is None else user + ":" + password
    raw = text if isinstance(text, bytes) else text.encode()
    return "Authorization: Basic " + base64.b64encode(raw).decode()


class Site(TestCase):
    @classmethod
    def setUpClass(cls):
        if not HAS_CRYPT:
            raise unittest.SkipTest("built without libcrypt")
        super().setUpClass()

    @classmethod
    def serve(cls):
        for name in ("vault/x", "vault/open/x", "x", "host/x"):
            tree.write(cls.root, "www/" + name, name)
        cls.users = tree.write(cls.root, "users", USERS)
        cls.others = tree.write(cls.root, "others", ("dave:" + BCRYPT + "\n").encode())
        cls.access = os.path.join(cls.root, "access.log")
        return Daemon(config=configuration(hosts=[host(
            cls.root + "/www",
            {"path": "/vault/", "auth": {"realm": "the vault", "users": cls.users}},
            {"path": "/vault/open/", "auth": {"users": ""}},
            {"path": "/vault/others/", "auth": {"realm": "others", "users": cls.others}},
            {"path": "/echo", "handler": "echo", "auth": {"realm": "the vault", "users": cls.users}},
            {"path": "/old/", "redirect": {"status": 301, "to": "/new/"},
             "auth": {"users": cls.users}},
            {"path": "/both/", "allow": ["192.0.2.1"], "auth": {"users": cls.users}},
            {"path": "/pages/", "auth": {"users": cls.users},
             "error_pages": [{"status": 401, "file": "/x"}]},
            access_log={"target": cls.access, "format": "%U %s %u"},
        )]), expect=[r"users:8: left out: .*apr1"])


# label, field lines, status
CREDENTIALS = (
    ("none", [], 401),
    ("bcrypt", [basic("alice", "secret")], 200),
    ("SHA-512", [basic("bob", "secret")], 200),
    ("yescrypt", [basic("carol", "secret")], 200),
    ("7617 2.1 UTF-8", [basic("j\u00fcrgen", "p\u00e4ssw\u00f6rd \u20ac")], 200),
    ("the same in Latin-1", [basic("j\u00fcrgen:p\u00e4ssw\u00f6rd".encode("latin-1"))], 401),
    ("colons in the password", [basic("colon", "a:b:c")], 200),
    ("an empty password", [basic("nothing", "")], 200),
    ("wrong password", [basic("alice", "Secret")], 401),
    ("no password", [basic("alice", "")], 401),
    ("unknown user", [basic("mallory", "secret")], 401),
    ("a hash of a kind that is not taken", [basic("old", "secret")], 401),
    ("the hash itself", [basic("alice", BCRYPT)], 401),
    ("of another file", [basic("dave", "secret")], 401),
    ("a remark of the file", [basic("# who may", "secret")], 401),
    ("any case of the scheme", [basic("alice", "secret").replace("Basic", "bAsIc")], 200),
    ("empty user", [basic("", "secret")], 401),
    ("no colon", [basic("alice")], 401),
    ("bytes above 0x7F", [basic(b"\xff\xfe:\xff")], 401),
    ("control bytes", [basic("alice", "sec\nret")], 401),
    ("a NUL behind the right password", [basic("alice", "secret\0x")], 401),
    ("a NUL behind the name", [basic("alice\0x", "secret")], 401),
    ("bad padding", [basic("bob", "secret").rstrip("=")], 401),
    ("no base64", ["Authorization: Basic %%%%"], 401),
    ("8 KiB", ["Authorization: Basic " + "QUFB" * 2048], 401),
    ("a long password", [basic("alice", "x" * 5000)], 401),
    ("another scheme", ["Authorization: Bearer " + basic("alice", "secret").split()[-1]], 401),
    ("the scheme alone", ["Authorization: Basic"], 401),
    ("empty", ["Authorization:"], 401),
    ("two of them", [basic("alice", "secret"), basic("alice", "wrong")], 401),
    ("two that are right", [basic("alice", "secret"), basic("alice", "secret")], 401),
)


@suite.cases(CREDENTIALS)
class Credentials(Site):
    def check(self, _label, fields, status):
        for _ in range(2):  # the second time what was right is known
            response = fetch(self.address, "/vault/x", fields=fields)
            self.assertEqual(response.status, status)
            if status == 401:
                self.assertEqual(response.all("WWW-Authenticate"), [CHALLENGE])
                self.assertIsNone(response.get("ETag"))
                self.assertNotIn(b"vault/x", response.body)
            else:
                self.assertEqual(response.body, b"vault/x")
                self.assertIsNone(response.get("WWW-Authenticate"))


class Places(Site):
    def get(self, target, fields=(basic("alice", "secret"),), method="GET"):
        return fetch(self.address, target, method, list(fields))

    def test_where_it_is_asked(self):
        self.assertEqual(self.get("/x", ()).status, 200)
        self.assertEqual(self.get("/vault/open/x", ()).body, b"vault/open/x")
        self.assertEqual(self.get("/vault/../vault/x", ()).status, 401)
        self.assertEqual(self.get("/%76ault/x", ()).status, 401)
        self.assertEqual(self.get("//vault//x", ()).status, 401)

    def test_what_is_not_there_is_asked_for_too(self):
        """Names are not to be found out without one."""
        self.assertEqual(self.get("/vault/none", ()).status, 401)
        self.assertEqual(self.get("/vault/none").status, 404)

    def test_each_place_has_its_own(self):
        self.assertEqual(self.get("/vault/others/x").status, 401)
        self.assertEqual(self.get("/vault/others/x", [basic("dave", "secret")]).status, 404)
        self.assertEqual(self.get("/vault/others/x", ()).get("WWW-Authenticate"),
                         'Basic realm="others", charset="UTF-8"')

    def test_every_method(self):
        for method in ("GET", "HEAD", "OPTIONS", "POST", "DELETE"):
            self.assertEqual(self.get("/vault/x", (), method).status, 401, method)
        self.assertEqual(self.get("/vault/x", method="HEAD").status, 200)
        self.assertEqual(self.get("/vault/x", method="POST").status, 405)
        self.assertIn("GET", self.get("/vault/x", method="OPTIONS").get("Allow"))

    def test_redirects(self):
        self.assertEqual(self.get("/old/x", ()).status, 401)
        self.assertEqual(self.get("/old/x").get("Location"), "/new/x")

    def test_the_address_goes_first(self):
        self.assertEqual(self.get("/both/x").status, 403)

    def test_page_of_the_site(self):
        response = self.get("/pages/x", ())
        self.assertEqual((response.status, response.body), (401, b"x"))
        self.assertTrue(response.get("WWW-Authenticate"))

    def test_pipelined(self):
        """Each request has its own credentials; answers keep their order."""
        good, bad = basic("bob", "secret"), basic("bob", "wrong")
        data = (request("/vault/x", fields=[bad]) + request("/x") + request("/vault/x", fields=[good])
                + request("/vault/x", "HEAD", [good]) + request("/vault/x"))
        statuses = [r.status for r in exchange(self.address, data, ("GET",) * 3 + ("HEAD", "GET"))]
        self.assertEqual(statuses, [401, 200, 200, 200, 401])

    def test_split(self):
        data = request("/vault/x", fields=[basic("carol", "secret")])
        self.assertEqual(exchange(self.address, data, slowly=7)[0].status, 200)

    def test_content_waits(self):
        """What is posted goes to the handler once the password is known to be right."""
        body = tree.content(200000)
        fields = [basic("alice", "secret"), "Content-Length: %d" % len(body)]
        response, = exchange(self.address, request("/echo", "POST", fields, body=body), ("POST",))
        self.assertTrue(response.body == body)
        fields[0] = basic("bob", "secret")
        fields[1] = "Transfer-Encoding: chunked"
        data = request("/echo", "POST", fields, body=b"5\r\nhello\r\n0\r\n\r\n")
        response, = exchange(self.address, data, ("POST",))
        self.assertEqual(response.body, b"hello")

    def test_content_of_who_may_not(self):
        with Connection(self.address) as connection:
            connection.send(request("/echo", "POST", ["Content-Length: 5"], body=b"hello"))
            self.assertEqual(connection.read_response("POST").status, 401)
            connection.send(request("/x"))
            self.assertEqual(connection.read_response().body, b"x")

    def test_expectation(self):
        """9110 10.1.1: 100 once the content is wanted, 401 instead of it."""
        fields = [basic("j\u00fcrgen", "p\u00e4ssw\u00f6rd \u20ac"), "Content-Length: 5",
                  "Expect: 100-continue"]
        for _ in range(2):  # after a wait, and when it is known
            with Connection(self.address) as connection:
                connection.send(request("/echo", "POST", fields))
                self.assertEqual(connection.read_head("POST").status, 100)
                connection.send(b"hello")
                self.assertEqual(connection.read_response("POST").body, b"hello")
        with Connection(self.address) as connection:
            connection.send(request("/echo", "POST", fields[1:]))
            self.assertEqual(connection.read_head("POST").status, 401)

    def test_clients_that_go_away(self):
        """In the middle of the question, by a close or a reset."""
        for number in range(40):
            connection = Connection(self.address)
            connection.send(request("/vault/x", fields=[basic("alice", "guess%d" % number)]))
            if number % 2:
                connection.reset()
            else:
                connection.close()
        self.assertEqual(self.get("/vault/x").status, 200)

    @unless_poor("there are not descriptors enough for 201 clients at once")
    def test_many_at_once(self):
        """All are answered: 200, 401, or 503 where too many wait."""
        clients = [Connection(self.address, timeout=60) for _ in range(200)]
        for number, client in enumerate(clients):
            word = "secret" if number % 50 == 0 else "guess%d" % number
            client.send(request("/vault/x", fields=[basic("bob", word)]))
        self.assertEqual(self.get("/x", ()).body, b"x")  # nobody else waits for them
        for number, client in enumerate(clients):
            with client:
                response = client.read_response()
                self.assertIn(response.status, (200, 503) if number % 50 == 0 else (401, 503))
                if response.status == 503:
                    self.assertEqual(response.get("Retry-After"), "1")

    def test_the_log_names_who_was_let_in(self):
        self.get("/vault/x?")
        self.get("/vault/none2", [basic("j\u00fcrgen", "p\u00e4ssw\u00f6rd \u20ac")])
        self.get("/vault/none3", [basic("alice", "forged")])
        self.get("/x", [basic("mallory", "secret")])

        def lines():
            with open(self.access, encoding="latin-1") as file:
                return file.read().splitlines()

        wait_until(lambda: any(l.startswith("/vault/none3 ") for l in lines()), "the log")
        self.assertIn("/vault/x 200 alice", lines())
        self.assertIn("/vault/none2 404 j\\xc3\\xbcrgen", lines())
        self.assertIn("/vault/none3 401 -", lines())
        self.assertNotIn("mallory", "\n".join(lines()))


class Changes(Site):
    def status(self, user, password="secret", target="/vault/others/none"):
        return fetch(self.address, target, fields=[basic(user, password)]).status

    def test_a_change_is_seen_within_a_second(self):
        """Of who may no more, although he was let in before; and of who may now."""
        self.assertEqual(self.status("dave"), 404)
        self.assertEqual(self.status("erin"), 401)
        try:
            tree.replace(self.others, ("erin:" + BCRYPT + "\n").encode())
            wait_until(lambda: self.status("dave") == 401, "dave is let in no more")
            self.assertEqual(self.status("erin"), 404)
            os.unlink(self.others)
            self.daemon.expect.append("others: cannot be read")
            wait_until(lambda: self.status("erin") == 401, "nobody is let in by a file that is gone")
        finally:
            tree.replace(self.others, ("dave:" + BCRYPT + "\n").encode())
        self.assertEqual(self.status("dave"), 404)


class Start(unittest.TestCase):
    def test_a_file_that_workers_cannot_read(self):
        """Nobody is let in by it until it can be read; all else is served."""
        if os.getuid() != 0 or not HAS_CRYPT:
            self.skipTest("only root can drop its rights, and libcrypt is needed")
        with tempfile.TemporaryDirectory() as root:
            os.chmod(root, 0o755)
            users = tree.write(root, "users", USERS)
            os.chmod(users, 0o600)
            for name in ("www/x", "www/vault/x"):
                tree.write(root, name, name)
            config = configuration(
                user="nobody",
                hosts=[host(root + "/www", {"path": "/vault/", "auth": {"users": users}})])
            daemon = Daemon(config=config, expect=["users: cannot be read", "left out"])
            os.chmod(daemon.folder, 0o755)

            def status(user="alice"):
                return fetch(daemon.address, "/vault/x", fields=[basic(user, "secret")]).status

            with daemon:  # without its rights, behind the filter of system calls
                self.assertEqual(fetch(daemon.address, "/x").body, b"www/x")
                self.assertEqual(fetch(daemon.address, "/vault/x").status, 401)
                self.assertEqual(status(), 401)
                daemon.log.wait("nobody is let in, since the file of users cannot be read")
                os.chmod(users, 0o644)
                for user in ("alice", "bob", "carol"):
                    self.assertEqual(status(user), 200, user)
                self.assertEqual(fetch(daemon.address, "/vault/x").status, 401)
                os.chmod(users, 0o600)
                wait_until(lambda: status() == 401, "alice is let in no more")
                worker, = children(daemon.process.pid)
                os.kill(worker, signal.SIGKILL)  # a successor finds the file as it is now
                daemon.expect.append("ended by signal")
                wait_until(lambda: children(daemon.process.pid) not in ([], [worker]), "a successor")
                self.assertEqual(fetch(daemon.address, "/x").body, b"www/x")
                self.assertEqual(status(), 401)


class Guessing(TestCase):
    """Many connections of one address guess at one realm. Its users lie on a disk that does not answer
    until all have asked; then the access log has the order of the answers, and nothing depends on how
    long a hash takes."""

    GUESSES, WAITING = 140, 128
    GUESSER, OTHER = "127.0.0.2", "127.0.0.3"

    @classmethod
    def setUpClass(cls):
        if not HAS_CRYPT:
            raise unittest.SkipTest("built without libcrypt")
        super().setUpClass()

    @classmethod
    def serve(cls):
        gated_fs.require()
        tree.write(cls.root, "www/guessed/x", "guessed")
        tree.write(cls.root, "www/quiet/x", "quiet")
        os.mkdir(os.path.join(cls.root, "disk"))
        cls.disk = gated_fs.GatedFs(os.path.join(cls.root, "disk"), {"users": USERS})
        cls.addClassCleanup(cls.disk.close)
        quiet = tree.write(cls.root, "quiet", ("dave:" + BCRYPT + "\n").encode())
        cls.access = os.path.join(cls.root, "access.log")
        return Daemon(config=configuration(hosts=[host(
            cls.root + "/www",
            {"path": "/guessed/", "auth": {"realm": "guessed", "users": cls.root + "/disk/users"}},
            {"path": "/quiet/", "auth": {"realm": "quiet", "users": quiet}},
            access_log={"target": cls.access, "format": "%a %U %s"},
        )]), expect=[r"users:8: left out: .*apr1"])

    def ask(self, source, target, credentials):
        connection = Connection(self.address, 30, source=source)
        self.addCleanup(connection.close)
        connection.send(request(target, fields=[credentials]))
        return connection

    def logged(self, count):
        """The lines of the access log once there are so many."""
        def lines():
            with open(self.access, encoding="ascii") as file:
                found = file.read().splitlines()
            return found if len(found) >= count else None
        return wait_until(lines, "%d lines in the access log" % count)

    def statuses(self, connections, count):
        """Of the first `count` that are answered, in whatever order; those are taken out."""
        found = []
        while len(found) < count:
            answered = select.select(connections, [], [], 10 * TIME_SCALE)[0]
            self.assertTrue(answered, "nobody is answered")
            for ready in answered:
                connections.remove(ready)
                found.append(ready.read_response().status)
        return found

    @unless_poor("there are not descriptors enough for 140 clients at once")
    def test_guesses_lock_out_nobody_else(self):
        turned_away = self.GUESSES - self.WAITING
        self.disk.gate.clear()
        try:
            guesses = [self.ask(self.GUESSER, "/guessed/x", basic("alice", "guess %d" % number))
                       for number in range(self.GUESSES)]
            self.disk.wait_for(1, 10 * TIME_SCALE)
            self.assertEqual(self.statuses(guesses, turned_away), [503] * turned_away)
            honest = [self.ask(self.OTHER, "/guessed/x", basic("alice", "secret"))]
            self.assertEqual(self.statuses(guesses, 1), [503])  # it made way
            honest.append(self.ask(self.GUESSER, "/quiet/x", basic("dave", "secret")))
            self.assertEqual(self.ask(self.OTHER, "/", "X: y").read_response().status, 403)  # it has all asked
        finally:
            self.disk.gate.set()
        self.assertEqual([connection.read_response().body for connection in honest], [b"guessed", b"quiet"])
        self.assertEqual(set(self.statuses(guesses, self.WAITING - 1)), {401})
        order = self.logged(self.GUESSES + 3)[turned_away + 2:]
        self.assertLess(order.index("%s /guessed/x 200" % self.OTHER), 5)
        self.assertLess(order.index("%s /quiet/x 200" % self.GUESSER), 5)


if __name__ == "__main__":
    suite.main()
