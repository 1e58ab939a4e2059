#!/usr/bin/env python3
"""Draws the cases of operators and asks their runtimes for the outputs."""

import argparse
import os
import shutil
import sys
from collections.abc import Callable
from functools import partial
from pathlib import Path

os.environ.setdefault("TF_CPP_MIN_LOG_LEVEL", "3")
os.environ.setdefault("CUDA_VISIBLE_DEVICES", "")

import keras_cases  # noqa: E402
import onnx_cases  # noqa: E402
import tflite_cases  # noqa: E402
from cases import Case  # noqa: E402

Drawer = Callable[[str, int, str], Case]

FORMATS = {"tflite": tflite_cases, "onnx": onnx_cases, "keras": keras_cases}


def main() -> None:
    arguments = parse_arguments()
    chosen = kinds(arguments.format, arguments.operator)
    if not chosen:
        sys.exit(f"generate.py: there is no operator {arguments.operator}")
    if arguments.list:
        print("\n".join(f"{name} {kind}" for name, kind, _, _ in chosen))
        return
    if arguments.out.exists() and not arguments.add:
        shutil.rmtree(arguments.out)
    total_weight = sum(weight for _, _, weight, _ in chosen)
    failed = 0
    for format_name, kind, weight, draw in chosen:
        count = max(1, -(-arguments.count * weight // total_weight))
        indices = range(arguments.first, arguments.first + count)
        work = partial(write_cases, format_name, kind, draw, indices, arguments)
        failed += in_child(work)
    written = len(list(arguments.out.iterdir()))
    print(f"{written} cases of {len(chosen)} operators in {arguments.out}, {failed} operators fail")
    if failed:
        sys.exit(1)


def write_cases(
    format_name: str, kind: str, draw: Drawer, indices: range, arguments: argparse.Namespace
) -> bool:
    """Whether all cases could be made."""
    good = True
    for index in indices:
        print(f"{format_name} {kind} {index}", end="\r", flush=True)
        try:
            draw(kind, index, arguments.seed).write(arguments.out)
        except Exception as error:  # any judge may refuse a case: say so and go on
            print(f"{format_name} {kind} {index}: {error}", file=sys.stderr)
            good = False
    return good


def in_child(work: Callable[[], bool]) -> bool:
    """Whether the work failed. A judge that crashes takes only a child of this process with it."""
    sys.stdout.flush()
    child = os.fork()
    if child == 0:
        good = False
        try:
            good = work()
        finally:
            sys.stdout.flush()
            os._exit(0 if good else 1)
    _, status = os.waitpid(child, 0)
    if os.WIFSIGNALED(status):
        print(f"\nthe judge crashed with signal {os.WTERMSIG(status)}", file=sys.stderr)
    return status != 0


def kinds(format_name: str | None, operator: str | None) -> list[tuple[str, str, int, Drawer]]:
    found: list[tuple[str, str, int, Drawer]] = []
    for name, module in FORMATS.items():
        if format_name in (None, name):
            for kind, weight in module.kinds().items():
                if operator in (None, kind):
                    found.append((name, kind, weight, module.draw_case))
    return found


def parse_arguments() -> argparse.Namespace:
    parser = argparse.ArgumentParser(description=__doc__)
    add = parser.add_argument
    add("--out", type=Path, default=Path("build/judges/cases"), help="folder for the cases")
    add("--count", type=int, default=3200, help="cases in all, at least one an operator (3200)")
    add("--seed", default="1", help="settles everything random (1)")
    add("--first", type=int, default=0, help="index of the first case of each operator (0)")
    add("--format", choices=list(FORMATS), help="only this format")
    add("--operator", help="only this operator, e.g. CONV_2D")
    add("--add", action="store_true", help="keep what is in the folder")
    add("--list", action="store_true", help="list the operators and stop")
    return parser.parse_args()


if __name__ == "__main__":
    main()
