# SPDX-License-Identifier: MIT
# The yardstick, on demand: make scripts/wrk/floor.
EXTRA_PROGRAMS += scripts/wrk/floor
scripts_wrk_floor_SOURCES = scripts/wrk/floor.c
scripts_wrk_floor_CFLAGS = $(AM_CFLAGS) $(LIBURING_CFLAGS)
scripts_wrk_floor_LDADD = $(LIBURING_LIBS)
