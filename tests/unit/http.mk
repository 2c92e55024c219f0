# SPDX-License-Identifier: MIT
# Tests of src/http, a program a file. What llhttp has a say in runs once more with llhttp compiled
# without strict mode: nothing may change.
http_unit_tests = \
	tests/unit/test_authorization tests/unit/test_chunked tests/unit/test_condition tests/unit/test_date \
	tests/unit/test_field tests/unit/test_framing tests/unit/test_head \
	tests/unit/test_header_cache \
	tests/unit/test_method tests/unit/test_multipart tests/unit/test_negotiate \
	tests/unit/test_range tests/unit/test_request tests/unit/test_response tests/unit/test_status \
	tests/unit/test_syntax tests/unit/test_target tests/unit/test_text tests/unit/test_uri
check_PROGRAMS += $(http_unit_tests)
TESTS += $(http_unit_tests)

http_unit_cflags = $(AM_CFLAGS) $(CHECK_CFLAGS)
http_unit_ldadd = src/http/libhttp.a $(LLHTTP_LIB) $(CHECK_LIBS)

tests_unit_test_authorization_SOURCES = tests/unit/test_authorization.c
tests_unit_test_authorization_CFLAGS = $(http_unit_cflags)
tests_unit_test_authorization_LDADD = $(http_unit_ldadd)

tests_unit_test_chunked_SOURCES = tests/unit/test_chunked.c tests/unit/http_rows.h
tests_unit_test_chunked_CFLAGS = $(http_unit_cflags)
tests_unit_test_chunked_LDADD = $(http_unit_ldadd)

tests_unit_test_condition_SOURCES = tests/unit/test_condition.c tests/unit/http_rows.h
tests_unit_test_condition_CFLAGS = $(http_unit_cflags)
tests_unit_test_condition_LDADD = $(http_unit_ldadd)

tests_unit_test_date_SOURCES = tests/unit/test_date.c tests/unit/http_rows.h
tests_unit_test_date_CFLAGS = $(http_unit_cflags)
tests_unit_test_date_LDADD = $(http_unit_ldadd)

tests_unit_test_field_SOURCES = tests/unit/test_field.c tests/unit/http_rows.h
tests_unit_test_field_CFLAGS = $(http_unit_cflags)
tests_unit_test_field_LDADD = $(http_unit_ldadd)

tests_unit_test_framing_SOURCES = tests/unit/test_framing.c tests/unit/http_rows.h
tests_unit_test_framing_CFLAGS = $(http_unit_cflags)
tests_unit_test_framing_LDADD = $(http_unit_ldadd)

tests_unit_test_header_cache_SOURCES = tests/unit/test_header_cache.c tests/unit/http_rows.h
tests_unit_test_header_cache_CFLAGS = $(http_unit_cflags)
tests_unit_test_header_cache_LDADD = $(http_unit_ldadd)

tests_unit_test_head_SOURCES = tests/unit/test_head.c tests/unit/http_rows.h
tests_unit_test_head_CFLAGS = $(http_unit_cflags)
tests_unit_test_head_LDADD = $(http_unit_ldadd)

tests_unit_test_method_SOURCES = tests/unit/test_method.c tests/unit/http_rows.h
tests_unit_test_method_CFLAGS = $(http_unit_cflags)
tests_unit_test_method_LDADD = $(http_unit_ldadd)

tests_unit_test_multipart_SOURCES = tests/unit/test_multipart.c tests/unit/http_rows.h
tests_unit_test_multipart_CFLAGS = $(http_unit_cflags)
tests_unit_test_multipart_LDADD = $(http_unit_ldadd)

tests_unit_test_negotiate_SOURCES = tests/unit/test_negotiate.c tests/unit/http_rows.h
tests_unit_test_negotiate_CFLAGS = $(http_unit_cflags)
tests_unit_test_negotiate_LDADD = $(http_unit_ldadd)

tests_unit_test_range_SOURCES = tests/unit/test_range.c tests/unit/http_rows.h
tests_unit_test_range_CFLAGS = $(http_unit_cflags)
tests_unit_test_range_LDADD = $(http_unit_ldadd)

tests_unit_test_request_SOURCES = tests/unit/test_request.c tests/unit/http_rows.h
tests_unit_test_request_CFLAGS = $(http_unit_cflags)
tests_unit_test_request_LDADD = $(http_unit_ldadd)

tests_unit_test_response_SOURCES = tests/unit/test_response.c tests/unit/http_rows.h
tests_unit_test_response_CFLAGS = $(http_unit_cflags)
tests_unit_test_response_LDADD = $(http_unit_ldadd)

tests_unit_test_status_SOURCES = tests/unit/test_status.c tests/unit/http_rows.h
tests_unit_test_status_CFLAGS = $(http_unit_cflags)
tests_unit_test_status_LDADD = $(http_unit_ldadd)

tests_unit_test_syntax_SOURCES = tests/unit/test_syntax.c tests/unit/http_rows.h
tests_unit_test_syntax_CFLAGS = $(http_unit_cflags)
tests_unit_test_syntax_LDADD = $(http_unit_ldadd)

tests_unit_test_target_SOURCES = tests/unit/test_target.c tests/unit/http_rows.h
tests_unit_test_target_CFLAGS = $(http_unit_cflags)
tests_unit_test_target_LDADD = $(http_unit_ldadd)

tests_unit_test_text_SOURCES = tests/unit/test_text.c tests/unit/http_rows.h
tests_unit_test_text_CFLAGS = $(http_unit_cflags)
tests_unit_test_text_LDADD = $(http_unit_ldadd)

tests_unit_test_uri_SOURCES = tests/unit/test_uri.c tests/unit/http_rows.h
tests_unit_test_uri_CFLAGS = $(http_unit_cflags)
tests_unit_test_uri_LDADD = $(http_unit_ldadd)

if LLHTTP_SOURCES
check_LIBRARIES = libllhttp_loose.a
nodist_libllhttp_loose_a_SOURCES = $(nodist_libllhttp_a_SOURCES)
libllhttp_loose_a_CPPFLAGS = $(LLHTTP_CFLAGS) -ULLHTTP_STRICT_MODE -DLLHTTP_STRICT_MODE=0
libllhttp_loose_a_CFLAGS = $(libllhttp_a_CFLAGS)

http_loose_tests = tests/unit/test_framing_loose tests/unit/test_head_loose \
	tests/unit/test_syntax_loose tests/unit/test_target_loose
http_loose_ldadd = src/http/libhttp.a libllhttp_loose.a $(CHECK_LIBS)
check_PROGRAMS += $(http_loose_tests)
TESTS += $(http_loose_tests)

tests_unit_test_framing_loose_SOURCES = $(tests_unit_test_framing_SOURCES)
tests_unit_test_framing_loose_CFLAGS = $(http_unit_cflags)
tests_unit_test_framing_loose_LDADD = $(http_loose_ldadd)

tests_unit_test_head_loose_SOURCES = $(tests_unit_test_head_SOURCES)
tests_unit_test_head_loose_CFLAGS = $(http_unit_cflags)
tests_unit_test_head_loose_LDADD = $(http_loose_ldadd)

tests_unit_test_syntax_loose_SOURCES = $(tests_unit_test_syntax_SOURCES)
tests_unit_test_syntax_loose_CFLAGS = $(http_unit_cflags)
tests_unit_test_syntax_loose_LDADD = $(http_loose_ldadd)

tests_unit_test_target_loose_SOURCES = $(tests_unit_test_target_SOURCES)
tests_unit_test_target_loose_CFLAGS = $(http_unit_cflags)
tests_unit_test_target_loose_LDADD = $(http_loose_ldadd)
endif

# Not a test: prints what the parse of a small request costs. `make tests/unit/bench_head`.
EXTRA_PROGRAMS += tests/unit/bench_head
tests_unit_bench_head_SOURCES = tests/unit/bench_head.c
tests_unit_bench_head_LDADD = src/http/libhttp.a $(LLHTTP_LIB)
