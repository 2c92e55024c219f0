# SPDX-License-Identifier: MIT
CONFIG_TESTS = \
	tests/unit/test_config_load \
	tests/unit/test_config_manual \
	tests/unit/test_config_memory \
	tests/unit/test_config_site \
	tests/unit/test_config_units

check_PROGRAMS += $(CONFIG_TESTS)
TESTS += $(CONFIG_TESTS)

config_test_fixture = tests/unit/config_fixture.c tests/unit/config_fixture.h
config_test_cflags = $(AM_CFLAGS) $(CHECK_CFLAGS) $(LIBCONFIG_CFLAGS)
config_test_libs = src/config/libconf.a src/log/liblog.a $(LIBCONFIG_LIBS) $(CHECK_LIBS)

tests_unit_test_config_load_SOURCES = tests/unit/test_config_load.c $(config_test_fixture)
tests_unit_test_config_load_CFLAGS = $(config_test_cflags)
tests_unit_test_config_load_LDADD = $(config_test_libs)

tests_unit_test_config_manual_SOURCES = tests/unit/test_config_manual.c $(config_test_fixture)
tests_unit_test_config_manual_CFLAGS = $(config_test_cflags)
tests_unit_test_config_manual_LDADD = $(config_test_libs)

tests_unit_test_config_memory_SOURCES = tests/unit/test_config_memory.c $(config_test_fixture)
tests_unit_test_config_memory_CFLAGS = $(config_test_cflags)
tests_unit_test_config_memory_LDADD = $(config_test_libs)
tests_unit_test_config_memory_LDFLAGS = $(AM_LDFLAGS) \
	-Wl,--wrap=malloc -Wl,--wrap=calloc -Wl,--wrap=strdup

tests_unit_test_config_site_SOURCES = tests/unit/test_config_site.c $(config_test_fixture)
tests_unit_test_config_site_CFLAGS = $(config_test_cflags)
tests_unit_test_config_site_LDADD = $(config_test_libs)

tests_unit_test_config_units_SOURCES = tests/unit/test_config_units.c
tests_unit_test_config_units_CFLAGS = $(config_test_cflags)
tests_unit_test_config_units_LDADD = $(config_test_libs)
