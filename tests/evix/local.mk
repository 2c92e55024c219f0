# SPDX-License-Identifier: MIT
# The suite of libevix; each case runs on every backend that the machine lets us use.
EVIX_TEST_CFLAGS = $(AM_CFLAGS) $(CHECK_CFLAGS)
EVIX_TEST_LDADD = libevix.la $(CHECK_LIBS)
# For what looks at names that the shared library does not show: the objects that evixd is linked
# with, never a second compilation of their sources, which would be a test of something else.
EVIX_LINKED_STATICALLY = $(AM_LDFLAGS) -static-libtool-libs

EVIX_TESTS = \
	tests/evix/test_accept \
	tests/evix/test_async \
	tests/evix/test_batch \
	tests/evix/test_calls \
	tests/evix/test_file \
	tests/evix/test_io \
	tests/evix/test_limits \
	tests/evix/test_loop \
	tests/evix/test_op \
	tests/evix/test_open \
	tests/evix/test_ring_forbidden \
	tests/evix/test_signal \
	tests/evix/test_socket \
	tests/evix/test_teardown \
	tests/evix/test_timer \
	tests/evix/test_turns \
	tests/evix/test_work
if LIBURING
EVIX_TESTS += tests/evix/test_ring_restricted
endif
check_PROGRAMS += $(EVIX_TESTS)
TESTS += $(EVIX_TESTS)

tests_evix_test_accept_SOURCES = tests/evix/test_accept.c \
	tests/evix/each_backend.h tests/evix/under_valgrind.h tests/evix/sockets.h
tests_evix_test_accept_CFLAGS = $(EVIX_TEST_CFLAGS)
tests_evix_test_accept_LDFLAGS = $(EVIX_LINKED_STATICALLY) -Wl,--wrap=accept4
tests_evix_test_accept_LDADD = $(EVIX_TEST_LDADD)
tests_evix_test_async_SOURCES = tests/evix/test_async.c \
	tests/evix/each_backend.h tests/evix/under_valgrind.h
tests_evix_test_async_CFLAGS = $(EVIX_TEST_CFLAGS)
tests_evix_test_async_LDADD = $(EVIX_TEST_LDADD)
tests_evix_test_batch_SOURCES = tests/evix/test_batch.c \
	tests/evix/each_backend.h tests/evix/under_valgrind.h tests/evix/sockets.h
tests_evix_test_batch_CFLAGS = $(EVIX_TEST_CFLAGS)
tests_evix_test_batch_LDADD = $(EVIX_TEST_LDADD)
tests_evix_test_calls_SOURCES = tests/evix/test_calls.c \
	tests/evix/each_backend.h tests/evix/under_valgrind.h tests/evix/sockets.h
tests_evix_test_calls_CFLAGS = $(EVIX_TEST_CFLAGS)
tests_evix_test_calls_LDADD = $(EVIX_TEST_LDADD)
tests_evix_test_file_SOURCES = tests/evix/test_file.c tests/evix/under_valgrind.h
tests_evix_test_file_CFLAGS = $(EVIX_TEST_CFLAGS)
tests_evix_test_file_LDADD = $(EVIX_TEST_LDADD)
tests_evix_test_io_SOURCES = tests/evix/test_io.c \
	tests/evix/each_backend.h tests/evix/under_valgrind.h tests/evix/sockets.h
tests_evix_test_io_CFLAGS = $(EVIX_TEST_CFLAGS)
tests_evix_test_io_LDADD = $(EVIX_TEST_LDADD)
tests_evix_test_limits_SOURCES = tests/evix/test_limits.c \
	tests/evix/each_backend.h tests/evix/under_valgrind.h tests/evix/sockets.h
tests_evix_test_limits_CFLAGS = $(EVIX_TEST_CFLAGS)
tests_evix_test_limits_LDADD = $(EVIX_TEST_LDADD)
tests_evix_test_loop_SOURCES = tests/evix/test_loop.c \
	tests/evix/each_backend.h tests/evix/under_valgrind.h tests/evix/sockets.h
tests_evix_test_loop_CFLAGS = $(EVIX_TEST_CFLAGS)
tests_evix_test_loop_LDADD = $(EVIX_TEST_LDADD)
tests_evix_test_op_SOURCES = tests/evix/test_op.c \
	tests/evix/each_backend.h tests/evix/under_valgrind.h tests/evix/sockets.h
tests_evix_test_op_CFLAGS = $(EVIX_TEST_CFLAGS)
tests_evix_test_op_LDADD = $(EVIX_TEST_LDADD)
tests_evix_test_open_SOURCES = tests/evix/test_open.c tests/evix/under_valgrind.h
tests_evix_test_open_CFLAGS = $(EVIX_TEST_CFLAGS)
tests_evix_test_open_LDFLAGS = $(EVIX_LINKED_STATICALLY)
tests_evix_test_open_LDADD = $(EVIX_TEST_LDADD)
tests_evix_test_ring_forbidden_SOURCES = tests/evix/test_ring_forbidden.c
tests_evix_test_ring_forbidden_CFLAGS = $(EVIX_TEST_CFLAGS)
tests_evix_test_ring_forbidden_LDADD = $(EVIX_TEST_LDADD)
tests_evix_test_ring_restricted_SOURCES = tests/evix/test_ring_restricted.c
tests_evix_test_ring_restricted_CFLAGS = $(EVIX_TEST_CFLAGS) $(LIBURING_CFLAGS)
tests_evix_test_ring_restricted_LDFLAGS = $(EVIX_LINKED_STATICALLY)
tests_evix_test_ring_restricted_LDADD = $(EVIX_TEST_LDADD) $(LIBURING_LIBS)
tests_evix_test_signal_SOURCES = tests/evix/test_signal.c \
	tests/evix/each_backend.h tests/evix/under_valgrind.h
tests_evix_test_signal_CFLAGS = $(EVIX_TEST_CFLAGS)
tests_evix_test_signal_LDADD = $(EVIX_TEST_LDADD)
tests_evix_test_socket_SOURCES = tests/evix/test_socket.c \
	tests/evix/each_backend.h tests/evix/under_valgrind.h tests/evix/sockets.h
tests_evix_test_socket_CFLAGS = $(EVIX_TEST_CFLAGS)
tests_evix_test_socket_LDADD = $(EVIX_TEST_LDADD)
tests_evix_test_teardown_SOURCES = tests/evix/test_teardown.c tests/evix/under_valgrind.h
tests_evix_test_teardown_CFLAGS = $(EVIX_TEST_CFLAGS)
tests_evix_test_teardown_LDADD = $(EVIX_TEST_LDADD)
tests_evix_test_timer_SOURCES = tests/evix/test_timer.c \
	tests/evix/each_backend.h tests/evix/under_valgrind.h
tests_evix_test_timer_CFLAGS = $(EVIX_TEST_CFLAGS)
tests_evix_test_timer_LDADD = $(EVIX_TEST_LDADD)
tests_evix_test_turns_SOURCES = tests/evix/test_turns.c \
	tests/evix/each_backend.h tests/evix/under_valgrind.h tests/evix/sockets.h
tests_evix_test_turns_CFLAGS = $(EVIX_TEST_CFLAGS)
tests_evix_test_turns_LDADD = $(EVIX_TEST_LDADD)
tests_evix_test_work_SOURCES = tests/evix/test_work.c tests/evix/under_valgrind.h
tests_evix_test_work_CFLAGS = $(EVIX_TEST_CFLAGS)
tests_evix_test_work_LDADD = $(EVIX_TEST_LDADD)

# What things cost; not run by check.
EXTRA_PROGRAMS += tests/evix/bench_loop
tests_evix_bench_loop_SOURCES = tests/evix/bench_loop.c
tests_evix_bench_loop_CFLAGS = $(AM_CFLAGS)
tests_evix_bench_loop_LDADD = libevix.la
CLEANFILES += tests/evix/bench_loop
