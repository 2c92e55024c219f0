# SPDX-License-Identifier: MIT
# The daemon. libevix is linked in, so that evixd runs without the shared library.
sbin_PROGRAMS += evixd
evixd_SOURCES = src/main.c
evixd_LDFLAGS = $(AM_LDFLAGS) $(HARDEN_LDFLAGS) -static-libtool-libs
evixd_LDADD = \
	src/daemon/libdaemon.a src/server/libserver.a src/files/libfiles.a src/http/libhttp.a \
	src/config/libconf.a src/log/liblog.a libevix.la \
	$(LLHTTP_LIB) $(LIBCONFIG_LIBS) $(LIBURING_LIBS) $(LIBSYSTEMD_LIBS) $(LIBSECCOMP_LIBS) \
	$(LIBCRYPT_LIBS)

# Its workers end with SIGSYS at a system call that their list lacks: what would be refused quietly
# is noticed. `strace -f -e trace=none -e signal=SIGSYS` on a test tells which it was.
EXTRA_PROGRAMS += evixd-audit
evixd_audit_SOURCES = src/main.c src/daemon/sandbox.c
evixd_audit_CPPFLAGS = $(AM_CPPFLAGS) $(LIBSECCOMP_CFLAGS) -DSANDBOX_AUDIT
evixd_audit_LDFLAGS = $(evixd_LDFLAGS)
evixd_audit_LDADD = $(evixd_LDADD)

check-sandbox: all evixd-audit
	$(MAKE) $(AM_MAKEFLAGS) check-TESTS TESTS='$(DAEMON_TESTS)' EVIXD_NAME=evixd-audit
.PHONY: check-sandbox
