# SPDX-License-Identifier: MIT
# Small programs on libevix, for newcomers; built with the rest, not installed.
noinst_PROGRAMS += examples/echo examples/timer
examples_echo_SOURCES = examples/echo.c
examples_echo_LDADD = libevix.la
examples_timer_SOURCES = examples/timer.c
examples_timer_LDADD = libevix.la
