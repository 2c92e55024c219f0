# SPDX-License-Identifier: MIT
# Fuzz targets. With --enable-fuzzers (clang) each is a fuzzer to be started by hand; without, it
# replays its corpus under `make check`. A target of another room takes fuzz_main and fuzz_ldflags.
if FUZZERS
fuzz_main =
fuzz_ldflags = $(AM_LDFLAGS) -fsanitize=fuzzer
else
fuzz_main = tests/fuzz/replay.c
fuzz_ldflags = $(AM_LDFLAGS)
TESTS += $(http_fuzz_targets)
endif
EXTRA_DIST += tests/fuzz/corpus tests/fuzz/replay.c

http_fuzz_targets = tests/fuzz/fuzz_chunked tests/fuzz/fuzz_condition tests/fuzz/fuzz_head \
	tests/fuzz/fuzz_range tests/fuzz/fuzz_uri
http_fuzz_ldadd = src/http/libhttp.a $(LLHTTP_LIB)
check_PROGRAMS += $(http_fuzz_targets)

tests_fuzz_fuzz_chunked_SOURCES = tests/fuzz/fuzz_chunked.c tests/fuzz/fuzz.h $(fuzz_main)
tests_fuzz_fuzz_chunked_LDFLAGS = $(fuzz_ldflags)
tests_fuzz_fuzz_chunked_LDADD = $(http_fuzz_ldadd)

tests_fuzz_fuzz_condition_SOURCES = tests/fuzz/fuzz_condition.c tests/fuzz/fuzz.h $(fuzz_main)
tests_fuzz_fuzz_condition_LDFLAGS = $(fuzz_ldflags)
tests_fuzz_fuzz_condition_LDADD = $(http_fuzz_ldadd)

tests_fuzz_fuzz_head_SOURCES = tests/fuzz/fuzz_head.c tests/fuzz/fuzz.h $(fuzz_main)
tests_fuzz_fuzz_head_LDFLAGS = $(fuzz_ldflags)
tests_fuzz_fuzz_head_LDADD = $(http_fuzz_ldadd)

tests_fuzz_fuzz_range_SOURCES = tests/fuzz/fuzz_range.c tests/fuzz/fuzz.h $(fuzz_main)
tests_fuzz_fuzz_range_LDFLAGS = $(fuzz_ldflags)
tests_fuzz_fuzz_range_LDADD = $(http_fuzz_ldadd)

tests_fuzz_fuzz_uri_SOURCES = tests/fuzz/fuzz_uri.c tests/fuzz/fuzz.h $(fuzz_main)
tests_fuzz_fuzz_uri_LDFLAGS = $(fuzz_ldflags)
tests_fuzz_fuzz_uri_LDADD = $(http_fuzz_ldadd)

# Heads made by chance, judged with llhttp in strict mode and without: what it lets pass is to make
# no difference.
check_PROGRAMS += tests/fuzz/verdicts
tests_fuzz_verdicts_SOURCES = tests/fuzz/verdicts.c
tests_fuzz_verdicts_LDADD = $(http_fuzz_ldadd)
TESTS += tests/fuzz/differ
dist_check_SCRIPTS += tests/fuzz/differ
if LLHTTP_SOURCES
if CHECK
check_PROGRAMS += tests/fuzz/verdicts_loose
tests_fuzz_verdicts_loose_SOURCES = tests/fuzz/verdicts.c
tests_fuzz_verdicts_loose_LDADD = src/http/libhttp.a libllhttp_loose.a
endif
endif
