# SPDX-License-Identifier: MIT
# Black-box tests of the daemon over real sockets: each module on each backend. What runs is a
# wrapper in the build folder, so one can be run alone: `tests/http/test_ranges-poll.test`.

BACKENDS = epoll poll io_uring

HTTP_MODULES = \
	tests/http/fuzz_daemon \
	tests/http/test_access_log \
	tests/http/test_allocations \
	tests/http/test_auth \
	tests/http/test_bodies \
	tests/http/test_cache \
	tests/http/test_calls \
	tests/http/test_cold \
	tests/http/test_conditions \
	tests/http/test_echo \
	tests/http/test_endings \
	tests/http/test_errors \
	tests/http/test_files \
	tests/http/test_framing \
	tests/http/test_large \
	tests/http/test_limits \
	tests/http/test_listeners \
	tests/http/test_listing \
	tests/http/test_many \
	tests/http/test_methods \
	tests/http/test_multipart \
	tests/http/test_names \
	tests/http/test_paths \
	tests/http/test_persistence \
	tests/http/test_policy \
	tests/http/test_pool \
	tests/http/test_precompressed \
	tests/http/test_ranges \
	tests/http/test_redirects \
	tests/http/test_routing \
	tests/http/test_staleness \
	tests/http/test_status \
	tests/http/test_teardown \
	tests/http/test_timeouts

# Other people's programs, which take their time: on the backends that are used.
CLIENT_MODULES = \
	tests/http/test_clients \
	tests/http/test_media \
	tests/http/test_packages

HTTP_TESTS = \
	$(CLIENT_MODULES:=-epoll.test) \
	$(CLIENT_MODULES:=-io_uring.test) \
	$(HTTP_MODULES:=-epoll.test) \
	$(HTTP_MODULES:=-poll.test) \
	$(HTTP_MODULES:=-io_uring.test) \
	tests/http/test_instructions-epoll.test \
	tests/http/test_instructions-io_uring.test

# On epoll once more where all that evixd can do without is missing (tests/lib/deprived.py).
# Sanitizers need /proc and more descriptors than there are.
if !ASAN
POOR_TESTS = $(HTTP_MODULES:=-poor.test)
HTTP_TESTS += $(POOR_TESTS)
endif

# A browser sees the same whatever the backend is.
DAEMON_TESTS += $(HTTP_TESTS) tests/http/test_browser-epoll.test
EXTRA_DIST += tests/lib/clients.py
EXTRA_DIST += $(HTTP_MODULES:=.py) $(CLIENT_MODULES:=.py) tests/http/test_browser.py tests/http/test_instructions.py \
	tests/instructions.txt

check-http: all
	$(MAKE) $(AM_MAKEFLAGS) check-TESTS TESTS='$(HTTP_TESTS)'
check-http-poor: all
	$(MAKE) $(AM_MAKEFLAGS) check-TESTS TESTS='$(POOR_TESTS)'
.PHONY: check-http check-http-poor

# What test_staleness.py starts; it skips itself where it is run alone.
check_PROGRAMS += tests/http/hunt_staleness
tests_http_hunt_staleness_SOURCES = \
	tests/http/hunt_changes.c \
	tests/http/hunt_changes.h \
	tests/http/hunt_staleness.c
tests_http_hunt_staleness_CFLAGS = $(AM_CFLAGS) -pthread

# What streams is bounded in the tests; here it is 1 GiB each way, on each backend.
check-large: all
	ECHO_BYTES=1073741824 $(MAKE) $(AM_MAKEFLAGS) check-TESTS \
	    TESTS='$(BACKENDS:%=tests/http/test_echo-%.test)'
.PHONY: check-large

# What test_calls.py preloads; a module is made a shared one only if it seems to be installed.
check_LTLIBRARIES = tests/http/count_calls.la
tests_http_count_calls_la_SOURCES = tests/http/count_calls.c
tests_http_count_calls_la_CFLAGS = $(AM_CFLAGS)
tests_http_count_calls_la_LDFLAGS = -module -avoid-version -rpath $(abs_builddir)

# What test_allocations.py preloads.
check_LTLIBRARIES += tests/http/fail_allocations.la
tests_http_fail_allocations_la_SOURCES = tests/http/fail_allocations.c
tests_http_fail_allocations_la_CFLAGS = $(AM_CFLAGS)
tests_http_fail_allocations_la_LDFLAGS = -module -avoid-version -rpath $(abs_builddir)
