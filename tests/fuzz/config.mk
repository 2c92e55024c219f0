# SPDX-License-Identifier: MIT
# The configuration's loader. As a fuzzer it takes the words of tests/fuzz/config.dict (-dict=).
check_PROGRAMS += tests/fuzz/fuzz_config
if !FUZZERS
TESTS += tests/fuzz/fuzz_config
endif
EXTRA_DIST += tests/fuzz/config.dict

tests_fuzz_fuzz_config_SOURCES = tests/fuzz/fuzz_config.c tests/fuzz/fuzz.h $(fuzz_main)
tests_fuzz_fuzz_config_LDFLAGS = $(fuzz_ldflags)
tests_fuzz_fuzz_config_LDADD = src/config/libconf.a src/log/liblog.a $(LIBCONFIG_LIBS)
