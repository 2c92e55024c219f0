/* SPDX-License-Identifier: MIT */
#ifndef SERVER_POISON_H
#define SERVER_POISON_H

/*
 * For memory that is kept to be used again: whoever touches it meanwhile is found by the sanitizer,
 * as after free(3). Without one these do nothing.
 */

#if defined(__SANITIZE_ADDRESS__)
#define HAS_ASAN 1
#elif defined(__has_feature)
#if __has_feature(address_sanitizer)
#define HAS_ASAN 1
#endif
#endif
#ifdef HAS_ASAN
#include <sanitizer/asan_interface.h>
#else
#define ASAN_POISON_MEMORY_REGION(address, size)   ((void)(address), (void)(size))
#define ASAN_UNPOISON_MEMORY_REGION(address, size) ((void)(address), (void)(size))
#endif

#endif
