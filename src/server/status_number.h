/* SPDX-License-Identifier: MIT */
#ifndef SERVER_STATUS_NUMBER_H
#define SERVER_STATUS_NUMBER_H

/* Numbers as people read them. */

#include "files/page_text.h"

/* "1,234,567" */
void number_add_count(struct page_text *out, uint64_t count);

/* The same with a decimal if it is small: "0.4", "12.3", "1,234". */
void number_add_rate(struct page_text *out, double rate);

/* "850 µs", "1.2 ms", "3.4 s" */
void number_add_latency(struct page_text *out, double microseconds);

/* "45 s", "12 min 30 s", "3 d 4 h" */
void number_add_duration(struct page_text *out, double seconds);

/* "37 %" of `whole`; a dash if that is nothing. */
void number_add_share(struct page_text *out, double part, double whole);

/* The least of 1, 2, 5, 10, 20, ... that is not below it: where an axis ends. */
double number_round_up(double value);

#endif
