# SPDX-License-Identifier: MIT
"""Takes from a process what kernels, containers and limits do not always give.

For a child, between fork and exec: system calls fail by a filter of seccomp, /proc is hidden by a
mount namespace, descriptors are few. `POOREST` is all of it: the poorest world in which evixd is to
serve. Whatever cannot be taken here is named by `missing()`.
"""

import ctypes
import errno
import os
import platform
import resource
import struct

_LIBC = ctypes.CDLL(None, use_errno=True)

# The calls that are younger have one number everywhere.
_NUMBERS = {
    "x86_64": {"inotify_add_watch": 254, "inotify_init1": 294, "prctl": 157, "seccomp": 317},
    "aarch64": {"inotify_add_watch": 27, "inotify_init1": 26, "prctl": 167, "seccomp": 277},
}.get(platform.machine(), {})
_NUMBERS = {**_NUMBERS, "io_uring_setup": 425, "openat2": 437}

_NO_NEW_PRIVILEGES, _SET_SECCOMP, _MODE_FILTER = 38, 22, 2
_LOAD, _EQUAL, _RETURN = 0x20, 0x15, 0x06
_ALLOW, _REFUSE = 0x7FFF0000, 0x00050000
_NUMBER_AT, _FIRST_ARGUMENT_AT = 0, 16
_CLONE_NEWNS, _MS_REC, _MS_SLAVE = 0x20000, 0x4000, 1 << 19

OPENAT2 = {"openat2": errno.ENOSYS}
IO_URING = {"io_uring_setup": errno.EPERM}
# As with fs.inotify.max_user_watches used up by somebody else.
WATCHES = {"inotify_add_watch": errno.ENOSPC}
# A kernel without CONFIG_SECCOMP; prctl(2) fails as far as it sets a filter.
SECCOMP = {"seccomp": errno.ENOSYS, "prctl": errno.EINVAL}
POOREST = {**OPENAT2, **IO_URING, **WATCHES, **SECCOMP}
POOREST_DESCRIPTORS = 256


def _instructions(calls):
    for name, error in calls.items():
        yield _LOAD, 0, 0, _NUMBER_AT
        if name == "prctl":
            yield _EQUAL, 0, 3, _NUMBERS[name]
            yield _LOAD, 0, 0, _FIRST_ARGUMENT_AT
            yield _EQUAL, 0, 1, _SET_SECCOMP
        else:
            yield _EQUAL, 0, 1, _NUMBERS[name]
        yield _RETURN, 0, 0, _REFUSE | error
    yield _RETURN, 0, 0, _ALLOW


def _check(result, what):
    if result != 0:
        raise OSError(ctypes.get_errno(), what)


def forbid(calls):
    """{name of a system call: the error that it fails with}, for this process and its children."""
    program = b"".join(struct.pack("<HBBI", *line) for line in _instructions(calls))
    memory = ctypes.create_string_buffer(program)
    filters = struct.pack("@HP", len(program) // 8, ctypes.addressof(memory))
    _check(_LIBC.prctl(_NO_NEW_PRIVILEGES, 1, 0, 0, 0), "no_new_privs")
    _check(_LIBC.prctl(_SET_SECCOMP, _MODE_FILTER, filters, 0, 0), "no filter can be set")


def hide_proc():
    """In a mount namespace of the process's own, which goes on to see what others mount. Root only."""
    _check(_LIBC.unshare(_CLONE_NEWNS), "unshare")
    _check(_LIBC.mount(None, b"/", None, _MS_REC | _MS_SLAVE, None), "mount namespace")
    _check(_LIBC.mount(b"none", b"/proc", b"tmpfs", 0, None), "/proc")


def limit_descriptors(most):
    soft, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
    if hard == resource.RLIM_INFINITY or hard > most:
        hard = most
    resource.setrlimit(resource.RLIMIT_NOFILE, (min(soft, hard) if soft >= 0 else hard, hard))


def can_hide_proc():
    """Tried in a child, as containers differ in what their root may do."""
    pid = os.fork()
    if pid == 0:
        try:
            hide_proc()
        except OSError:
            os._exit(1)
        os._exit(0)
    return os.waitpid(pid, 0)[1] == 0


def missing():
    """What of the poorest world cannot be made here, in words; empty if all can."""
    absent = []
    if not all(name in _NUMBERS for name in POOREST):
        absent.append("the numbers of system calls on " + platform.machine())
    if not can_hide_proc():
        absent.append("a mount namespace without /proc")
    return absent


class Poverty:
    """The poorest world as far as it can be made here, for many children."""

    def __init__(self):
        self.calls = {name: error for name, error in POOREST.items() if name in _NUMBERS}
        self.hides_proc = can_hide_proc()

    def enter(self):
        if self.hides_proc:
            hide_proc()
        limit_descriptors(POOREST_DESCRIPTORS)
        forbid(self.calls)
