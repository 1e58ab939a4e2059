"""Asks judge_hlo for the outputs of the cases of a folder, and compares them with JAX's, for `make judge-hlo`.

    python compare_cases.py FOLDER [--judge build/release/judge_hlo] [--machine configs/machines/tpu_v2_1core.json]

How far outputs may be off, README.md says ("HLO programs"). Prints a table of the cases by family, and each case that
is wrong or refused.
"""

import argparse
import collections
import concurrent.futures
import json
import math
import os
import pathlib
import re
import subprocess
import sys

import ml_dtypes  # noqa: F401  (types of arrays by name)
import numpy as np
from rounded_products import RUNS

PART = 1e-5
AT_ONCE = 8
# No output of a program is beyond its bound by more.
MOST_BEYOND = 2.0


def run_judge(options, names):
    """Name -> (result, text); programs that end the judge are asked for again without those before."""
    answers = {}
    while names:
        process = subprocess.run([options.judge, options.machine, options.folder, *names], capture_output=True, text=True)
        for line in process.stdout.splitlines():
            name, result, text = line.split("\t")
            answers[name] = (result, text)
        names = [name for name in names if name not in answers]
        if names:
            lines = process.stderr.strip().splitlines() or [f"ended by signal {-process.returncode}"]
            answers[names[0]] = ("failed", lines[-1])
            names = names[1:]
    return answers


def outputs_of(path, shapes):
    contents = path.read_bytes()
    arrays = []
    place = 0
    size = sum(math.prod(each["shape"]) * np.dtype(each["type"]).itemsize for each in shapes)
    if size != len(contents):
        raise ValueError(f"{path.name} has {len(contents)} bytes instead of {size}")
    for each in shapes:
        type = np.dtype(each["type"])
        count = math.prod(each["shape"])
        arrays.append(np.frombuffer(contents, type, count, place).reshape(each["shape"]))
        place += arrays[-1].nbytes
    return arrays


def settled(array):
    """As float64; float32 and bfloat16 without subnormal numbers."""
    wide = array.astype(np.float64)
    return wide if array.dtype == np.float16 else np.where(np.abs(wide) < 2.0**-126, np.copysign(0, wide), wide)


def neighbours(found, expected):
    """Where 16-bit floats are equal or next to each other."""
    def order(array):
        bits = np.ascontiguousarray(array).view(np.int16).astype(np.int32)
        return np.where(bits < 0, -(bits & 0x7FFF), bits)

    return np.abs(order(found) - order(expected)) <= 1


def compare_floats(found, expected, moves, exact):
    """(fault or None, largest difference in parts of the largest number, and in bounds where there is one)."""
    a, b = settled(found), settled(expected)
    finite = np.isfinite(b)
    with np.errstate(invalid="ignore"):
        same = (a == b) | (np.isnan(a) & np.isnan(b))
        difference = np.where(same, 0, np.abs(a - b))
    largest = float(np.max(np.abs(b[finite]), initial=0))
    bound = 0 if exact else max(PART * largest, moves)
    right = same | (finite & (difference <= bound))
    if not exact and found.dtype.itemsize == 2:
        right |= neighbours(found, expected)
    part = float(np.max(difference[finite & np.isfinite(a)], initial=0)) / largest if largest else 0.0
    if right.all():
        return None, part, 0.0
    place = int(np.flatnonzero(~right)[0])
    wrong = difference[~right]
    bounds = float(np.max(wrong)) / bound if bound and np.isfinite(wrong).all() else math.inf
    return (f"element {place} of {right.size} is {a.flat[place]:.9g} instead of {b.flat[place]:.9g}, "
            f"{np.count_nonzero(~right)} are off, bound {bound:.3g}"), part, bounds


def compare(case, found, expected):
    """(fault or None, largest part, whether an output needed more than 1e-5 of its largest number, outputs beyond their
    bounds by chance). README.md says when it is chance."""
    most, wide = 0.0, False
    beyond = []
    floats = 0
    for i, (each, a, b) in enumerate(zip(case["outputs"], found, expected)):
        if b.dtype.kind in "biu":
            wrong = set(np.flatnonzero(a != b).tolist()) - set(each["moves"] or [])
            if wrong:
                place = min(wrong)
                return f"output {i}: element {place} is {a.flat[place]} instead of {b.flat[place]}", most, wide, 0
            continue
        floats += 1
        fault, part, bounds = compare_floats(a, b, each["moves"] or 0, case["exact"])
        if fault:
            text = f"output {i} ({each['type']}): {fault}"
            if case["family"] != "programs" or bounds > MOST_BEYOND:
                return text, most, wide, 0
            beyond.append(text)
        most = max(most, part)
        wide |= part > PART
    if len(beyond) * (RUNS + 1) > floats:
        return f"{len(beyond)} of {floats} outputs are beyond their bounds, more than chance has; {beyond[0]}", most, wide, 0
    return None, most, wide, len(beyond)


def part_of(case, found, expected):
    """The largest difference of all float outputs, in parts of the largest number of each."""
    parts = [compare_floats(a, b, np.inf, False)[1] for a, b in zip(found, expected) if b.dtype.kind not in "biu"]
    return max(parts, default=0.0)


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("folder", type=pathlib.Path)
    parser.add_argument("--judge", default="build/release/judge_hlo")
    parser.add_argument("--machine", default="configs/machines/tpu_v2_1core.json")
    parser.add_argument("--jobs", type=int, default=os.cpu_count())
    parser.add_argument("--only", nargs="*", default=[])
    parser.add_argument("--rows", action="store_true", help="prints each case")
    options = parser.parse_args()
    names = options.only or sorted(path.stem for path in options.folder.glob("*.json"))
    if not names:
        sys.exit(f"no cases in {options.folder}")
    cases = {name: json.loads((options.folder / f"{name}.json").read_text()) for name in names}
    # Programs, which are large, begin first and alone.
    large = [[name] for name in names if cases[name]["family"] == "programs"]
    small = [name for name in names if cases[name]["family"] != "programs"]
    parts = large + [small[i : i + AT_ONCE] for i in range(0, len(small), AT_ONCE)]
    answers = {}
    with concurrent.futures.ThreadPoolExecutor(options.jobs) as pool:
        for some in pool.map(lambda part: run_judge(options, part), parts):
            answers.update(some)
    table = collections.defaultdict(collections.Counter)
    most = collections.defaultdict(lambda: [0.0, 0.0])
    furthest = collections.defaultdict(float)
    refusals = collections.defaultdict(list)
    faults = []
    for name in names:
        case = cases[name]
        family = case["family"]
        result, text = answers[name]
        table[family]["cases"] += 1
        if result == "refused":
            table[family]["refused"] += 1
            rule = re.sub(r"^\S*?\.hlo: (.*?, )?(computation \S+, )?", "", text)
            refusals[re.sub(r'"[^"]*"|\d+', "…", rule)].append(f"{name}: {text}")
            continue
        if result != "equal":
            table[family]["wrong"] += 1
            faults.append(f"{name}: {'chip and reference differ: ' if result == 'differs' else ''}{text}")
            continue
        expected, plain = (
            outputs_of(options.folder / f"{name}.{kind}", case["outputs"]) for kind in ("expected", "plain"))
        try:
            found = outputs_of(options.folder / f"{name}.outputs", case["outputs"])
        except ValueError as error:
            table[family]["wrong"] += 1
            faults.append(f"{name}: {error}")
            continue
        instructions, sums, off = text.split()
        fault, part, wide, beyond = compare(case, found, expected)
        if float(off) > PART:
            fault = f"a sum is {off} of its addends' sizes from the one in float64"
        of_plain = part_of(case, found, plain)
        if fault:
            table[family]["wrong"] += 1
            faults.append(f"{name}: {fault}")
        else:
            table[family]["equal"] += 1
            table[family]["exact"] += case["exact"]
            table[family]["wide"] += wide
            table[family]["sums"] += int(sums)
            furthest[family] = max(furthest[family], float(off))
            most[family] = [max(most[family][0], part), max(most[family][1], of_plain)]
        if options.rows:
            by_chance = f" but for {beyond} outputs by chance" if beyond else ""
            print(f"{name}: {fault or 'equal' + by_chance}, {part:.1e} from rounded, {of_plain:.1e} from plain, "
                  f"{instructions} instructions, {sums} sums, {off}")
    print(f"{'family':24}{'cases':>6}{'equal':>6}{'exact':>6}{'wide':>5}{'refused':>8}{'wrong':>6}{'sums':>6}{'off':>9}"
          f"{'rounded':>9}{'plain':>9}")
    total = collections.Counter()
    for family in [*sorted(table), "all"]:
        row = table[family] if family != "all" else total
        if family != "all":
            total.update(row)
        numbers = [furthest[family], *most[family]] if family != "all" else []
        print(f"{family:24}{row['cases']:6}{row['equal']:6}{row['exact']:6}{row['wide']:5}{row['refused']:8}"
              f"{row['wrong']:6}{row['sums']:6}" + "".join(f"{number:9.1e}" for number in numbers))
    for rule, some in sorted(refusals.items(), key=lambda item: -len(item[1])):
        print(f"refused {len(some)}: {some[0]}")
        if len(some) > 1:
            print(f"    also {', '.join(each.split(':')[0] for each in some[1:])}")
    for fault in faults:
        print(f"wrong: {fault}")
    return 1 if faults else 0


if __name__ == "__main__":
    raise SystemExit(main())
