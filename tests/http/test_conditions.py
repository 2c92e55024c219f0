# SPDX-License-Identifier: MIT
"""Conditional requests, RFC 9110 13, in the order of 13.2.2."""

import email.utils
import os

import suite
import tree
from evixd import Daemon, TestCase
from wire import Connection, fetch, request

DAY = 86400

# label, fields (TAG, DATE, BEFORE and AFTER are put in), status for GET
ROWS = (
    ("13.1.2 the same tag", ["If-None-Match: TAG"], 304),
    ("13.1.2 weak comparison", ["If-None-Match: W/TAG"], 304),
    ("13.1.2 among others", ['If-None-Match: "a", "b" , TAG, W/"c"'], 304),
    ("13.1.2 on a second line", ['If-None-Match: "a"', "If-None-Match: TAG"], 304),
    ("13.1.2 another tag", ['If-None-Match: "other"'], 200),
    ("13.1.2 asterisk", ["If-None-Match: *"], 304),
    ("13.1.2 asterisk in quotes is a tag", ['If-None-Match: "*"'], 200),
    ("13.1.2 malformed list is no match", ["If-None-Match: other"], 200),
    ("13.1.2 empty", ["If-None-Match:"], 200),
    ("13.1.3 the same date", ["If-Modified-Since: DATE"], 304),
    ("13.1.3 a later date", ["If-Modified-Since: AFTER"], 304),
    ("13.1.3 an earlier date", ["If-Modified-Since: BEFORE"], 200),
    ("13.1.3 no date", ["If-Modified-Since: yesterday"], 200),
    ("13.1.3 sent twice is no valid date", ["If-Modified-Since: DATE", "If-Modified-Since: DATE"], (200, 304)),
    ("5.6.7 date of RFC 850", ["If-Modified-Since: RFC850"], 304),
    ("5.6.7 date of asctime", ["If-Modified-Since: ASCTIME"], 304),
    ("the tag wins over the date", ['If-None-Match: "other"', "If-Modified-Since: DATE"], 200),
    ("13.2.2 the tag wins the other way too", ["If-None-Match: TAG", "If-Modified-Since: BEFORE"], 304),
    ("13.1.1 If-Match holds", ["If-Match: TAG"], 200),
    ("13.1.1 If-Match fails", ['If-Match: "other"'], 412),
    ("13.1.1 If-Match compares strongly", ["If-Match: W/TAG"], 412),
    ("13.1.1 If-Match asterisk", ["If-Match: *"], 200),
    ("13.1.4 If-Unmodified-Since holds", ["If-Unmodified-Since: DATE"], 200),
    ("13.1.4 If-Unmodified-Since fails", ["If-Unmodified-Since: BEFORE"], 412),
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
        """15.4.5: the validators, and nothing that describes content that is not there."""
        self.assertEqual(response.body, b"")
        self.assertIsNotNone(response.get("ETag"))
        self.assertIn(response.get("Content-Length"), (None, "8"))


class Others(Site):
    def test_conditions_of_a_missing_file(self):
        """13.2.1: they are not looked at where the answer would not be a success."""
        for field in ("If-None-Match: *", 'If-Match: "x"', "If-Modified-Since: " + email.utils.formatdate(usegmt=True)):
            self.assertEqual(fetch(self.address, "/none", fields=[field]).status, 404, field)

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

    def test_the_same_bytes_have_the_same_tag_elsewhere(self):
        """Two hosts with one tree agree: the tag of a small file is made from its content."""
        other = self.folder()
        import shutil
        shutil.copy2(os.path.join(self.root, "page.html"), other)
        with Daemon(directory=other) as daemon:
            self.assertEqual(
                fetch(daemon.address, "/page.html").get("ETag"),
                fetch(self.address, "/page.html").get("ETag"),
            )


if __name__ == "__main__":
    suite.main()
