# SPDX-License-Identifier: MIT
"""Conditional requests, RFC 9110 13, in the order of 13.2.2."""

import email.utils
import os
import shutil

import suite
import tree
from evixd import Daemon, TestCase, configuration, host
from wire import Connection, fetch, request

DAY = 86400

# label, fields (TAG, DATE, BEFORE and AFTER are put in), status for GET
ROWS = (
    ("13.1.2 the same tag", ["If-None-Match: TAG"], 304),
    ("13.1.2 weak comparison", ["If-None-Match: W/TAG"], 304),
    ("13.1.2 among others", ['If-None-Match: "a", "b" , TAG, W/"c"'], 304),
    ("13.1.2 on a second line", ['If-None-Match: "a"', "If-None-Match: TAG"], 304),
    ("13.1.2 another tag", ['If-None-Match: "other"'], 200),
    ("13.1.2 the same tag, with something behind it", ["If-None-Match: TAGx"], 304),
    ("13.1.2 asterisk", ["If-None-Match: *"], 304),
    ("13.1.2 asterisk in quotes is a tag", ['If-None-Match: "*"'], 200),
    ("13.1.2 malformed list is no match", ["If-None-Match: other"], 200),
    ("13.1.2 empty", ["If-None-Match:"], 200),
    ("13.1.3 the same date", ["If-Modified-Since: DATE"], 304),
    ("13.1.3 a later date", ["If-Modified-Since: AFTER"], 304),
    ("13.1.3 an earlier date", ["If-Modified-Since: BEFORE"], 200),
    ("13.1.3 no date", ["If-Modified-Since: yesterday"], 200),
    ("13.1.3 sent twice is no valid date", ["If-Modified-Since: DATE", "If-Modified-Since: DATE"], 200),
    ("13.1.3 a list of dates is none", ["If-Modified-Since: DATE, DATE"], 200),
    ("13.1.3 a date far in the future", ["If-Modified-Since: Fri, 31 Dec 9999 23:59:59 GMT"], 304),
    ("13.1.3 a day that is none", ["If-Modified-Since: Fri, 32 Dec 2099 23:59:59 GMT"], 200),
    ("13.1.3 another time zone", ["If-Modified-Since: Fri, 31 Dec 2099 23:59:59 CET"], 200),
    ("13.1.3 seconds since 1970", ["If-Modified-Since: 4102444799"], 200),
    ("13.1.3 empty", ["If-Modified-Since:"], 200),
    ("5.6.7 date of RFC 850", ["If-Modified-Since: RFC850"], 304),
    ("5.6.7 date of asctime", ["If-Modified-Since: ASCTIME"], 304),
    ("5.6.7 two digits of a year long past", ["If-Modified-Since: Sunday, 06-Nov-94 08:49:37 GMT"], 200),
    ("the tag wins over the date", ['If-None-Match: "other"', "If-Modified-Since: DATE"], 200),
    ("13.2.2 the tag wins the other way too", ["If-None-Match: TAG", "If-Modified-Since: BEFORE"], 304),
    ("13.1.1 If-Match holds", ["If-Match: TAG"], 200),
    ("13.1.1 If-Match fails", ['If-Match: "other"'], 412),
    ("13.1.1 If-Match compares strongly", ["If-Match: W/TAG"], 412),
    ("13.1.1 If-Match asterisk", ["If-Match: *"], 200),
    ("13.1.1 If-Match among others", ['If-Match: "a", TAG,"b"'], 200),
    ("13.1.1 If-Match on a second line", ['If-Match: "a"', "If-Match: TAG"], 200),
    ("13.1.1 If-Match with weak ones alone", ['If-Match: W/TAG, W/"b"'], 412),
    ("13.1.1 If-Match malformed is no match", ["If-Match: other"], 412),
    ("13.1.1 If-Match empty is no match", ["If-Match:"], 412),
    ("13.1.1 If-Match with a comma in a tag", ['If-Match: "a,b", TAG'], 200),
    ("13.1.4 If-Unmodified-Since holds", ["If-Unmodified-Since: DATE"], 200),
    ("13.1.4 If-Unmodified-Since fails", ["If-Unmodified-Since: BEFORE"], 412),
    ("13.1.4 If-Unmodified-Since with a date of RFC 850", ["If-Unmodified-Since: Sunday, 06-Nov-94 08:49:37 GMT"], 412),
    ("13.1.4 If-Unmodified-Since with a date of asctime", ["If-Unmodified-Since: Sun Nov  6 08:49:37 1994"], 412),
    ("13.1.4 If-Unmodified-Since with no date", ["If-Unmodified-Since: yesterday"], 200),
    ("13.1.4 If-Unmodified-Since with a list of dates", ["If-Unmodified-Since: BEFORE, BEFORE"], 200),
    ("13.1.4 If-Unmodified-Since sent twice", ["If-Unmodified-Since: BEFORE", "If-Unmodified-Since: BEFORE"], 200),
    ("13.2.2 If-Unmodified-Since fails before If-None-Match", ["If-Unmodified-Since: BEFORE", "If-None-Match: TAG"], 412),
    ("13.2.2 If-Unmodified-Since holds, If-Modified-Since decides", ["If-Unmodified-Since: DATE", "If-Modified-Since: DATE"], 304),
    ("13.2.2 a 412 comes before a range", ['If-Match: "other"', "Range: bytes=0-1"], 412),
    ("13.2.2 If-Match holds, then the range", ["If-Match: TAG", "Range: bytes=0-1"], 206),
    ("13.2.2 a 304 comes before If-Range", ["If-None-Match: TAG", 'If-Range: "other"', "Range: bytes=0-1"], 304),
    ("13.2.2 If-Match wins over If-Unmodified-Since", ["If-Match: TAG", "If-Unmodified-Since: BEFORE"], 200),
    ("13.2.2 If-Match fails first", ['If-Match: "other"', "If-None-Match: TAG"], 412),
    ("13.2.2 If-Match holds, If-None-Match decides", ["If-Match: TAG", "If-None-Match: TAG"], 304),
    ("13.2.2 a 304 comes before a range", ["If-None-Match: TAG", "Range: bytes=0-1"], 304),
    ("13.1.5 If-Range with the tag", ["If-Range: TAG", "Range: bytes=0-1"], 206),
    ("If-Range with a weak tag", ["If-Range: W/TAG", "Range: bytes=0-1"], 200),
    ("13.1.5 If-Range with another tag", ['If-Range: "other"', "Range: bytes=0-1"], 200),
    ("13.1.5 If-Range with the date", ["If-Range: DATE", "Range: bytes=0-1"], 206),
    ("13.1.5 If-Range with a later date", ["If-Range: AFTER", "Range: bytes=0-1"], 200),
    ("13.1.5 If-Range with an earlier date", ["If-Range: BEFORE", "Range: bytes=0-1"], 200),
    ("13.1.5 If-Range without Range", ['If-Range: "other"'], 200),
    ("13.1.5 If-Range fails before a range is judged", ['If-Range: "other"', "Range: bytes=99999-"], 200),
)


class Site(TestCase):
    @classmethod
    def serve(cls):
        path = tree.write(cls.root, "page.html", "<p>page\n")
        cls.modified = 1700000000
        os.utime(path, (cls.modified, cls.modified))
        return Daemon(directory=cls.root)

    def words(self):
        full = fetch(self.address, "/page.html")
        moment = email.utils.formatdate
        import time
        utc = time.gmtime(self.modified)
        return {
            "TAG": full.get("ETag"),
            "DATE": moment(self.modified, usegmt=True),
            "BEFORE": moment(self.modified - DAY, usegmt=True),
            "AFTER": moment(self.modified + DAY, usegmt=True),
            "RFC850": time.strftime("%A, %d-%b-%y %H:%M:%S GMT", utc),
            "ASCTIME": time.strftime("%a %b ", utc) + "%2d" % utc.tm_mday
            + time.strftime(" %H:%M:%S %Y", utc),
        }


@suite.cases(ROWS)
class Conditions(Site):
    def check(self, _label, lines, status):
        for word, text in self.words().items():
            lines = [line.replace(word, text) for line in lines]
        for method in ("GET", "HEAD"):
            response = fetch(self.address, "/page.html", method, lines)
            wanted = status if isinstance(status, tuple) else (status,)
            if method == "HEAD" and 206 in wanted:
                wanted = (200,)
            self.assertIn(response.status, wanted, method)
            if response.status == 304:
                self.check_304(response)

    def check_304(self, response):
        """15.4.5: the tag, and nothing that describes content that is not there."""
        self.assertEqual(response.body, b"")
        self.assertEqual(response.get("ETag"), self.words()["TAG"])
        self.assertLessEqual(
            {name for name, _ in response.fields},
            {"date", "server", "etag", "vary", "connection", "x-content-type-options"},
        )


class Others(Site):
    def test_conditions_of_a_missing_file(self):
        """13.2.1: they are not looked at where the answer would not be a success."""
        for field in ("If-None-Match: *", 'If-Match: "x"', "If-Modified-Since: " + email.utils.formatdate(usegmt=True)):
            self.assertEqual(fetch(self.address, "/none", fields=[field]).status, 404, field)

    def test_a_304_says_what_caches_go_by(self):
        """15.4.5: Cache-Control, Expires and Vary as a 200 would, and of the rest no more than it
        must."""
        rule = {"Cache-Control": "max-age=60", "Expires": "Thu, 01 Jan 1970 00:00:00 GMT"}
        with Daemon(config=configuration(
            hosts=[host(self.root, {"path": "/", "headers": rule})]
        )) as daemon:
            full = fetch(daemon.address, "/page.html")
            for field in ("If-None-Match: *", "If-Modified-Since: " + full.get("Last-Modified")):
                response = fetch(daemon.address, "/page.html", fields=[field])
                self.assertEqual(response.status, 304)
                for name in ("ETag", "Cache-Control", "Expires", "Vary"):
                    self.assertEqual(response.get(name), full.get(name), name)
                for name in ("Last-Modified", "Content-Type", "Content-Length", "Accept-Ranges"):
                    self.assertIsNone(response.get(name), name)

    def test_conditions_of_what_has_no_validators(self):
        """13.1.1, 13.1.2: a listing and an echo are there, but no tag is theirs; dates are ignored."""
        date = email.utils.formatdate(usegmt=True)
        old = "Thu, 01 Jan 1970 00:00:00 GMT"
        with Daemon(config=configuration(
            hosts=[host(self.root, {"path": "/", "listing": True}, {"path": "/echo", "handler": "echo"})]
        )) as daemon:
            for target in ("/", "/echo"):
                for field, status in (
                    ("If-Match: *", 200), ('If-Match: "x"', 412), ("If-None-Match: *", 304),
                    ('If-None-Match: "x"', 200), ("If-Modified-Since: " + date, 200),
                    ("If-Unmodified-Since: " + old, 200),
                ):
                    for method in ("GET", "HEAD"):
                        response = fetch(daemon.address, target, method, [field])
                        self.assertEqual(response.status, status, (target, field))
            listing = fetch(daemon.address, "/", fields=["If-None-Match: *"])
            self.assertEqual(listing.members("Vary"), fetch(daemon.address, "/").members("Vary"))

    def test_conditions_wait_for_the_other_checks(self):
        """13.2.1: whatever is refused without them is refused with them."""
        for field in ("If-None-Match: *", 'If-Match: "x"'):
            self.assertEqual(fetch(self.address, "/page.html", "DELETE", [field]).status, 405)
            self.assertEqual(fetch(self.address, "/page.html", "BREW", [field]).status, 501)
            self.assertEqual(fetch(self.address, "/page.html", fields=[field, "Expect: x"]).status, 417)
            self.assertEqual(fetch(self.address, "/page.html/", fields=[field]).status, 404)

    def test_a_304_has_no_content_and_the_next_answer_follows(self):
        tag = fetch(self.address, "/page.html").get("ETag")
        with Connection(self.address) as connection:
            connection.send(request("/page.html", fields=["If-None-Match: " + tag]) * 3 + request("/page.html"))
            for _ in range(3):
                self.assertEqual(connection.read_response().status, 304)
            self.assertEqual(connection.read_response().body, b"<p>page\n")

    def test_fixed_times_do_not_hide_a_change(self):
        """Reproducible builds set every mtime to 0 or 1."""
        for moment in (0, 1):
            path = tree.write(self.root, "fixed.txt", b"first ")
            os.utime(path, (moment, moment))
            first = fetch(self.address, "/fixed.txt")
            tree.replace(path, b"second"[:6])
            os.utime(path, (moment, moment))
            fields = ["If-None-Match: " + first.get("ETag")] if first.get("ETag") else []
            if first.get("Last-Modified"):
                fields.append("If-Modified-Since: " + first.get("Last-Modified"))
            again = fetch(self.address, "/fixed.txt", fields=fields)
            self.assertEqual((again.status, again.body), (200, b"second"))

    def test_times_of_packages_do_not_hide_a_change(self):
        """Where npm, zip or Bazel give one time to all files of all releases, a change of one byte
        between the blocks that are read of a large file is seen, by tag and by date, and a download
        that was cut off is not completed with another file's bytes."""
        for moment in (315532800, 318211200, 499162500, 946684800):
            content = bytearray(300000)
            path = tree.write(self.root, "package.bin", bytes(content))
            os.utime(path, (moment, moment))
            first = fetch(self.address, "/package.bin", "HEAD")
            self.assertIsNone(first.get("Last-Modified"))
            content[70000] += 1
            tree.replace(path, bytes(content))
            os.utime(path, (moment, moment))
            for fields in (["If-None-Match: " + first.get("ETag")],
                           ["Range: bytes=1000-", "If-Range: " + first.get("ETag")]):
                again = fetch(self.address, "/package.bin", fields=fields)
                self.assertEqual((again.status, again.body), (200, bytes(content)))

    def test_downloads_are_resumed(self):
        """A large file has a strong tag, with a time of its own or one that is given to all."""
        content = os.urandom(300000)
        path = tree.write(self.root, "download.bin", content)
        for moment in (1700000000, 1700000000.5, 499162500):
            os.utime(path, (moment, moment))
            tag = fetch(self.address, "/download.bin", "HEAD").get("ETag")
            self.assertTrue(tag.startswith('"'), "9110 8.8.3: strong")
            rest = fetch(self.address, "/download.bin", fields=["Range: bytes=1000-", "If-Range: " + tag])
            self.assertEqual((rest.status, rest.body), (206, content[1000:]))
            again = fetch(self.address, "/download.bin", fields=["If-None-Match: " + tag])
            self.assertEqual(again.status, 304)

    def test_a_time_set_back_does_not_hide_a_change(self):
        """Of a large file, in place, where its beginning, middle or end is another."""
        content = bytearray(300000)
        path = tree.write(self.root, "large.bin", bytes(content))
        os.utime(path, (1700000000.5, 1700000000.5))
        tag = fetch(self.address, "/large.bin", "HEAD").get("ETag")
        for at in (0, len(content) // 2, len(content) - 1):
            content[at] += 1
            with open(path, "r+b") as file:
                file.write(content)
            os.utime(path, (1700000000.5, 1700000000.5))
            again = fetch(self.address, "/large.bin", fields=["If-None-Match: " + tag])
            self.assertEqual((again.status, again.body), (200, bytes(content)), at)
            tag = again.get("ETag")

    def test_another_file_of_the_same_size_and_time(self):
        """What is renamed over a large file, and was written at the same moment."""
        for name in ("one.bin", "two.bin"):
            path = tree.write(self.root, name, name.encode() * 20000)
            os.utime(path, (1700000000.5, 1700000000.5))
        tag = fetch(self.address, "/one.bin", "HEAD").get("ETag")
        os.rename(os.path.join(self.root, "two.bin"), os.path.join(self.root, "one.bin"))
        again = fetch(self.address, "/one.bin", fields=["If-None-Match: " + tag])
        self.assertEqual((again.status, again.body), (200, b"two.bin" * 20000))

    def test_the_same_bytes_have_the_same_tag_elsewhere(self):
        """Two hosts with one tree agree, whatever the inodes and the times of copying."""
        other = self.folder()
        tree.write(self.root, "copied.bin", b"0123456789" * 20000)
        os.utime(os.path.join(self.root, "copied.bin"), (1700000000.5, 1700000000.5))
        for name in ("page.html", "copied.bin"):
            shutil.copy2(os.path.join(self.root, name), other)
        with Daemon(directory=other) as daemon:
            for name in ("/page.html", "/copied.bin"):
                self.assertEqual(
                    fetch(daemon.address, name).get("ETag"), fetch(self.address, name).get("ETag"))


if __name__ == "__main__":
    suite.main()
