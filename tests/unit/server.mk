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

check_PROGRAMS += tests/unit/test_address_limit tests/unit/test_deadline tests/unit/test_output \
	tests/unit/test_descriptor_budget
TESTS += tests/unit/test_address_limit tests/unit/test_deadline tests/unit/test_output \
	tests/unit/test_descriptor_budget

tests_unit_test_address_limit_SOURCES = tests/unit/test_address_limit.c
tests_unit_test_address_limit_CFLAGS = $(AM_CFLAGS) $(CHECK_CFLAGS)
tests_unit_test_address_limit_LDADD = src/server/libserver.a $(CHECK_LIBS)

tests_unit_test_descriptor_budget_SOURCES = tests/unit/test_descriptor_budget.c
tests_unit_test_descriptor_budget_CFLAGS = $(AM_CFLAGS) $(CHECK_CFLAGS)
tests_unit_test_descriptor_budget_LDADD = src/server/libserver.a $(CHECK_LIBS)

tests_unit_test_deadline_SOURCES = tests/unit/test_deadline.c
tests_unit_test_deadline_CFLAGS = $(AM_CFLAGS) $(CHECK_CFLAGS)
tests_unit_test_deadline_LDADD = src/server/libserver.a libevix.la $(LIBURING_LIBS) $(CHECK_LIBS)

tests_unit_test_output_SOURCES = tests/unit/test_output.c
tests_unit_test_output_CFLAGS = $(AM_CFLAGS) $(CHECK_CFLAGS)
tests_unit_test_output_LDADD = src/server/libserver.a libevix.la $(LIBURING_LIBS) $(CHECK_LIBS)

check_PROGRAMS += tests/unit/test_rate
TESTS += tests/unit/test_rate

tests_unit_test_rate_SOURCES = tests/unit/test_rate.c
tests_unit_test_rate_CFLAGS = $(AM_CFLAGS) $(CHECK_CFLAGS)
tests_unit_test_rate_LDADD = src/server/libserver.a $(CHECK_LIBS)

check_PROGRAMS += tests/unit/test_counters
TESTS += tests/unit/test_counters

tests_unit_test_counters_SOURCES = tests/unit/test_counters.c
tests_unit_test_counters_CFLAGS = $(AM_CFLAGS) $(CHECK_CFLAGS)
tests_unit_test_counters_LDADD = src/server/libserver.a $(CHECK_LIBS)

check_PROGRAMS += tests/unit/test_allow tests/unit/test_glob
TESTS += tests/unit/test_allow tests/unit/test_glob

tests_unit_test_allow_SOURCES = tests/unit/test_allow.c
tests_unit_test_allow_CFLAGS = $(AM_CFLAGS) $(CHECK_CFLAGS)
tests_unit_test_allow_LDADD = src/server/libserver.a src/config/libconf.a src/log/liblog.a \
	$(CHECK_LIBS)

tests_unit_test_glob_SOURCES = tests/unit/test_glob.c
tests_unit_test_glob_CFLAGS = $(AM_CFLAGS) $(CHECK_CFLAGS)
tests_unit_test_glob_LDADD = src/server/libserver.a $(CHECK_LIBS)

check_PROGRAMS += tests/unit/test_auth
TESTS += tests/unit/test_auth

tests_unit_test_auth_SOURCES = tests/unit/test_auth.c tests/unit/passwords.h
tests_unit_test_auth_CFLAGS = $(AM_CFLAGS) $(CHECK_CFLAGS)
tests_unit_test_auth_LDFLAGS = $(AM_LDFLAGS) -Wl,--wrap=password_matches
tests_unit_test_auth_LDADD = src/server/libserver.a src/http/libhttp.a src/log/liblog.a \
	libevix.la $(LIBURING_LIBS) $(LIBCRYPT_LIBS) $(CHECK_LIBS)

check_PROGRAMS += tests/unit/test_error_page
TESTS += tests/unit/test_error_page

tests_unit_test_error_page_SOURCES = tests/unit/test_error_page.c
tests_unit_test_error_page_CFLAGS = $(AM_CFLAGS) $(CHECK_CFLAGS)
tests_unit_test_error_page_LDADD = src/server/libserver.a src/http/libhttp.a $(LLHTTP_LIB) \
	$(CHECK_LIBS)

check_PROGRAMS += tests/unit/test_slab
TESTS += tests/unit/test_slab

tests_unit_test_slab_SOURCES = tests/unit/test_slab.c
tests_unit_test_slab_CFLAGS = $(AM_CFLAGS) $(CHECK_CFLAGS)
tests_unit_test_slab_LDFLAGS = $(AM_LDFLAGS) -Wl,--wrap=posix_memalign -Wl,--wrap=free
tests_unit_test_slab_LDADD = src/server/libserver.a $(CHECK_LIBS)
