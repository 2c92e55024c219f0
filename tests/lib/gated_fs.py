# SPDX-License-Identifier: MIT
"""A file system whose every operation waits until the test lets it through.

It is spoken straight to /dev/fuse by threads of the test: one folder of files, in which names and
attributes are asked for anew each time, as on a network. While the gate is closed, whoever needs it
waits; so a test can say what has to happen before, without measuring time. The test itself must not
touch the mounted folder while the gate is closed.
"""

import ctypes
import errno
import os
import stat
import struct
import threading
import unittest

LOOKUP, FORGET, GETATTR, OPEN, READ, STATFS, RELEASE = 1, 2, 3, 14, 15, 17, 18
FLUSH, INIT, OPENDIR, READDIR, RELEASEDIR, INTERRUPT, BATCH_FORGET = 25, 26, 27, 28, 29, 36, 42
NAMES = {LOOKUP: "lookup", GETATTR: "getattr", OPEN: "open", READ: "read", STATFS: "statfs",
         FLUSH: "flush", OPENDIR: "opendir", READDIR: "readdir"}
PARALLEL_DIROPS = 1 << 18  # else names of a folder wait for who reads it
ROOT = 1
MNT_DETACH = 2
THREADS = 64
MODIFIED = 1700000000

_LIBC = ctypes.CDLL(None, use_errno=True)


def require():
    """Skips where no file system can be mounted."""
    if os.getuid() != 0 or not os.access("/dev/fuse", os.R_OK | os.W_OK):
        raise unittest.SkipTest("mounting needs root and /dev/fuse")


class GatedFs:
    """`files`: {name: content}. Mounted from the start; the gate is open. The kernel remembers names
    and attributes for `valid` seconds. What waits at the closed gate are the operations in `gated`."""

    def __init__(self, mountpoint, files, valid=0):
        self.valid = valid
        self.mountpoint = mountpoint
        self.names = sorted(files)
        self.files = files
        self.gated = frozenset(NAMES)
        self.gate = threading.Event()
        self.gate.set()
        self.changed = threading.Condition()
        self.waiting = []  # operations that are held up now
        self.device = os.open("/dev/fuse", os.O_RDWR | os.O_CLOEXEC)
        options = "fd=%d,rootmode=40755,user_id=0,group_id=0,allow_other" % self.device
        if _LIBC.mount(b"gated", os.fsencode(mountpoint), b"fuse", 7, options.encode()) != 0:
            error = ctypes.get_errno()
            os.close(self.device)
            raise unittest.SkipTest("cannot mount: " + os.strerror(error))
        for _ in range(THREADS):
            threading.Thread(target=self.serve, daemon=True).start()

    def close(self):
        self.gate.set()
        _LIBC.umount2(os.fsencode(self.mountpoint), MNT_DETACH)

    def wait_for(self, count, timeout):
        """Until so many operations are held up; their names."""
        with self.changed:
            if not self.changed.wait_for(lambda: len(self.waiting) >= count, timeout):
                raise AssertionError("only these wait: %s" % self.waiting)
            return list(self.waiting)

    def let_through(self, timeout):
        """Opens the gate, until nothing waits any more."""
        self.gate.set()
        with self.changed:
            if not self.changed.wait_for(lambda: not self.waiting, timeout):
                raise AssertionError("still waiting: %s" % self.waiting)

    def pass_gate(self, operation):
        if operation not in self.gated or self.gate.is_set():
            return
        with self.changed:
            self.waiting.append(NAMES[operation])
            self.changed.notify_all()
        self.gate.wait()
        with self.changed:
            self.waiting.remove(NAMES[operation])
            self.changed.notify_all()

    def serve(self):
        while True:
            try:
                data = os.read(self.device, 1 << 18)
            except OSError as error:
                if error.errno in (errno.EINTR, errno.ENOENT, errno.EAGAIN):
                    continue
                return  # unmounted
            _length, operation, unique, node = struct.unpack_from("<IIQQ", data)
            self.pass_gate(operation)
            result = self.answer(operation, node, data[40:])
            if result is None:
                continue
            error, body = (result, b"") if isinstance(result, int) else (0, result)
            try:
                os.write(self.device, struct.pack("<IiQ", 16 + len(body), -error, unique) + body)
            except OSError:
                pass  # who asked has gone

    def answer(self, operation, node, body):
        """The answer's bytes, an errno, or None where none is wanted."""
        if operation == INIT:
            return struct.pack("<IIIIHHIIHHIII", 7, 31, 1 << 17, PARALLEL_DIROPS, 16, 12, 4096, 1, 32, 0, 0, 0, 0) + bytes(16)
        if operation in (FORGET, BATCH_FORGET, INTERRUPT):
            return None
        if operation == LOOKUP:
            name = os.fsdecode(body.split(b"\0")[0])
            if name not in self.files:
                return errno.ENOENT
            number = self.names.index(name) + ROOT + 1
            return struct.pack("<QQQQII", number, 0, self.valid, self.valid, 0, 0) + self.attributes(number)
        if operation == GETATTR:
            return struct.pack("<QII", self.valid, 0, 0) + self.attributes(node)
        if operation in (OPEN, OPENDIR):
            return struct.pack("<QII", 0, 0, 0)
        if operation == READ:
            _handle, offset, size = struct.unpack_from("<QQI", body)
            return self.content(node)[offset : offset + size]
        if operation == READDIR:
            return self.entries(*struct.unpack_from("<QQI", body)[1:])
        if operation == STATFS:
            return bytes(40) + struct.pack("<IIII", 4096, 255, 4096, 0) + bytes(24)
        if operation in (FLUSH, RELEASE, RELEASEDIR):
            return b""
        return errno.ENOSYS

    def content(self, node):
        return self.files[self.names[node - ROOT - 1]]

    def attributes(self, node):
        size = 0 if node == ROOT else len(self.content(node))
        mode = stat.S_IFDIR | 0o755 if node == ROOT else stat.S_IFREG | 0o644
        return struct.pack("<QQQQQQIIIIIIIIII", node, size, (size + 511) // 512, MODIFIED, MODIFIED,
                           MODIFIED, 5, 5, 5, mode, 1, 0, 0, 0, 4096, 0)

    def entries(self, offset, size):
        data = b""
        for i, name in enumerate(self.names[offset:], offset):
            raw = os.fsencode(name)
            entry = struct.pack("<QQII", i + ROOT + 1, i + 1, len(raw), stat.S_IFREG >> 12) + raw
            entry += bytes(-len(entry) % 8)
            if len(data) + len(entry) > size:
                break
            data += entry
        return data
