#!/usr/bin/env python3
"""Chooses small cases for tests/golden/operators, which `make test` compares with.

Each operator gets one case for each kind of numbers, and for each TFLite runtime where they differ, then
second ones up to the count asked for.
--add keeps what is there, and chooses for operators and kinds of numbers that have no case yet.
"""

import argparse
import json
import shutil
from collections import defaultdict
from pathlib import Path
from typing import Any

import numpy as np

from cases import read_npz


def main() -> None:
    arguments = parse_arguments()
    groups: dict[tuple[str, ...], list[Path]] = defaultdict(list)
    for path in sorted(arguments.cases.glob("*/case.json")):
        about = json.loads(path.read_text())
        if about.get("tflite_runtimes") == []:
            continue  # only a release that is asked later judges it
        if size(path.parent) <= arguments.largest and is_telling(path.parent):
            groups[kind_of(about)].append(path.parent)
    if arguments.add:
        for path in arguments.out.glob("*/case.json"):
            groups.pop(kind_of(json.loads(path.read_text())), None)
    chosen: list[Path] = []
    rank = 0
    while len(chosen) < arguments.count and any(len(found) > rank for found in groups.values()):
        layer = [sorted(found, key=size)[rank] for found in groups.values() if len(found) > rank]
        room = arguments.count - len(chosen)
        step = max(1.0, len(layer) / room)
        chosen += [layer[int(index * step)] for index in range(min(room, len(layer)))]
        rank += 1
    for old in [] if arguments.add else arguments.out.glob("*/case.json"):
        shutil.rmtree(old.parent)
    for case in chosen:
        shutil.copytree(case, arguments.out / case.name)
    operators = {key[:2] for key in groups}
    total = sum(size(case) for case in chosen)
    print(f"{len(chosen)} cases of {len(operators)} operators, {total / 1e6:.2f} MB")


def kind_of(about: dict[str, Any]) -> tuple[str, ...]:
    return about["format"], about["operator"], about["types"], *about.get("tflite_runtimes", [])


def size(case: Path) -> int:
    return sum(path.stat().st_size for path in case.iterdir())


def is_telling(case: Path) -> bool:
    """Whether an output has several different values."""
    outputs = read_npz(case / "outputs.npz").values()
    return any(np.unique(values).size > min(3, values.size - 1) for values in outputs)


def parse_arguments() -> argparse.Namespace:
    parser = argparse.ArgumentParser(description=__doc__)
    add = parser.add_argument
    add("--cases", type=Path, default=Path("build/judges/cases"), help="where to choose from")
    add("--out", type=Path, default=Path("tests/golden/operators"), help="where to put them")
    add("--add", action="store_true", help="keep the cases that are there")
    add("--count", type=int, default=375, help="how many (375)")
    add("--largest", type=int, default=12000, help="bytes of the largest case (12000)")
    return parser.parse_args()


if __name__ == "__main__":
    main()
