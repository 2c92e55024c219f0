/* SPDX-License-Identifier: MIT */
#ifndef EVIXD_FILES_SAMPLE_H
#define EVIXD_FILES_SAMPLE_H

/* Three blocks of a large file stand for its content, where to read it all would take too long. */

#include "files/fetch.h"

/* Sets fill->sample, and goes on with fetch_sampled(). Without memory it ends the fill. */
void sample_start(struct fill *fill);

#endif
