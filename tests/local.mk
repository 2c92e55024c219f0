# SPDX-License-Identifier: MIT
# The layers of `make check`, fastest first.

TESTS += tests/arrows tests/evix/test_symbols
dist_check_SCRIPTS += tests/arrows tests/evix/test_symbols

# What docs/conformance.md says of tests holds.
TESTS += tests/conformance
dist_check_SCRIPTS += tests/conformance
EXTRA_DIST += docs/conformance.md

if CHECK
include tests/unit/log.mk
include tests/unit/http.mk
include tests/unit/config.mk
include tests/unit/files.mk
include tests/unit/server.mk
include tests/unit/daemon.mk
include tests/evix/local.mk
endif
include tests/fuzz/local.mk
include tests/fuzz/config.mk
include tests/lib/local.mk
include tests/install/local.mk

# The programs made with Check, each in one process.
dist_check_SCRIPTS += tests/in_valgrind
check-valgrind: $(check_PROGRAMS)
	LIBTOOL='$(LIBTOOL)' $(MAKE) $(AM_MAKEFLAGS) check-TESTS \
	    TESTS='$(filter $(check_PROGRAMS),$(TESTS))' \
	    LOG_COMPILER='$(SHELL) $(srcdir)/tests/in_valgrind'
.PHONY: check-valgrind
