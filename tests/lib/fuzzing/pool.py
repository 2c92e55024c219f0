# SPDX-License-Identifier: MIT
"""What is in a version of a file: every process can compute it, none has to keep it."""

import random
import zlib

POOL_BYTES = 16 << 20
LONGEST = 6 << 20


class Pool:
    """Random bytes, of which each version of a file is a piece: two versions differ at once."""

    def __init__(self, seed):
        self.bytes = memoryview(random.Random("pool/%s" % seed).randbytes(POOL_BYTES))

    def content(self, source, version, size):
        """`size` bytes of the version `version` of the file that was first named `source`."""
        start = zlib.crc32(b"%s/%d" % (source.encode(), version)) % (POOL_BYTES - LONGEST)
        return self.bytes[start : start + size]
