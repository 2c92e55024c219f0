/* SPDX-License-Identifier: MIT */
#ifndef EVIX_EVIX_H
#define EVIX_EVIX_H

/* libevix, whole. See evix(3). */

#include <evix/async.h>
#include <evix/file.h>
#include <evix/hook.h>
#include <evix/io.h>
#include <evix/loop.h>
#include <evix/op.h>
#include <evix/post.h>
#include <evix/signal.h>
#include <evix/timer.h>
#include <evix/work.h>

#endif
