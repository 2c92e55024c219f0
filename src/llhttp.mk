# SPDX-License-Identifier: MIT
# llhttp, compiled from a package's sources where no library is packaged. The copies keep the
# object files inside the build folder; they are never distributed.

if LLHTTP_SOURCES
noinst_LIBRARIES += libllhttp.a
nodist_libllhttp_a_SOURCES = llhttp/api.c llhttp/http.c llhttp/llhttp.c
libllhttp_a_CPPFLAGS = $(LLHTTP_CFLAGS)
libllhttp_a_CFLAGS = $(HARDEN_CFLAGS) $(SAN_CFLAGS)
LLHTTP_LIB = libllhttp.a
CLEANFILES += $(nodist_libllhttp_a_SOURCES)

$(nodist_libllhttp_a_SOURCES):
	@$(MKDIR_P) llhttp
	$(AM_V_GEN)cp $(LLHTTP_SOURCE_DIR)/$(@F) $@
else
LLHTTP_LIB = $(LLHTTP_LIBS)
endif
