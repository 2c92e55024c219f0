# SPDX-License-Identifier: MIT
# The yardstick, on demand: make scripts/wrk/floor.
EXTRA_PROGRAMS += scripts/wrk/floor
scripts_wrk_floor_SOURCES = \
	scripts/wrk/floor.c scripts/wrk/floor.h \
	scripts/wrk/floor_epoll.c \
	scripts/wrk/floor_io_uring.c \
	scripts/wrk/floor_poll.c \
	scripts/wrk/floor_threads.c
scripts_wrk_floor_CFLAGS = $(AM_CFLAGS) $(LIBURING_CFLAGS)
scripts_wrk_floor_LDADD = $(LIBURING_LIBS) -lpthread

EXTRA_DIST += \
	scripts/wrk/README.md \
	scripts/wrk/access-sample.txt \
	scripts/wrk/baseline.py \
	scripts/wrk/c10k \
	scripts/wrk/close.lua \
	scripts/wrk/coldisk \
	scripts/wrk/compare \
	scripts/wrk/conditional.lua \
	scripts/wrk/instructions \
	scripts/wrk/many.lua \
	scripts/wrk/measuring/__init__.py \
	scripts/wrk/measuring/budgets.py \
	scripts/wrk/measuring/cases.py \
	scripts/wrk/measuring/load.py \
	scripts/wrk/measuring/machine.py \
	scripts/wrk/measuring/plots.py \
	scripts/wrk/measuring/probe.py \
	scripts/wrk/measuring/processes.py \
	scripts/wrk/measuring/reports.py \
	scripts/wrk/measuring/servers.py \
	scripts/wrk/measuring/site.py \
	scripts/wrk/measuring/slow_disk.py \
	scripts/wrk/measuring/stepping.py \
	scripts/wrk/measuring/tables.py \
	scripts/wrk/replay.lua \
	scripts/wrk/pipelined.lua \
	scripts/wrk/profile \
	scripts/wrk/ranges.lua \
	scripts/wrk/readme \
	scripts/wrk/report.lua \
	scripts/wrk/respawn \
	scripts/wrk/results/c10k.svg \
	scripts/wrk/results/c10k.txt \
	scripts/wrk/results/coldisk.svg \
	scripts/wrk/results/coldisk.txt \
	scripts/wrk/results/compare.svg \
	scripts/wrk/results/compare.txt

# Counts instructions, for scripts/wrk/instructions and the test that runs it.
EXTRA_PROGRAMS += scripts/wrk/steps
check_DATA += scripts/wrk/steps
scripts_wrk_steps_SOURCES = scripts/wrk/steps.c
