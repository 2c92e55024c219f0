/* SPDX-License-Identifier: MIT */
#ifndef EVIXD_FILES_HASH_H
#define EVIXD_FILES_HASH_H

/*
 * A fast 64-bit hash of bytes. With a secret seed it places keys in tables; with a fixed one it
 * tells contents apart, and gives the same value on every machine. Not for cryptography.
 */

#include <stddef.h>
#include <stdint.h>

uint64_t hash_bytes(uint64_t seed, const void *data, size_t length);

/* Joins two values into one, for keys that consist of a number and bytes. */
uint64_t hash_mix(uint64_t a, uint64_t b);

/* A seed from the kernel's random numbers. */
uint64_t hash_seed(void);

#endif
