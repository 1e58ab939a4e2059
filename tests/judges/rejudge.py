#!/usr/bin/env python3
"""Asks the TFLite runtime of this environment for the outputs of cases that another release has judged.

Where they are the same, bit for bit, the case says so; where they differ, they become a case of their own. A case that
this runtime refuses stays one of the other release.
"""

import argparse
import json
import os
import shutil
import sys
from pathlib import Path

os.environ.setdefault("TF_CPP_MIN_LOG_LEVEL", "3")
os.environ.setdefault("CUDA_VISIBLE_DEVICES", "")

from cases import Arrays, read_npz, write_npz  # noqa: E402
from tflite_runtime import OPTIMIZED, RELEASE, run, run_reference  # noqa: E402


def main() -> None:
    arguments = parse_arguments()
    cases = sorted(path.parent for path in arguments.cases.glob("*/case.json"))
    cases = [case for case in cases if (case / "model.tflite").exists()]
    if not cases:
        sys.exit(f"{arguments.cases} has no cases of TFLite")
    same, different, refused = 0, 0, 0
    for case in cases:
        about = json.loads((case / "case.json").read_text())
        if RELEASE in about["tflite_runtimes"]:
            same += 1
            continue
        try:
            model, inputs = (case / "model.tflite").read_bytes(), read_npz(case / "inputs.npz")
            outputs = run_as_before(model, inputs, about["kernels"])
        except (RuntimeError, ValueError) as error:
            print(f"{case.name}: {RELEASE} refuses it: {str(error).splitlines()[0]}")
            refused += 1
            continue
        if equal(outputs, read_npz(case / "outputs.npz")):
            about["tflite_runtimes"].append(RELEASE)
            write_about(case, about)
            same += 1
            continue
        other = case.with_name(f"{case.name}_{RELEASE.replace('.', '_')}")
        shutil.rmtree(other, ignore_errors=True)
        shutil.copytree(case, other)
        write_npz(other / "outputs.npz", outputs)
        about.pop("optimized_kernels_differ_by", None)
        write_about(other, {**about, "tflite_runtimes": [RELEASE]})
        print(f"{case.name}: {RELEASE} gives other outputs")
        different += 1
    print(f"{RELEASE}: {same} cases are the same, {different} differ, {refused} are refused")
    # A release may refuse what another one computes, but not most of it.
    if refused > same:
        sys.exit(1)


def run_as_before(model: bytes, inputs: Arrays, kernels: str) -> Arrays:
    if kernels == "optimized":
        return run(model, inputs, OPTIMIZED)
    return run_reference(model, inputs)[0]


def equal(some: Arrays, others: Arrays) -> bool:
    """Whether all arrays have the same names, types and bits."""

    def content(arrays: Arrays) -> dict[str, tuple[object, ...]]:
        return {name: (array.dtype, array.shape, array.tobytes()) for name, array in arrays.items()}

    return content(some) == content(others)


def write_about(case: Path, about: dict[str, object]) -> None:
    (case / "case.json").write_text(json.dumps(about, indent=1) + "\n")


def parse_arguments() -> argparse.Namespace:
    parser = argparse.ArgumentParser(description=__doc__)
    add = parser.add_argument
    add("--cases", type=Path, default=Path("build/judges/cases"), help="folder of cases")
    return parser.parse_args()


if __name__ == "__main__":
    main()
