# SPDX-License-Identifier: MIT
# The layers of `make check`, fastest first.

if CHECK
include tests/unit/log.mk
include tests/unit/http.mk
include tests/unit/config.mk
include tests/unit/files.mk
include tests/unit/server.mk
include tests/unit/daemon.mk
include tests/evix/local.mk
endif
include tests/fuzz/local.mk
include tests/fuzz/config.mk
include tests/http/local.mk
include tests/process/local.mk
