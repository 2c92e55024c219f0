# SPDX-License-Identifier: MIT
noinst_LIBRARIES += src/server/libserver.a
src_server_libserver_a_SOURCES = \
	src/server/access_log.c \
	src/server/access_log.h \
	src/server/access_record.c \
	src/server/access_record.h \
	src/server/address_limit.c \
	src/server/address_limit.h \
	src/server/clock.c \
	src/server/clock.h \
	src/server/connection.c \
	src/server/connection.h \
	src/server/deadline.c \
	src/server/deadline.h \
	src/server/echo_head.c \
	src/server/echo_head.h \
	src/server/echo_tcp.c \
	src/server/echo_tcp.h \
	src/server/error_page.c \
	src/server/error_page.h \
	src/server/exchange.c \
	src/server/exchange.h \
	src/server/handler.h \
	src/server/handler_echo.c \
	src/server/handler_redirect.c \
	src/server/handler_static.c \
	src/server/http1.c \
	src/server/http1.h \
	src/server/http1_response.c \
	src/server/http1_response.h \
	src/server/listener.c \
	src/server/listener.h \
	src/server/log_format.c \
	src/server/log_format.h \
	src/server/log_line.c \
	src/server/log_output.c \
	src/server/log_output.h \
	src/server/log_piece.h \
	src/server/output.c \
	src/server/output.h \
	src/server/route.c \
	src/server/route.h \
	src/server/transport.h \
	src/server/transport_plain.c \
	src/server/worker.c \
	src/server/worker.h \
	src/server/worker_state.h
