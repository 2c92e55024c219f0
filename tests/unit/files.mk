# SPDX-License-Identifier: MIT
# Tests of src/files, a program a file.
files_unit_tests = \
	tests/unit/test_body_file tests/unit/test_body_memory tests/unit/test_cache \
	tests/unit/test_evict tests/unit/test_fill tests/unit/test_freshness \
	tests/unit/test_hash tests/unit/test_listing tests/unit/test_listing_page \
	tests/unit/test_lookup tests/unit/test_media_type tests/unit/test_refusal tests/unit/test_residency \
	tests/unit/test_root tests/unit/test_scan tests/unit/test_sibling tests/unit/test_store \
	tests/unit/test_validator \
	tests/unit/test_watch
check_PROGRAMS += $(files_unit_tests)
TESTS += $(files_unit_tests)

files_unit_cflags = $(AM_CFLAGS) $(CHECK_CFLAGS)
files_unit_fixture = tests/unit/files_fixture.c tests/unit/files_fixture.h
fake_page_cache = tests/unit/fake_page_cache.c tests/unit/fake_page_cache.h
files_unit_ldadd = src/files/libfiles.a src/log/liblog.a libevix.la $(LIBURING_LIBS) $(CHECK_LIBS)

tests_unit_test_body_file_SOURCES = tests/unit/test_body_file.c $(fake_page_cache) $(files_unit_fixture)
tests_unit_test_body_file_CFLAGS = $(files_unit_cflags)
tests_unit_test_body_file_LDADD = $(files_unit_ldadd)

tests_unit_test_body_memory_SOURCES = tests/unit/test_body_memory.c $(files_unit_fixture)
tests_unit_test_body_memory_CFLAGS = $(files_unit_cflags)
tests_unit_test_body_memory_LDADD = $(files_unit_ldadd)

tests_unit_test_cache_SOURCES = tests/unit/test_cache.c $(files_unit_fixture)
tests_unit_test_cache_CFLAGS = $(files_unit_cflags)
tests_unit_test_cache_LDADD = $(files_unit_ldadd)

tests_unit_test_evict_SOURCES = tests/unit/test_evict.c $(files_unit_fixture)
tests_unit_test_evict_CFLAGS = $(files_unit_cflags)
tests_unit_test_evict_LDADD = $(files_unit_ldadd)

tests_unit_test_fill_SOURCES = tests/unit/test_fill.c $(files_unit_fixture)
tests_unit_test_fill_CFLAGS = $(files_unit_cflags)
tests_unit_test_fill_LDADD = $(files_unit_ldadd)

tests_unit_test_freshness_SOURCES = tests/unit/test_freshness.c $(files_unit_fixture)
tests_unit_test_freshness_CFLAGS = $(files_unit_cflags)
tests_unit_test_freshness_LDADD = $(files_unit_ldadd)

tests_unit_test_hash_SOURCES = tests/unit/test_hash.c $(files_unit_fixture)
tests_unit_test_hash_CFLAGS = $(files_unit_cflags)
tests_unit_test_hash_LDADD = $(files_unit_ldadd)

tests_unit_test_listing_SOURCES = tests/unit/test_listing.c $(files_unit_fixture)
tests_unit_test_listing_CFLAGS = $(files_unit_cflags)
tests_unit_test_listing_LDADD = $(files_unit_ldadd)

tests_unit_test_listing_page_SOURCES = tests/unit/test_listing_page.c $(files_unit_fixture)
tests_unit_test_listing_page_CFLAGS = $(files_unit_cflags)
tests_unit_test_listing_page_LDADD = $(files_unit_ldadd)

tests_unit_test_lookup_SOURCES = tests/unit/test_lookup.c $(files_unit_fixture)
tests_unit_test_lookup_CFLAGS = $(files_unit_cflags)
tests_unit_test_lookup_LDADD = $(files_unit_ldadd)

tests_unit_test_refusal_SOURCES = tests/unit/test_refusal.c
tests_unit_test_refusal_CFLAGS = $(files_unit_cflags)
tests_unit_test_refusal_LDADD = $(files_unit_ldadd)

tests_unit_test_media_type_SOURCES = tests/unit/test_media_type.c $(files_unit_fixture)
tests_unit_test_media_type_CFLAGS = $(files_unit_cflags)
tests_unit_test_media_type_LDADD = $(files_unit_ldadd)

tests_unit_test_residency_SOURCES = tests/unit/test_residency.c $(fake_page_cache) $(files_unit_fixture)
tests_unit_test_residency_CFLAGS = $(files_unit_cflags)
tests_unit_test_residency_LDADD = $(files_unit_ldadd)

tests_unit_test_root_SOURCES = tests/unit/test_root.c $(files_unit_fixture)
tests_unit_test_root_CFLAGS = $(files_unit_cflags)
tests_unit_test_root_LDADD = $(files_unit_ldadd)

tests_unit_test_scan_SOURCES = tests/unit/test_scan.c $(files_unit_fixture)
tests_unit_test_scan_CFLAGS = $(files_unit_cflags)
tests_unit_test_scan_LDADD = $(files_unit_ldadd)

tests_unit_test_sibling_SOURCES = tests/unit/test_sibling.c $(files_unit_fixture)
tests_unit_test_sibling_CFLAGS = $(files_unit_cflags)
tests_unit_test_sibling_LDADD = $(files_unit_ldadd)

tests_unit_test_store_SOURCES = tests/unit/test_store.c $(files_unit_fixture)
tests_unit_test_store_CFLAGS = $(files_unit_cflags)
tests_unit_test_store_LDADD = $(files_unit_ldadd)

tests_unit_test_validator_SOURCES = tests/unit/test_validator.c $(files_unit_fixture)
tests_unit_test_validator_CFLAGS = $(files_unit_cflags)
tests_unit_test_validator_LDADD = $(files_unit_ldadd)

tests_unit_test_watch_SOURCES = tests/unit/test_watch.c $(files_unit_fixture)
tests_unit_test_watch_CFLAGS = $(files_unit_cflags)
tests_unit_test_watch_LDADD = $(files_unit_ldadd)
