# SPDX-License-Identifier: MIT
# libevix, shared and static. Only what the public headers mark is visible.
lib_LTLIBRARIES += libevix.la
libevix_la_CFLAGS = $(AM_CFLAGS) $(LIBURING_CFLAGS) -fvisibility=hidden
libevix_la_LDFLAGS = $(AM_LDFLAGS) -version-info $(EVIX_ABI)
libevix_la_LIBADD =
libevix_la_SOURCES = \
	src/evix/accept.c \
	src/evix/accept.h \
	src/evix/async.c \
	src/evix/backend.c \
	src/evix/backend.h \
	src/evix/backend_epoll.c \
	src/evix/backend_kqueue.c \
	src/evix/backend_poll.c \
	src/evix/close.c \
	src/evix/epoll_watch.c \
	src/evix/epoll_watch.h \
	src/evix/file.c \
	src/evix/file_call.c \
	src/evix/file_call.h \
	src/evix/open_steps.c \
	src/evix/open_steps.h \
	src/evix/file_pool.c \
	src/evix/file_pool.h \
	src/evix/hook.c \
	src/evix/io.c \
	src/evix/list.c \
	src/evix/list.h \
	src/evix/loop.c \
	src/evix/loop_private.h \
	src/evix/op.c \
	src/evix/op_private.h \
	src/evix/platform.c \
	src/evix/platform.h \
	src/evix/post.c \
	src/evix/ready.c \
	src/evix/send_file.c \
	src/evix/signal.c \
	src/evix/timer.c \
	src/evix/timer_private.h \
	src/evix/trace.c \
	src/evix/trace.h \
	src/evix/wake.c \
	src/evix/work.c \
	src/evix/work_pool.h

# io_uring, through liburing.
uring_sources = \
	src/evix/backend_uring.c \
	src/evix/file_ring.c \
	src/evix/file_ring.h \
	src/evix/uring.h \
	src/evix/uring_buffers.c \
	src/evix/uring_buffers.h \
	src/evix/uring_file.c \
	src/evix/uring_file.h \
	src/evix/uring_op.c \
	src/evix/uring_open.c \
	src/evix/uring_open.h \
	src/evix/uring_restrict.c \
	src/evix/uring_restrict.h
if LIBURING
libevix_la_SOURCES += $(uring_sources)
libevix_la_LIBADD += $(LIBURING_LIBS)
endif
EXTRA_DIST += $(uring_sources)

evixincludedir = $(includedir)/evix
evixinclude_HEADERS = \
	include/evix/async.h \
	include/evix/evix.h \
	include/evix/file.h \
	include/evix/hook.h \
	include/evix/io.h \
	include/evix/loop.h \
	include/evix/op.h \
	include/evix/post.h \
	include/evix/signal.h \
	include/evix/timer.h \
	include/evix/work.h
pkgconfigdir = $(libdir)/pkgconfig
pkgconfig_DATA = src/evix/evix.pc
