# SPDX-License-Identifier: MIT
check_PROGRAMS += tests/unit/test_log
TESTS += tests/unit/test_log
tests_unit_test_log_SOURCES = tests/unit/test_log.c
tests_unit_test_log_CFLAGS = $(AM_CFLAGS) $(CHECK_CFLAGS)
tests_unit_test_log_LDADD = src/log/liblog.a $(CHECK_LIBS)
