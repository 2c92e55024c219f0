# SPDX-License-Identifier: MIT
"""A strict reader of Prometheus's text format 0.0.4: what its parser lets through and what its
linter complains of are failures alike."""

import math
import re

FAMILY = re.compile(r"[a-z][a-z0-9_]*\Z")
SAMPLE = re.compile(r"([a-zA-Z_:][a-zA-Z0-9_:]*)(?:\{([^{}]*)\})? (\S+)\Z")
LABEL = re.compile(r'([a-zA-Z_][a-zA-Z0-9_]*)="((?:[^"\\\n]|\\[\\"n])*)"\Z')
NUMBER = re.compile(r"(?:[+-]?(?:\d+\.?\d*(?:e[+-]?\d+)?|Inf)|NaN)\Z")


class FormatError(AssertionError):
    pass


def _labels(text, line):
    labels = {}
    for pair in re.split(r",(?=[a-zA-Z_])", text) if text else []:
        match = LABEL.match(pair)
        if not match or match[1] in labels:
            raise FormatError("a label is malformed or given twice: %r" % line)
        labels[match[1]] = match[2]
    return labels


def _sample(line):
    match = SAMPLE.match(line)
    if not match or not NUMBER.match(match[3]):
        raise FormatError("no sample: %r" % line)
    return match[1], _labels(match[2], line), float(match[3])


def _check_histogram(name, samples):
    """Cumulative, ends in +Inf, which is the count."""
    buckets = [(float(s[1]["le"]), s[2]) for s in samples if s[0] == name + "_bucket"]
    count, = [s[2] for s in samples if s[0] == name + "_count"]
    total, = [s[2] for s in samples if s[0] == name + "_sum"]
    if [b[0] for b in buckets] != sorted({b[0] for b in buckets}) or not buckets:
        raise FormatError("the buckets of %s do not rise" % name)
    if [b[1] for b in buckets] != sorted(b[1] for b in buckets):
        raise FormatError("the counts of %s fall" % name)
    if buckets[-1] != (math.inf, count) or total < 0:
        raise FormatError("%s has no +Inf, or another count" % name)


def parse(text):
    """{family: (type, [(name, labels, value)])} of a whole, valid exposition."""
    if not text.endswith("\n") or "\r" in text:
        raise FormatError("lines end in LF, the last one too")
    families, name, seen = {}, None, set()
    lines = text[:-1].split("\n")
    while lines:
        line = lines.pop(0)
        if line.startswith("# HELP "):
            name, _, about = line[7:].partition(" ")
            if not FAMILY.match(name) or not about.strip() or name in families:
                raise FormatError("HELP is malformed, empty or given twice: %r" % line)
            kind = lines.pop(0).split(" ") if lines else []
            if kind[:3] != ["#", "TYPE", name] or kind[3:] not in (
                ["counter"], ["gauge"], ["histogram"]
            ):
                raise FormatError("TYPE does not follow HELP of %s" % name)
            if (kind[3] == "counter") != name.endswith("_total"):
                raise FormatError("counters, and they alone, end in _total: %s" % name)
            families[name] = (kind[3], [])
            continue
        sample = _sample(line)
        own = re.sub(r"_(bucket|sum|count)\Z", "", sample[0]) if name and families[name][0] == \
            "histogram" else sample[0]
        if own != name:
            raise FormatError("a sample stands outside of its family: %r" % line)
        key = (sample[0], tuple(sorted(sample[1].items())))
        if key in seen:
            raise FormatError("a series is given twice: %r" % line)
        seen.add(key)
        families[name][1].append(sample)
    for name, (kind, samples) in families.items():
        if kind == "histogram":
            _check_histogram(name, samples)
        elif any(s[2] < 0 for s in samples):
            raise FormatError("a negative value of %s" % name)
    return families


def value(families, name, **labels):
    """The sum of a family's samples that have these labels."""
    found = [s[2] for s in families[name][1] if labels.items() <= s[1].items()]
    if not found:
        raise AssertionError("no %s with %r" % (name, labels))
    return sum(found)
