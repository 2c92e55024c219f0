/* SPDX-License-Identifier: MIT */
#ifndef CONFIG_ADDRESS_H
#define CONFIG_ADDRESS_H

/*
 * Listen addresses as text: HOST:PORT, [V6]:PORT, :PORT or *:PORT or PORT (every address), and
 * unix:PATH. HOST is numeric or "localhost" (127.0.0.1): no resolver is asked.
 */

#include <stdbool.h>
#include <stddef.h>
#include <sys/socket.h>

/* Room for any text that address_format() writes: "unix:" and a path are the longest. */
#define ADDRESS_TEXT_BYTES 128

#define ADDRESS_EXPECTED "HOST:PORT, [V6]:PORT, :PORT, PORT or unix:PATH"

/* 0, -EINVAL, -ERANGE for a port above 65535, or -ENAMETOOLONG for a path that a socket address
 * cannot hold. *out_wildcard: no host was given; the address is [::] then. */
int address_parse(const char *text, struct sockaddr_storage *out, socklen_t *out_length,
                  bool *out_wildcard);

/* What was expected where address_parse() failed with the error. */
const char *address_expected(const char *text, int error);

/* The text that parses to the same address: 0, or -EAFNOSUPPORT. */
int address_format(const struct sockaddr_storage *address, char *out, size_t size);

/* Network addresses only; 0 for a unix socket. */
unsigned address_port(const struct sockaddr_storage *address);

#endif
