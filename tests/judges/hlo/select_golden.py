"""Chooses small cases of a folder that judge_hlo has answered as JAX does, and puts them into tests/golden/hlo/drawn.

    python select_golden.py FOLDER [--count 60] [--bytes 400000] [--also CASE...]

Each gets CASE.hlo and CASE.answers, the bytes of its inputs and of JAX's outputs. The tests hold outputs to 1e-5 of
their largest number; so cases whose numbers move more, by themselves, are left out.
"""

import argparse
import collections
import json
import pathlib

import numpy as np
from compare_cases import compare_floats, outputs_of

GOLDEN = pathlib.Path(__file__).parents[2] / "golden/hlo/drawn"


def is_near(case, found, expected):
    for a, b in zip(found, expected):
        if b.dtype.kind in "biu":
            if not np.array_equal(a, b):
                return False
        elif a.dtype.itemsize == 2:
            if not np.array_equal(a, b, equal_nan=True):
                return False
        elif compare_floats(a, b, 0, False)[0]:
            return False
    return True


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("folder", type=pathlib.Path)
    parser.add_argument("--count", type=int, default=60)
    parser.add_argument("--bytes", type=int, default=400_000)
    parser.add_argument("--also", nargs="*", default=[], help="cases that are always among them")
    options = parser.parse_args()
    by_family = collections.defaultdict(list)
    for path in options.folder.glob("*.outputs"):
        case = json.loads(path.with_suffix(".json").read_text())
        found = outputs_of(path, case["outputs"])
        expected = outputs_of(path.with_suffix(".expected"), case["outputs"])
        if not is_near(case, found, expected):
            continue
        size = sum(path.with_suffix(end).stat().st_size for end in (".hlo", ".inputs", ".expected"))
        # A function of a line says little: those of some size say more.
        by_family[case["family"]].append((path.stem not in options.also, abs(size - 5000), size, path.stem))
    for cases in by_family.values():
        cases.sort()
    chosen = []
    turn = 0
    while len(chosen) < options.count:
        families = [name for name in sorted(by_family) if len(by_family[name]) > turn]
        if not families:
            raise SystemExit(f"{options.folder} has {len(chosen)} cases that fit")
        chosen += [by_family[name][turn] for name in families][: options.count - len(chosen)]
        turn += 1
    missing = {*options.also} - {name for *_, name in chosen}
    if missing:
        raise SystemExit(f"{', '.join(sorted(missing))} are not among the {len(chosen)} cases")
    total = sum(size for *_, size, _ in chosen)
    if total > options.bytes:
        raise SystemExit(f"{total} bytes are more than {options.bytes}")
    GOLDEN.mkdir(parents=True, exist_ok=True)
    for old in GOLDEN.iterdir():
        old.unlink()
    for *_, name in chosen:
        path = options.folder / name
        (GOLDEN / f"{name}.hlo").write_bytes(path.with_suffix(".hlo").read_bytes())
        (GOLDEN / f"{name}.answers").write_bytes(
            path.with_suffix(".inputs").read_bytes() + path.with_suffix(".expected").read_bytes())
    print(f"{len(chosen)} cases of {len(by_family)} families, {total} bytes")


if __name__ == "__main__":
    main()
