# SPDX-License-Identifier: MIT
"""Makes the folders of files that the tests serve."""

import os
import random

# Around every size at which a buffer, a page or a chunk of the daemon might end.
SIZES = (
    0, 1, 2, 100, 1023, 1024, 1025, 4095, 4096, 4097, 16383, 16384, 16385, 65535, 65536, 65537,
    262143, 262144, 262145, 1048575, 1048576, 1048577, 5 * 1048576,
)


def content(size, seed=0):
    """Bytes that differ at every offset and for every size, so that a shift is noticed."""
    return random.Random(size * 7919 + seed).randbytes(size)


def write(root, name, data=b""):
    """Makes a file (name as text or bytes), its folders included; returns its path."""
    name = os.fsencode(name)
    path = os.path.join(os.fsencode(root), name)
    os.makedirs(os.path.dirname(path), exist_ok=True)
    with open(path, "wb") as file:
        file.write(data if isinstance(data, bytes) else data.encode())
    return os.fsdecode(path)


def read(path):
    with open(path, "rb") as file:
        return file.read()


def replace(path, data):
    """Puts new content in place atomically, as an editor or a deployment does."""
    with open(path + ".new~", "wb") as file:
        file.write(data)
    os.rename(path + ".new~", path)


def sized(root):
    """A file for each of SIZES; returns {name: content}."""
    files = {"size-%d.bin" % size: content(size) for size in SIZES}
    for name, data in files.items():
        write(root, name, data)
    return files
