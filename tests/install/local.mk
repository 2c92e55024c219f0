# SPDX-License-Identifier: MIT
# `make installcheck`: what is installed works. And what `make distcheck` runs of the tests, when it is
# to show that the archive builds, installs and removes itself: one of each layer.
EXTRA_DIST += tests/install/test_installed.py
installcheck-local:
	EVIXD='$(DESTDIR)$(sbindir)/$(EVIXD_NAME)' COMPILER='$(CC) $(SAN_CFLAGS)' \
	LIBDIR='$(DESTDIR)$(libdir)' INCLUDEDIR='$(DESTDIR)$(includedir)' \
	MANDIR='$(DESTDIR)$(mandir)' SYSCONFDIR='$(DESTDIR)$(sysconfdir)' \
	VERSION='$(PACKAGE_VERSION)' TOP='$(top_srcdir)' PKG_CONFIG='$(PKG_CONFIG)' \
	PYTHONPATH='$(top_srcdir)/tests/lib' PYTHONDONTWRITEBYTECODE=1 \
	$(PYTHON) '$(top_srcdir)/tests/install/test_installed.py'

SMOKE_TESTS = $(filter $(TESTS), tests/arrows tests/conformance tests/evix/test_symbols tests/evix/test_timer \
	tests/unit/test_store tests/lib/test_wire-epoll.test tests/http/test_files-epoll.test \
	tests/process/test_start-epoll.test)
distcheck-smoke:
	$(MAKE) $(AM_MAKEFLAGS) distcheck TESTS='$(SMOKE_TESTS)' \
	    check_PROGRAMS='$(filter $(check_PROGRAMS),$(SMOKE_TESTS))'
.PHONY: distcheck-smoke
