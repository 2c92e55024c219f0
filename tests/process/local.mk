# SPDX-License-Identifier: MIT
# Black-box tests of the program as a process: its command line, its signals, its workers.

PROCESS_MODULES = \
	tests/process/test_activation \
	tests/process/test_check \
	tests/process/test_crash \
	tests/process/test_fallback \
	tests/process/test_notify \
	tests/process/test_orders \
	tests/process/test_privileges \
	tests/process/test_reload \
	tests/process/test_rotation \
	tests/process/test_run \
	tests/process/test_signals \
	tests/process/test_site \
	tests/process/test_start \
	tests/process/test_stuck \
	tests/process/test_systemd \
	tests/process/test_units \
	tests/process/test_upgrade \
	tests/process/test_workers

# What ends workers while they have requests in hand goes by the backend, too.
PROCESS_TESTS = \
	$(PROCESS_MODULES:=-epoll.test) \
	tests/process/test_crash-io_uring.test \
	tests/process/test_orders-io_uring.test \
	tests/process/test_reload-io_uring.test \
	tests/process/test_rotation-io_uring.test \
	tests/process/test_signals-io_uring.test \
	tests/process/test_stuck-io_uring.test \
	tests/process/test_upgrade-io_uring.test \
	tests/process/test_workers-io_uring.test

DAEMON_TESTS += $(PROCESS_TESTS)
EXTRA_DIST += $(PROCESS_MODULES:=.py)

check-process: all
	$(MAKE) $(AM_MAKEFLAGS) check-TESTS TESTS='$(PROCESS_TESTS)'
.PHONY: check-process

# What test_fallback.py starts the daemon by.
check_PROGRAMS += tests/process/forbid_call
tests_process_forbid_call_SOURCES = tests/process/forbid_call.c
tests_process_forbid_call_CFLAGS = $(AM_CFLAGS)

# The same at length; minutes, and for a machine that has nothing else to do.
LONG_TESTS = \
	tests/process/test_orders-epoll.test tests/process/test_orders-io_uring.test \
	tests/process/test_reload-epoll.test tests/process/test_reload-io_uring.test \
	tests/process/test_rotation-epoll.test tests/process/test_rotation-io_uring.test \
	tests/process/test_stuck-epoll.test tests/process/test_stuck-io_uring.test \
	tests/process/test_upgrade-epoll.test tests/process/test_upgrade-io_uring.test
check-process-long: all
	ORDERS_TRIES=$${ORDERS_TRIES:-6400} RELOADS=$${RELOADS:-1000} ROTATIONS=$${ROTATIONS:-1000} \
	UPGRADES=$${UPGRADES:-100} DOWNLOAD_MIB=$${DOWNLOAD_MIB:-1024} \
	STUCK_FIGURES=$${STUCK_FIGURES-1} \
	$(MAKE) $(AM_MAKEFLAGS) check-TESTS TESTS='$(LONG_TESTS)'
.PHONY: check-process-long
