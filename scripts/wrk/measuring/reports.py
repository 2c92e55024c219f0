# SPDX-License-Identifier: MIT
"""Reads what a comparison printed: its tables are the record of a run that is kept."""

import re


def cells(line):
    """Columns stand two blanks apart at least."""
    return re.split(r"  +", line.strip())


def read(path):
    """(sentence about the machine, {title of a table: {name of a row: {column: cell}}})."""
    tables, title, header = {}, None, None
    with open(path, encoding="utf-8") as file:
        machine = file.readline().strip()
        for line in file:
            if not line.startswith(" "):
                title, header = line.strip() or None, None
            elif title and header is None:
                header = cells(line)
                tables[title] = {}
            elif title and len(cells(line)) > 1:
                values = cells(line)
                tables[title][values[0]] = dict(zip(header[1:], values[1:]))
    return machine, tables
