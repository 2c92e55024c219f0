# SPDX-License-Identifier: MIT
# A root directory as a set of representations. Linked together with libevix.
noinst_LIBRARIES += src/files/libfiles.a
src_files_libfiles_a_SOURCES = \
	src/files/body.h \
	src/files/body_file.c \
	src/files/body_memory.c \
	src/files/cache.c src/files/cache.h \
	src/files/chunk.c src/files/chunk.h \
	src/files/closing.c src/files/closing.h \
	src/files/coding.c src/files/coding.h \
	src/files/describe.h \
	src/files/device.c src/files/device.h \
	src/files/directory.c src/files/directory.h \
	src/files/evict.c src/files/evict.h \
	src/files/fetch.c src/files/fetch.h \
	src/files/fill.c src/files/fill.h \
	src/files/freshness.c src/files/freshness.h \
	src/files/hash.c src/files/hash.h \
	src/files/interior.h \
	src/files/listing.c src/files/listing.h \
	src/files/listing_page.c src/files/listing_page.h \
	src/files/listing_style.h \
	src/files/lookup.c \
	src/files/media_table.c src/files/media_table.h \
	src/files/media_type.c src/files/media_type.h \
	src/files/memory_budget.h \
	src/files/node.c src/files/node.h \
	src/files/page_style.h \
	src/files/page_text.c src/files/page_text.h \
	src/files/refusal.c src/files/refusal.h \
	src/files/representation.c src/files/representation.h \
	src/files/residency.c src/files/residency.h \
	src/files/root.c src/files/root.h \
	src/files/root_path.c src/files/root_path.h \
	src/files/sample.c src/files/sample.h \
	src/files/sibling.c src/files/sibling.h \
	src/files/store.c src/files/store.h \
	src/files/store_counters.h \
	src/files/validator.c src/files/validator.h \
	src/files/watch.c src/files/watch.h
