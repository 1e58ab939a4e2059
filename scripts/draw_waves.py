#!/usr/bin/env python3
"""Draws signals of a VCD file that `sim run --trace waves` wrote as an SVG picture, like a data sheet's timing diagram.

    scripts/draw_waves.py waves.vcd --cycles 12-76 --out waves.svg SIGNAL[=LABEL]...

A signal is named with its scopes below `tpu`, as in matrix_unit.active; `-` leaves a gap. Bits are drawn as levels,
numbers as boxes with the number in them where it fits, with `signed:` before the name as two's complement.
"""

import argparse
import html

UNITS_IN_CYCLE = 10  # of the file's time: docs/waves.md
CYCLE, ROW, LEVEL, LABELS, TOP, MARGIN = 14, 24, 14, 250, 34, 10
DIGIT = 6.1  # the width of a digit

STYLE = """
text { font: 11px sans-serif; fill: #222; }
.number { font-size: 10px; }
.tick { font-size: 10px; fill: #666; }
.paper { fill: #fff; }
.grid { stroke: #e4e4e4; fill: none; }
.wire { stroke: #0072b2; stroke-width: 1.3; fill: none; }
.high { fill: #0072b2; fill-opacity: 0.25; stroke: none; }
.box { stroke: #555; fill: #f1f1f1; }
.open { stroke: #bbb; fill: none; }
@media (prefers-color-scheme: dark) {
text { fill: #ddd; }
.tick { fill: #999; }
.paper { fill: #161616; }
.grid { stroke: #303030; }
.wire { stroke: #56b4e9; }
.high { fill: #56b4e9; }
.box { stroke: #aaa; fill: #2a2a2a; }
.open { stroke: #555; }
}
"""


def read_vcd(path):
    """Signals by name: (width, [(time, value)]), a value being None where nobody drives the signal."""
    with open(path, encoding="ascii") as file:
        words = iter(file.read().split())
    scopes, names, widths, changes, time = [], {}, {}, {}, 0
    for word in words:
        if word == "$scope":
            next(words)
            scopes.append(next(words))
        elif word == "$upscope":
            scopes.pop()
        elif word == "$var":
            next(words)
            width, code, name = int(next(words)), next(words), next(words)
            names[code] = ".".join(scopes[2:] + [name])  # below SystemC's scope and the chip's
            widths[names[code]], changes[names[code]] = width, []
        elif word in ("$comment", "$date", "$version", "$timescale"):
            while next(words) != "$end":
                pass
        elif word.startswith("#"):
            time = int(word[1:])
        elif word[0] in "b01zZ":
            digits, code = (word[1:], next(words)) if word[0] == "b" else (word[0], word[1:])
            changes[names[code]].append((time, None if digits[0] in "zZ" else int(digits, 2)))
    return {name: (widths[name], changes[name]) for name in changes}


def by_cycle(changes, first, end):
    """The values in the cycles [first, end)."""
    values, value, place = [], None, 0
    for cycle in range(first, end):
        while place < len(changes) and changes[place][0] <= cycle * UNITS_IN_CYCLE:
            value = changes[place][1]
            place += 1
        values.append(value)
    return values


def runs(values):
    """(value, first, end) of each stretch of equal values."""
    begin = 0
    for place in range(1, len(values) + 1):
        if place == len(values) or values[place] != values[begin]:
            yield values[begin], begin, place
            begin = place


def draw_bit(values, top):
    points, parts = [], []
    for value, begin, end in runs(values):
        left, right = LABELS + begin * CYCLE, LABELS + end * CYCLE
        y = top if value else top + LEVEL
        points += [f"{left},{y}", f"{right},{y}"]
        if value:
            parts.append(f'<rect class="high" x="{left}" y="{top}" width="{right - left}" height="{LEVEL}"/>')
    parts.append(f'<polyline class="wire" points="{" ".join(points)}"/>')
    return parts


def draw_number(values, top):
    parts = []
    for value, begin, end in runs(values):
        left, right = LABELS + begin * CYCLE, LABELS + end * CYCLE
        middle = top + LEVEL / 2
        if value is None:
            parts.append(f'<line class="open" x1="{left}" y1="{middle}" x2="{right}" y2="{middle}"/>')
            continue
        parts.append(f'<rect class="box" x="{left}" y="{top}" width="{right - left}" height="{LEVEL}"/>')
        if len(str(value)) * DIGIT <= right - left:
            parts.append(f'<text class="number" x="{(left + right) / 2}" y="{top + LEVEL - 3.5}" '
                         f'text-anchor="middle">{value}</text>')
    return parts


def draw(signals, wanted, first, end, title):
    width = LABELS + (end - first) * CYCLE + MARGIN
    height = TOP + len(wanted) * ROW + MARGIN
    parts = [f'<svg xmlns="http://www.w3.org/2000/svg" width="{width}" height="{height}" '
             f'viewBox="0 0 {width} {height}" role="img">', f"<title>{html.escape(title)}</title>",
             f"<style>{STYLE}</style>", f'<rect class="paper" width="{width}" height="{height}"/>']
    for cycle in range(first, end + 1):
        x = LABELS + (cycle - first) * CYCLE
        if cycle % 5 == 0:
            parts.append(f'<line class="grid" x1="{x}" y1="{TOP - 8}" x2="{x}" y2="{height - MARGIN}"/>')
        if cycle % 10 == 0 and cycle < end:
            parts.append(f'<text class="tick" x="{x}" y="{TOP - 14}" text-anchor="middle">{cycle}</text>')
    parts.append(f'<text class="tick" x="{LABELS - 12}" y="{TOP - 14}" text-anchor="end">cycle</text>')
    for place, entry in enumerate(wanted):
        if entry == "-":
            continue
        name, _, label = entry.partition("=")
        is_signed = name.startswith("signed:")
        name = name.removeprefix("signed:")
        bits, changes = signals[name]
        values = by_cycle(changes, first, end)
        if is_signed:
            values = [value - (1 << bits) if value is not None and value >> (bits - 1) else value for value in values]
        top = TOP + place * ROW
        parts.append(f'<text x="{LABELS - 12}" y="{top + LEVEL - 3}" text-anchor="end">'
                     f"{html.escape(label or name)}</text>")
        parts += draw_bit(values, top) if bits == 1 else draw_number(values, top)
    return "\n".join(parts + ["</svg>", ""])


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("vcd")
    parser.add_argument("signals", nargs="+", metavar="SIGNAL[=LABEL]")
    parser.add_argument("--cycles", required=True, help="FIRST-END, the last one left out")
    parser.add_argument("--out", required=True)
    parser.add_argument("--title", default="Waves")
    options = parser.parse_args()
    first, end = (int(cycle) for cycle in options.cycles.split("-"))
    signals = read_vcd(options.vcd)
    unknown = [entry for entry in options.signals
               if entry != "-" and entry.partition("=")[0].removeprefix("signed:") not in signals]
    if unknown:
        parser.error(f"{options.vcd} has no signal {unknown[0]}")
    with open(options.out, "w", encoding="utf-8") as file:
        file.write(draw(signals, options.signals, first, end, options.title))


if __name__ == "__main__":
    main()
