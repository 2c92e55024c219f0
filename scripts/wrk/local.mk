# SPDX-License-Identifier: MIT
# The yardstick, on demand: make scripts/wrk/floor.
EXTRA_PROGRAMS += scripts/wrk/floor
scripts_wrk_floor_SOURCES = scripts/wrk/floor.c
scripts_wrk_floor_CFLAGS = $(AM_CFLAGS) $(LIBURING_CFLAGS)
scripts_wrk_floor_LDADD = $(LIBURING_LIBS)

EXTRA_DIST += \
	scripts/wrk/close.lua \
	scripts/wrk/compare \
	scripts/wrk/conditional.lua \
	scripts/wrk/many.lua \
	scripts/wrk/pipelined.lua \
	scripts/wrk/report.lua
