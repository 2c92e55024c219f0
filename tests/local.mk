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

# The programs made with Check, each in one process (CK_FORK=no), since valgrind is to see it all;
# Check cannot end what hangs then, so timeout(1) does.
VALGRIND = timeout -k 5 300 $(LIBTOOL) --mode=execute valgrind
VALGRIND_FLAGS = --quiet --error-exitcode=99 --leak-check=full --show-leak-kinds=definite,possible \
	--errors-for-leak-kinds=definite,possible --track-fds=no
check-valgrind: $(check_PROGRAMS)
	CK_FORK=no CK_TIMEOUT_MULTIPLIER=20 $(MAKE) $(AM_MAKEFLAGS) check-TESTS \
	    TESTS='$(filter $(check_PROGRAMS),$(TESTS))' \
	    LOG_COMPILER='$(VALGRIND) $(VALGRIND_FLAGS)'
.PHONY: check-valgrind
