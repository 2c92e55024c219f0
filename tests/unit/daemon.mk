# SPDX-License-Identifier: MIT
daemon_tests = tests/unit/test_attendant tests/unit/test_complaints tests/unit/test_descriptors \
	tests/unit/test_error_log \
	tests/unit/test_inherit tests/unit/test_liveness tests/unit/test_pid_file tests/unit/test_respawn \
	tests/unit/test_sandbox tests/unit/test_sockets tests/unit/test_steering \
	tests/unit/test_takeover
check_PROGRAMS += $(daemon_tests)
TESTS += $(daemon_tests)

tests_unit_test_attendant_SOURCES = tests/unit/test_attendant.c
tests_unit_test_attendant_CFLAGS = $(AM_CFLAGS) $(CHECK_CFLAGS)
tests_unit_test_attendant_LDADD = src/daemon/libdaemon.a src/log/liblog.a $(CHECK_LIBS)

tests_unit_test_complaints_SOURCES = tests/unit/test_complaints.c
tests_unit_test_complaints_CFLAGS = $(AM_CFLAGS) $(CHECK_CFLAGS)
tests_unit_test_complaints_LDADD = src/daemon/libdaemon.a src/log/liblog.a libevix.la \
	$(LIBURING_LIBS) $(CHECK_LIBS)

tests_unit_test_descriptors_SOURCES = tests/unit/test_descriptors.c tests/evix/under_valgrind.h
tests_unit_test_descriptors_CFLAGS = $(AM_CFLAGS) $(CHECK_CFLAGS)
tests_unit_test_descriptors_LDADD = src/daemon/libdaemon.a src/log/liblog.a $(CHECK_LIBS)

tests_unit_test_error_log_SOURCES = tests/unit/test_error_log.c
tests_unit_test_error_log_CFLAGS = $(AM_CFLAGS) $(CHECK_CFLAGS)
tests_unit_test_error_log_LDADD = src/daemon/libdaemon.a src/server/libserver.a \
	src/log/liblog.a $(CHECK_LIBS)

tests_unit_test_inherit_SOURCES = tests/unit/test_inherit.c
tests_unit_test_inherit_CFLAGS = $(AM_CFLAGS) $(CHECK_CFLAGS)
tests_unit_test_inherit_LDADD = src/daemon/libdaemon.a src/config/libconf.a src/log/liblog.a \
	$(LIBSYSTEMD_LIBS) $(CHECK_LIBS)

tests_unit_test_liveness_SOURCES = tests/unit/test_liveness.c
tests_unit_test_liveness_CFLAGS = $(AM_CFLAGS) $(CHECK_CFLAGS)
tests_unit_test_liveness_LDADD = src/daemon/libdaemon.a src/server/libserver.a \
	src/config/libconf.a src/log/liblog.a libevix.la $(LIBURING_LIBS) $(LIBSYSTEMD_LIBS) \
	$(CHECK_LIBS)

tests_unit_test_pid_file_SOURCES = tests/unit/test_pid_file.c
tests_unit_test_pid_file_CFLAGS = $(AM_CFLAGS) $(CHECK_CFLAGS)
tests_unit_test_pid_file_LDADD = src/daemon/libdaemon.a $(CHECK_LIBS)

tests_unit_test_respawn_SOURCES = tests/unit/test_respawn.c
tests_unit_test_respawn_CFLAGS = $(AM_CFLAGS) $(CHECK_CFLAGS)
tests_unit_test_respawn_LDADD = src/daemon/libdaemon.a $(CHECK_LIBS)

tests_unit_test_sandbox_SOURCES = tests/unit/test_sandbox.c tests/evix/under_valgrind.h
tests_unit_test_sandbox_CFLAGS = $(AM_CFLAGS) $(CHECK_CFLAGS)
tests_unit_test_sandbox_LDADD = src/daemon/libdaemon.a $(LIBSECCOMP_LIBS) $(CHECK_LIBS)

tests_unit_test_sockets_SOURCES = tests/unit/test_sockets.c
tests_unit_test_sockets_CFLAGS = $(AM_CFLAGS) $(CHECK_CFLAGS)
tests_unit_test_sockets_LDADD = src/daemon/libdaemon.a src/config/libconf.a src/log/liblog.a \
	$(LIBSYSTEMD_LIBS) $(CHECK_LIBS)

tests_unit_test_steering_SOURCES = tests/unit/test_steering.c
tests_unit_test_steering_CFLAGS = $(AM_CFLAGS) $(CHECK_CFLAGS)
tests_unit_test_steering_LDADD = src/daemon/libdaemon.a src/config/libconf.a src/log/liblog.a \
	$(LIBSYSTEMD_LIBS) $(CHECK_LIBS)

tests_unit_test_takeover_SOURCES = tests/unit/test_takeover.c
tests_unit_test_takeover_CFLAGS = $(AM_CFLAGS) $(CHECK_CFLAGS)
tests_unit_test_takeover_LDADD = src/daemon/libdaemon.a src/config/libconf.a src/log/liblog.a \
	$(LIBSYSTEMD_LIBS) $(CHECK_LIBS)
