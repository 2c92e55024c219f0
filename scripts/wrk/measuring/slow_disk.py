# SPDX-License-Identifier: MIT
"""A disk that is slow on purpose: ext4 in a file, whose reads the blkio controller of cgroup v1
throttles for the processes of one cgroup; or, where that is not allowed, a file system in user
space that sleeps (tests/lib/slow_files.c)."""

import contextlib
import os
import shutil
import subprocess

from .processes import Failed
from .servers import built

CONTROLLER = "/sys/fs/cgroup/blkio"


def run(*command):
    done = subprocess.run(command, capture_output=True, text=True)
    if done.returncode != 0:
        raise Failed(f"{' '.join(command)}: {done.stderr.strip()}")
    return done.stdout.strip()


class LoopDisk:
    """`fill` writes the files once; each `cold()` is a new mount, of which nothing is cached."""

    name = "ext4 on a loop device, throttled by blkio"

    def __init__(self, work, bytes_a_second):
        self.image = os.path.join(work, "image")
        self.root = os.path.join(work, "disk")
        self.cgroup = os.path.join(CONTROLLER, f"coldisk-{os.getpid()}")
        self.rate = bytes_a_second

    @staticmethod
    def is_possible():
        return (os.geteuid() == 0 and os.access(CONTROLLER, os.W_OK)
                and all(shutil.which(tool) for tool in ("mkfs.ext4", "mount")))

    def fill(self, put, image_bytes):
        with open(self.image, "wb") as file:
            file.truncate(image_bytes)
        run("mkfs.ext4", "-q", "-F", self.image)
        os.mkdir(self.root)
        with self.mounted():
            put(self.root)

    @contextlib.contextmanager
    def mounted(self):
        run("mount", "-o", "loop", self.image, self.root)
        try:
            yield
        finally:
            run("umount", self.root)

    def throttle(self, device, rate):
        with open(os.path.join(self.cgroup, "blkio.throttle.read_bps_device"), "w") as file:
            file.write(f"{device} {rate}")

    @contextlib.contextmanager
    def cold(self):
        """Mounted and slow. What waits for the disk at the end waits no longer: else nothing that
        reads from it could be stopped."""
        with self.mounted():
            number = os.stat(self.root).st_dev
            device = f"{os.major(number)}:{os.minor(number)}"
            os.mkdir(self.cgroup)
            try:
                self.throttle(device, self.rate)
                yield lambda: self.throttle(device, 0)
            finally:
                os.rmdir(self.cgroup)


class FuseDisk:
    """The same through slow_files, which has to be restarted to forget what the kernel cached."""

    name = "a file system in user space that sleeps"
    cgroup = None

    def __init__(self, work, bytes_a_second):
        self.source = os.path.join(work, "source")
        self.root = os.path.join(work, "disk")
        self.rate = bytes_a_second
        self.program = built("SLOW_FILES", "tests", "lib", "slow_files")

    @staticmethod
    def is_possible():
        return os.geteuid() == 0 and os.access("/dev/fuse", os.W_OK)

    def fill(self, put, _image_bytes):
        os.mkdir(self.source)
        os.mkdir(self.root)
        put(self.source)

    @contextlib.contextmanager
    def cold(self):
        process = subprocess.Popen([self.program, self.source, self.root, str(self.rate)],
                                   stdout=subprocess.PIPE)
        try:
            if process.stdout.readline() != b"mounted\n":
                raise Failed("slow_files could not mount")
            yield process.terminate
        finally:
            process.terminate()
            process.wait()
