# SPDX-License-Identifier: MIT
dist_man_MANS += man/evixd.8 man/evixd.conf.5
dist_man_MANS += man/evix.3
