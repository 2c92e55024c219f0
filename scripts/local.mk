# SPDX-License-Identifier: MIT
include scripts/wrk/local.mk
