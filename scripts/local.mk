# SPDX-License-Identifier: MIT
EXTRA_DIST += scripts/packages scripts/run
include scripts/wrk/local.mk
