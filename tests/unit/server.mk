# SPDX-License-Identifier: MIT
check_PROGRAMS += tests/unit/test_access_log tests/unit/test_log_format
TESTS += tests/unit/test_access_log tests/unit/test_log_format

tests_unit_test_access_log_SOURCES = tests/unit/test_access_log.c
tests_unit_test_access_log_CFLAGS = $(AM_CFLAGS) $(CHECK_CFLAGS)
tests_unit_test_access_log_LDADD = src/server/libserver.a src/http/libhttp.a src/log/liblog.a \
	libevix.la $(LIBURING_LIBS) $(CHECK_LIBS)

tests_unit_test_log_format_SOURCES = tests/unit/test_log_format.c
tests_unit_test_log_format_CFLAGS = $(AM_CFLAGS) $(CHECK_CFLAGS)
tests_unit_test_log_format_LDADD = src/server/libserver.a src/http/libhttp.a src/log/liblog.a \
	$(CHECK_LIBS)
