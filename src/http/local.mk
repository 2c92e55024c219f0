# SPDX-License-Identifier: MIT
# HTTP as bytes and messages. Linked together with $(LLHTTP_LIB).
noinst_LIBRARIES += src/http/libhttp.a
src_http_libhttp_a_CPPFLAGS = $(AM_CPPFLAGS) $(LLHTTP_CFLAGS)
src_http_libhttp_a_CFLAGS = $(AM_CFLAGS) $(STRICT_CFLAGS)
src_http_libhttp_a_SOURCES = \
	src/http/authorization.c src/http/authorization.h \
	src/http/chunked.c src/http/chunked.h \
	src/http/condition.c src/http/condition.h \
	src/http/date.c src/http/date.h \
	src/http/field.c src/http/field.h \
	src/http/framing.c src/http/framing.h \
	src/http/head.c src/http/head.h \
	src/http/header_cache.c src/http/header_cache.h \
	src/http/method.c src/http/method.h \
	src/http/multipart.c src/http/multipart.h \
	src/http/negotiate.c src/http/negotiate.h \
	src/http/range.c src/http/range.h \
	src/http/request.c src/http/request.h \
	src/http/response.c src/http/response.h \
	src/http/status.c src/http/status.h \
	src/http/syntax.c src/http/syntax.h \
	src/http/target.c src/http/target.h \
	src/http/text.c src/http/text.h \
	src/http/uri.c src/http/uri.h
