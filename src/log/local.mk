# SPDX-License-Identifier: MIT
# The floor: one-line events. Linked by itself.
noinst_LIBRARIES += src/log/liblog.a
src_log_liblog_a_SOURCES = src/log/log.c src/log/log.h
