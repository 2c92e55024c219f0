# SPDX-License-Identifier: MIT
"""Clients that read a file here and there: ffmpeg seeks in a video, zsync fetches what differs."""

import os

import suite
import tree
from clients import ClientCase, files_of, require


class Ffmpeg(ClientCase):
    def test_seek(self):
        """The index is at the end of the file, the picture in its middle."""
        require(self, "ffmpeg")
        path = os.path.join(self.site, "video.mp4")
        quiet = ["ffmpeg", "-nostdin", "-v", "error", "-threads", "1"]
        self.run_client(*quiet, "-f", "lavfi", "-i", "testsrc=size=320x240:rate=10:duration=60",
                        "-c:v", "mpeg4", "-q:v", "2", "-threads", "1", path)
        size = os.path.getsize(path)
        frame = ["-ss", "40", "-i", "%s", "-frames:v", "1", "-f", "rawvideo", "-"]
        local, remote = (
            self.run_client(*quiet, *(a if a != "%s" else source for a in frame), text=False)
            for source in (path, self.url + "/video.mp4")
        )
        self.assertGreater(len(local), 1000)
        self.assertTrue(local == remote)
        starts = [int(m[1]) for m in self.requests(r"GET /video.mp4 206 \d+ bytes=(\d+)-", 2)]
        self.assertTrue(any(start > size // 4 for start in starts), starts)


class Zsync(ClientCase):
    def test_differences(self):
        """Many ranges in one request, most of them single blocks."""
        require(self, "zsync", "zsyncmake")
        new = tree.content(4 * 1048576)
        old = bytearray(new)
        for at in range(50000, len(old), 200000):
            old[at : at + 5] = b"other"
        del old[3000000:3000100]
        folder = self.folder()
        path = tree.write(self.site, "image.iso", new)
        seed = tree.write(folder, "old.iso", bytes(old))
        self.run_client("zsyncmake", "-u", "image.iso", "-o", path + ".zsync", path)
        self.run_client("zsync", "-i", seed, "-o", "new.iso", self.url + "/image.iso.zsync",
                        cwd=folder)
        self.assertTrue(files_of(folder)[b"new.iso"] == new)
        found = self.requests(r"GET /image.iso 206 (\d+) (.*)")
        self.assertTrue(any(m[2].count(",") >= 5 for m in found), [m[2] for m in found])
        self.assertLess(sum(int(m[1]) for m in found), len(new) // 4)


if __name__ == "__main__":
    suite.main(limit=180)
