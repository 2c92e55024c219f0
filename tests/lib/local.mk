# SPDX-License-Identifier: MIT
# What runs of a black-box test is a wrapper in the build folder that names the program, the
# backend and the module; so each can be run alone: `tests/http/test_ranges-poll.test [CASE...]`.

DAEMON_TESTS = tests/lib/test_fuzzing-epoll.test tests/lib/test_measuring-epoll.test \
	tests/lib/test_pace-epoll.test tests/lib/test_wire-epoll.test
EXTRA_DIST += tests/lib/browser.py tests/lib/evixd.py tests/lib/gated_fs.py tests/lib/prometheus.py tests/lib/rings.py \
	tests/lib/suite.py tests/lib/tree.py tests/lib/wire.py \
	tests/lib/test_measuring.py tests/lib/test_wire.py
EXTRA_DIST += tests/lib/load.py tests/lib/pace.py tests/lib/test_pace.py tests/lib/orders.py tests/lib/rewritten.py

# What tests/http/fuzz_daemon.py is made of, and its own test.
EXTRA_DIST += tests/lib/test_fuzzing.py \
	tests/lib/fuzzing/__init__.py \
	tests/lib/fuzzing/answers.py \
	tests/lib/fuzzing/client.py \
	tests/lib/fuzzing/files.py \
	tests/lib/fuzzing/journal.py \
	tests/lib/fuzzing/ledger.py \
	tests/lib/fuzzing/malformed.py \
	tests/lib/fuzzing/orders.py \
	tests/lib/fuzzing/pool.py \
	tests/lib/fuzzing/pump.py \
	tests/lib/fuzzing/services.py \
	tests/lib/fuzzing/site.py

# A slow disk, for tests of cold files and for scripts/wrk/coldisk. Linux only, as evixd is.
EXTRA_PROGRAMS += tests/lib/slow_files
check_DATA += tests/lib/slow_files
tests_lib_slow_files_SOURCES = tests/lib/slow_files.c
tests_lib_slow_files_LDADD = -lpthread

# What a daemon can be deprived of.
EXTRA_DIST += tests/lib/deprived.py

include tests/http/local.mk
include tests/process/local.mk

TESTS += $(DAEMON_TESTS)
TEST_LOG_COMPILER = $(SHELL)
CLEANFILES += $(DAEMON_TESTS) rings-0.lock rings-1.lock

$(DAEMON_TESTS): Makefile
	@$(MKDIR_P) $(@D)
	$(AM_V_GEN)stem=$@ && stem=$${stem%.test} && { \
	echo '#!/bin/sh' && \
	echo 'EVIXD="$${EVIXD:-$(abs_builddir)/evixd}"' && \
	echo "BACKEND=$${stem##*-}" && \
	echo 'PYTHONPATH=$(abs_top_srcdir)/tests/lib' && \
	echo 'PYTHONDONTWRITEBYTECODE=1' && \
	echo 'export EVIXD BACKEND PYTHONPATH PYTHONDONTWRITEBYTECODE' && \
	echo 'exec $(PYTHON) $(abs_top_srcdir)/'"$${stem%-*}.py"' "$$@"'; } >$@ && chmod +x $@
