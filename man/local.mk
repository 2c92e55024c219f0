# SPDX-License-Identifier: MIT
dist_man_MANS += man/evixd.8
