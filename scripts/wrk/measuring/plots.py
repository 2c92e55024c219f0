# SPDX-License-Identifier: MIT
"""Plots, drawn by gnuplot as SVG and as PNG from the same script."""

import math
import os
import shutil
import statistics
import subprocess

FONT = "DejaVu Sans"
# Distinct also for those who see red and green alike.
OURS, OTHERS, LIMIT = "#0072b2", "#b0b0b0", "#e69f00"
LINES = ("#0072b2", "#56b4e9", "#e69f00", "#d55e00", "#009e73", "#cc79a7", "#000000", "#888888",
         "#8c510a", "#5e3c99", "#4d9221", "#c51b7d")


def color(name):
    return OURS if name.startswith("evixd") else LIMIT if name.startswith("floor") else OTHERS


def quoted(text):
    """A string of gnuplot, in which an underscore is an underscore."""
    return '"' + text.replace("\\", "\\\\").replace('"', '\\"').replace("_", "\\\\_") + '"'


def draw(folder, name, script, width, height):
    """Runs the script once a format; returns the files' names, none where gnuplot is missing."""
    if shutil.which("gnuplot") is None:
        print(f"{name} was not drawn: gnuplot is missing: apt-get install gnuplot-nox")
        return []
    os.makedirs(folder, exist_ok=True)
    written = []
    size = f'size {width},{height} font "{FONT}'
    for terminal, ending in ((f'svg {size},11" background "white"', "svg"),
                             (f'pngcairo {size},10"', "png")):
        path = os.path.join(folder, f"{name}.{ending}")
        text = f"set terminal {terminal}\nset output '{path}'\n{script}\n"
        done = subprocess.run(["gnuplot", "-"], input=text, text=True, capture_output=True)
        if done.returncode != 0:
            print(f"gnuplot: {done.stderr.strip()[-400:]}")
            return written
        written.append(path)
    return written


def widths(values, logarithmic):
    """How long the bars are. What is far beyond the others is cut off there, or each factor of ten
    is as long as the next; the number beside a bar is the true one."""
    if logarithmic:
        return [math.log10(value / min(values)) + 0.3 for value in values]
    widest = 2.5 * statistics.median(values)
    return [min(value, widest) for value in values]


def bars(panels, columns, unit, logarithmic=False):
    """Horizontal bars: a panel for each (title, [(name, value)]), the first name on top."""
    rows = -(-len(panels) // columns)
    script = [f"set multiplot layout {rows},{columns}",
              "set style fill solid 1.0 noborder", "unset key", 
              "set border 2 lc rgb '#888888'", "set ytics nomirror scale 0 textcolor 'black'",
              "unset xtics", "set lmargin 20", "set rmargin 3"]
    for number, (title, values) in enumerate(panels):
        values = values[::-1]
        lengths = widths([value for _name, value in values], logarithmic)
        script.append(f"$data{number} << EOD")
        script += [f"{place} {lengths[place]:.6g} {quoted(name)} {color(name).replace('#', '0x')} "
                   + (f"{value:.0f}" if value >= 100 else f"{value:.3g}")
                   for place, (name, value) in enumerate(values)]
        script += ["EOD", f"set title {quoted(title)}", f"set xlabel {quoted(unit)}",
                   f"set yrange [-0.7:{len(values) - 0.3}]",
                   f"set xrange [0:{1.25 * max(lengths):.6g}]",
                   f"plot $data{number} using ($2/2):1:($2/2):(0.38):4:yticlabels(3) "
                   "with boxxyerror lc rgb variable, "
                   f"$data{number} using 2:1:5 with labels left offset 0.5,0"]
    return "\n".join(script + ["unset multiplot"])


def curves(panels, columns):
    """Lines over connections: (title, unit, [(name, [(x, y)])]) a panel, both axes logarithmic.
    The key stands right of them all."""
    rows = -(-len(panels) // columns)
    script = [f"set multiplot layout {rows},{columns} "
              "margins 0.05,0.86,0.08,0.94 spacing 0.06,0.15",
              "set logscale xy", "set xlabel 'connections'",
              "set grid lc rgb '#dddddd'", "set border 3 lc rgb '#888888'", "set tics nomirror",
              "set format x '%g'", "set format y '10^{%L}'", "set xrange [8:14000]"]
    for number, (title, unit, series) in enumerate(panels):
        script += [f"set title {quoted(title)}", f"set ylabel {quoted(unit)}"]
        plots = []
        for place, (name, points) in enumerate(series):
            script.append(f"$line{number}_{place} << EOD")
            script += [f"{x} {y:.6g}" for x, y in points]
            script.append("EOD")
            width = 3 if name.startswith("evixd") else 1.5
            dashes = 2 if name.startswith("Python") else 1
            plots.append(f"$line{number}_{place} using 1:2 with linespoints lw {width} dt {dashes} "
                         f"pt 7 ps 0.5 lc rgb '{LINES[place % len(LINES)]}' title {quoted(name)}")
        last = number == len(panels) - 1
        script.append("set key at screen 0.99,0.94" if last else "unset key")
        script.append("plot " + ", ".join(plots))
    return "\n".join(script + ["unset multiplot"])
