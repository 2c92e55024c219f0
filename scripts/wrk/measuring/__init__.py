# SPDX-License-Identifier: MIT
"""What the commands of this folder share: servers, loads, the machine, tables and plots."""
