# SPDX-License-Identifier: MIT
# The configuration. Linked together with src/log/liblog.a and $(LIBCONFIG_LIBS).
noinst_LIBRARIES += src/config/libconf.a
src_config_libconf_a_CPPFLAGS = $(AM_CPPFLAGS) $(LIBCONFIG_CFLAGS)
src_config_libconf_a_CFLAGS = $(AM_CFLAGS) $(STRICT_CFLAGS)
src_config_libconf_a_SOURCES = \
	src/config/address.c src/config/address.h \
	src/config/arena.c src/config/arena.h \
	src/config/check.c \
	src/config/config.h \
	src/config/describe.c \
	src/config/dump.c \
	src/config/errors.c src/config/errors.h \
	src/config/headers.c \
	src/config/load.c src/config/load.h \
	src/config/network.c src/config/network.h \
	src/config/override.c \
	src/config/rules.c src/config/rules.h \
	src/config/schema.c src/config/schema.h src/config/schema_rows.h \
	src/config/schema_bounds.c \
	src/config/schema_file.c \
	src/config/schema_files.c \
	src/config/schema_host.c \
	src/config/schema_listen.c \
	src/config/schema_location.c \
	src/config/schema_log.c \
	src/config/site.c \
	src/config/suggest.c src/config/suggest.h \
	src/config/text.c src/config/text.h \
	src/config/units.c src/config/units.h \
	src/config/value.c src/config/value.h \
	src/config/walk.c
