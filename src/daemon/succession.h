/* SPDX-License-Identifier: MIT */
#ifndef EVIXD_DAEMON_SUCCESSION_H
#define EVIXD_DAEMON_SUCCESSION_H

/*
 * One configuration, or program, after another, without a gap: the next one is checked whole, opens
 * what it needs beside what is in use, and serves; only then it takes over, and the one before it
 * retires. Whatever fails before that leaves everything as it was.
 */

struct generation;
struct master;

/* Does what is wanted, a reload before an upgrade, unless another of them is under way. */
void succession_begin(struct master *master);

/* The successor serves. */
void succession_take_over(struct master *master);

/* The former accepts nothing any more where the successor does. */
void succession_complete(struct master *master);

/* The next program could not be started, or could not serve. */
void succession_stay(struct master *master);

/* The successor serves in the next program, which has told what it keeps. */
void succession_hand_over(struct master *master);

/*
 * The next program serves: what is wanted is wanted of it. Whoever has sent an order could not know
 * yet that another process takes it.
 */
void succession_pass_orders_on(struct master *master);

/* We serve, as the heirs of a former program. */
void succession_inherit(struct master *master);

/* The successor cannot be. */
void succession_fail(struct master *master);

/* The former has closed its listeners. */
void succession_end(struct master *master);

#endif
