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
