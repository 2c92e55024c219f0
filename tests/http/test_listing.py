# SPDX-License-Identifier: MIT
"""Listings of folders, for people and as JSON."""

import base64
import hashlib
import json
import os
import pathlib
import re

import suite
import tree
from evixd import Daemon, TestCase, memory_bytes, wait_until
from wire import Connection, fetch, request

ACCEPT_JSON = ["Accept: application/json"]


class Site(TestCase):
    @classmethod
    def serve(cls):
        for name, data in ((b"b.txt", b"bb"), (b"a.txt", b"a"), (b"empty.txt", b""),
                           (b"q\"uote<&>'.txt", b"q"), (b"new\nline", b"n"), (b"\xff\xfe", b"f"),
                           (b"folder/x", b"x"), (b".hidden", b"h"), (b"..x", b"x"), (b"-leading", b"-"), (b"100% #?.txt", b"p")):
            tree.write(cls.root, name, data)
        os.mkdir(os.path.join(cls.root, "nothing"))
        os.symlink("/etc/passwd", os.path.join(cls.root, "outside"))
        os.symlink("a.txt", os.path.join(cls.root, "inside"))
        os.mkfifo(os.path.join(cls.root, "fifo"))
        return Daemon(directory=cls.root)


class Page(Site):
    def test_head_and_type(self):
        """One Content-Type, with its charset."""
        for method in ("GET", "HEAD"):
            response = fetch(self.address, "/", method)
            self.assertEqual(response.status, 200)
            self.assertEqual(response.get("Content-Type"), "text/html; charset=utf-8")

    def test_is_a_whole_document(self):
        page = fetch(self.address, "/").body.decode("utf-8")
        self.assertTrue(page.lower().startswith("<!doctype html>"))
        self.assertTrue(page.rstrip().endswith("</html>"))
        self.assertIn("viewport", page)
        self.assertNotRegex(page, r"(src|href)=\"https?://")

    def test_runs_and_loads_nothing(self):
        """The policy lets nothing in but the page's own style, known by its hash."""
        response = fetch(self.address, "/")
        page = response.body.decode("utf-8")
        for pattern in (r"<script", r"\sstyle=", r"\son[a-z]+="):
            self.assertNotRegex(page, pattern)
        style, = re.findall(r"<style>(.*?)</style>", page, re.DOTALL)
        digest = base64.b64encode(hashlib.sha256(style.encode()).digest()).decode()
        self.assertIn("style-src 'sha256-%s'" % digest, response.get("Content-Security-Policy"))
        # Who adds a policy needs it.
        manual = pathlib.Path(__file__).resolve().parents[2] / "man" / "evixd.conf.5"
        self.assertIn("'sha256-%s'" % digest, manual.read_text("utf-8"))

    def test_hidden_names_are_left_out(self):
        page = fetch(self.address, "/").body
        self.assertNotIn(b".hidden", page)
        self.assertNotIn(b"..x", page)

    def test_names_are_escaped(self):
        page = fetch(self.address, "/").body.decode("utf-8")
        self.assertIn("q%22uote%3C%26%3E%27.txt", page)
        self.assertNotIn("uote<&>", page)
        self.assertIn("100%25%20%23%3F.txt", page)

    def test_post_is_refused(self):
        self.assertEqual(fetch(self.address, "/", "POST").status, 405)

    def test_empty_folder(self):
        self.assertEqual(fetch(self.address, "/nothing/").status, 200)

    def test_links_lead_where_they_say(self):
        self.assertEqual(fetch(self.address, "/folder/").status, 200)
        self.assertIn(b"x", fetch(self.address, "/folder/").body)


class Json(Site):
    def entries(self, target="/"):
        response = fetch(self.address, target, fields=ACCEPT_JSON)
        self.assertEqual(response.status, 200)
        self.assertTrue(response.get("Content-Type").startswith("application/json"))
        entries = json.loads(response.body.decode("utf-8"))
        self.assertIsInstance(entries, list)
        return entries

    def test_valid_whatever_the_names(self):
        """Valid JSON, whatever the names."""
        names = [entry["name"] for entry in self.entries()]
        for name in ("a.txt", "b.txt", "new\nline", "q\"uote<&>'.txt"):
            self.assertIn(name, names)

    def test_empty_folder_is_an_empty_list(self):
        self.assertEqual(self.entries("/nothing/"), [])

    def test_empty_file_is_a_file_of_size_0(self):
        """An empty file is a file, of size 0."""
        entry, = [e for e in self.entries() if e["name"] == "empty.txt"]
        self.assertEqual((entry["type"], entry["size"]), ("file", 0))

    def test_folder_is_a_directory(self):
        entry, = [e for e in self.entries() if e["name"].rstrip("/") == "folder"]
        self.assertEqual(entry["type"], "directory")

    def test_vary(self):
        """9110 12.5.5: the answer depends on Accept, and says so."""
        self.assertIn("accept", fetch(self.address, "/").members("Vary"))
        self.assertIn("accept", fetch(self.address, "/", fields=ACCEPT_JSON).members("Vary"))

    def test_what_is_asked_for_decides(self):
        for accept, kind in (("text/html,application/xhtml+xml,*/*;q=0.8", "text/html"),
                             ("*/*", "text/html"), ("application/json;q=0.1, text/html", "text/html"),
                             ("application/json, text/html;q=0.5", "application/json")):
            response = fetch(self.address, "/", fields=["Accept: " + accept])
            self.assertTrue(response.get("Content-Type").startswith(kind), accept)


@suite.cases([
    ("by name", "", ["d/", "a", "B", "c"]),
    ("name said", "?sort=name&order=asc", ["d/", "a", "B", "c"]),
    ("name turned round", "?sort=name&order=desc", ["d/", "c", "B", "a"]),
    ("by size, largest first", "?sort=size", ["d/", "B", "c", "a"]),
    ("by size, smallest first", "?sort=size&order=asc", ["d/", "a", "c", "B"]),
    ("by time, latest first", "?sort=time", ["d/", "c", "a", "B"]),
    ("by time, earliest first", "?order=asc&sort=time", ["d/", "B", "a", "c"]),
    ("order alone", "?order=desc", ["d/", "c", "B", "a"]),
    ("nonsense is ignored", "?sort=colour&order=sideways&x&=&&sort", ["d/", "a", "B", "c"]),
])
class Sorted(TestCase):
    @classmethod
    def serve(cls):
        for name, size, modified in (("a", 0, 2000), ("B", 2000, -1000), ("c", 10, 3000)):
            path = tree.write(cls.root, name, b"x" * size)
            os.utime(path, (modified, modified))
        os.mkdir(os.path.join(cls.root, "d"))
        return Daemon(directory=cls.root)

    def check(self, _label, query, expected):
        """The same order for people and programs."""
        entries = json.loads(fetch(self.address, "/" + query, fields=ACCEPT_JSON).body)
        self.assertEqual([e["name"] + "/" * (e["type"] == "directory") for e in entries], expected)
        page = fetch(self.address, "/" + query).body.decode("utf-8")
        self.assertEqual(re.findall(r'<td><a href="\./([^"]+)"', page), expected)


class Tag(TestCase):
    """9110 8.8.3: a weak tag that changes with what is listed."""

    @classmethod
    def serve(cls):
        tree.write(cls.root, "folder/a.txt", b"a")
        return Daemon(directory=cls.root)

    def tag(self, target="/folder/", fields=()):
        return fetch(self.address, target, fields=fields).get("ETag")

    def test_not_modified(self):
        tag = self.tag()
        self.assertRegex(tag, r'^W/"[0-9a-f]{16}"$')
        for method in ("GET", "HEAD"):
            for value in (tag, tag[2:], '"other", ' + tag, "*"):
                response = fetch(self.address, "/folder/", method, ["If-None-Match: " + value])
                self.assertEqual(response.status, 304, value)
                self.assertEqual(response.get("ETag"), tag)
                self.assertIn("accept", response.members("Vary"))
                self.assertIsNone(response.get("Content-Type"))

    def test_forms_and_orders_differ(self):
        tags = [self.tag(), self.tag(fields=ACCEPT_JSON), self.tag("/folder/?sort=size"),
                self.tag("/folder/?sort=size&order=asc"), self.tag("/")]
        self.assertEqual(len(set(tags)), len(tags))

    def test_change_is_seen(self):
        tag = self.tag()
        tree.write(self.root, "folder/b.txt", b"b")
        response = fetch(self.address, "/folder/", fields=["If-None-Match: " + tag])
        self.assertEqual(response.status, 200)
        self.assertIn(b"b.txt", response.body)
        self.assertNotEqual(response.get("ETag"), tag)

    def test_strong_comparison_fails(self):
        """9110 13.1.1: If-Match compares strongly, which a weak tag never passes."""
        response = fetch(self.address, "/folder/", fields=["If-Match: " + self.tag()])
        self.assertEqual(response.status, 412)
        self.assertIsNone(response.get("ETag"))

    def test_head_is_get_without_content(self):
        for fields in ((), ACCEPT_JSON):
            get = fetch(self.address, "/folder/", "GET", fields)
            head = fetch(self.address, "/folder/", "HEAD", fields)
            self.assertEqual([f for f in get.fields if f[0] != "date"],
                             [f for f in head.fields if f[0] != "date"])


class Deleted(TestCase):
    """A directory that goes away is an error with a status, not a page that ends early."""

    @classmethod
    def serve(cls):
        return Daemon(directory=cls.root)

    def test_deleted(self):
        path = os.path.join(self.root, "gone")
        os.mkdir(path)
        self.assertEqual(fetch(self.address, "/gone/").status, 200)
        os.rmdir(path)
        self.assertEqual(fetch(self.address, "/gone/").status, 404)


class Large(TestCase):
    COUNT = 20000

    @classmethod
    def serve(cls):
        os.mkdir(os.path.join(cls.root, "many"))
        for number in range(cls.COUNT):
            os.close(os.open(
                os.path.join(cls.root, "many", "file-%05d-with-a-rather-long-name.txt" % number),
                os.O_CREAT | os.O_WRONLY,
            ))
        tree.write(cls.root, "small.txt", b"small")
        return Daemon(directory=cls.root)

    def test_complete_in_bounded_memory_while_others_are_served(self):
        """Streamed: other clients are served meanwhile."""
        pid = self.daemon.worker_pids[0]
        fetch(self.address, "/small.txt")
        before = memory_bytes(pid, "VmHWM")
        with Connection(self.address, receive_buffer=65536, timeout=30) as listing:
            listing.send(request("/many/"))
            self.assertEqual(fetch(self.address, "/small.txt").body, b"small")
            page = listing.read_response().body
        for number in (0, 1, self.COUNT // 2, self.COUNT - 1):
            self.assertIn(b"file-%05d-" % number, page)
        self.assertLess(memory_bytes(pid, "VmHWM") - before, 32 << 20)

    def test_json_too(self):
        response = fetch(self.address, "/many/", fields=ACCEPT_JSON, timeout=30)
        self.assertEqual(len(json.loads(response.body)), self.COUNT)

    def test_client_that_leaves_within_a_listing(self):
        for _ in range(5):
            with Connection(self.address, receive_buffer=4096) as connection:
                connection.send(request("/many/"))
                connection.receive(1000)
        self.assertEqual(fetch(self.address, "/small.txt").body, b"small")


class Burst(TestCase):
    """All that listings hold is 64 MiB, however many are asked for before the first was read."""

    NAMES, CLIENTS = 30000, 40
    NAME = "%05d" + "-" * 220
    BYTES = NAMES * (len(NAME % 0) + 1 + 32)  # of one in memory: names, and a row for each

    @classmethod
    def serve(cls):
        folder = os.path.join(cls.root, "many")
        os.mkdir(folder)
        first = tree.write(folder, cls.NAME % 0)
        for number in range(1, cls.NAMES):
            os.link(first, os.path.join(folder, cls.NAME % number))
        return Daemon(directory=cls.root)

    def start_all(self):
        clients = []
        for _ in range(self.CLIENTS):
            clients.append(Connection(self.address, receive_buffer=4096, timeout=60))
            self.addCleanup(clients[-1].close)
        for client in clients:
            client.send(request("/many/"))
        return clients

    def test_clients_that_take_nothing(self):
        for _ in range(2):  # what was held is given back
            clients = self.start_all()
            heads = [client.read_head() for client in clients]
            served = [head.status for head in heads].count(200)
            self.assertGreaterEqual(served, 1)
            self.assertLessEqual(served, (64 << 20) // self.BYTES)
            refused = [head for head in heads if head.status != 200]
            self.assertEqual({head.status for head in refused}, {503})
            self.assertEqual({head.get("retry-after") for head in refused}, {"5"})
            for client in clients:
                client.reset()
            self.wait_for_room()

    def wait_for_room(self):
        """The ends of connections are seen by the server in no certain order."""
        def is_served():
            with Connection(self.address, receive_buffer=4096, timeout=60) as client:
                client.send(request("/many/"))
                return client.read_head().status == 200
        wait_until(is_served, "a listing finds room")


if __name__ == "__main__":
    suite.main()
