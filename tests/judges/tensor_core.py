#!/usr/bin/env python3
"""Runs float networks on a machine with a tensor core and judges every bit of their answers.

For each case of a folder whose outputs are float32:

- the outputs of `sim` are those of `judge_reference --machine`, bit by bit: of the case's inputs, and of
  several inferences (these inputs, mirrored, upside down and moved along) in batches of which the last one is
  not full: of three in batches of two, or, on C cores, of C + 3 in batches of C;
- each sum of each layer, computed from the same numbers, is within --bound of the one in float64, relative
  to the sum of its addends' sizes; products have operands rounded to bfloat16;
- with the precision "highest", the outputs are those of the network's own runtime, by the case's rule.

It fails if one of these is not so. A network that `sim` refuses in one line is not claimed. The decibels of
the default precision, against the runtime's outputs, are printed and not judged.
"""

import argparse
import json
import shutil
import subprocess
import sys
from dataclasses import dataclass, field
from pathlib import Path

import numpy as np

from cases import Arrays, Rule, read_npz, write_npz
from simulator import FAILED, NOT_CLAIMED, PASSED, REFUSED, compare_reals, file_name, signal_to_noise

PRECISION = "machine.matrix_unit.precision"


class Refused(Exception):
    """A program does not claim to compute a network; its line says why."""


class Failure(Exception):
    """A program ended in another way, or gave a wrong answer."""


@dataclass
class Bounds:
    """Of the layers with sums."""

    layers: int = 0
    addends: int = 0
    worst: float = 0.0
    where: str = ""


@dataclass
class Row:
    case: str
    result: str = PASSED
    problems: list[str] = field(default_factory=list)
    bounds: Bounds = field(default_factory=Bounds)
    decibels: float = float("nan")
    cycles: int = 0
    seconds: float = 0.0


@dataclass
class Judge:
    arguments: argparse.Namespace
    cores: int

    @property
    def inferences(self) -> int:
        """In batches of `batch`, the last one has fewer."""
        return 3 if self.cores == 1 else self.cores + 3

    @property
    def batch(self) -> int:
        return 2 if self.cores == 1 else self.cores

    def judge(self, case: Path) -> Row:
        row = Row(case.name)
        folder = self.arguments.answers / self.arguments.machine / case.name
        shutil.rmtree(folder, ignore_errors=True)
        try:
            self._judge(case, folder, row)
        except Refused as refused:
            row.result, row.problems = NOT_CLAIMED, [str(refused)]
        except Failure as failure:
            row.problems.append(str(failure))
        if row.problems and row.result == PASSED:
            row.result = FAILED
        return row

    def _judge(self, case: Path, folder: Path, row: Row) -> None:
        expected = read_npz(case / "outputs.npz")
        inputs = case / "inputs.npz"
        given = self._sim(case, inputs, folder / "default", expected)
        report = json.loads((folder / "default/report.json").read_text())
        row.cycles = report["cycles"]
        row.seconds = report["simulator"]["wall_seconds"]
        if report["host_operations"]:
            row.problems.append(f"on the host: {report['host_operations']}")
        one = read_npz(inputs)
        # Of arrays whose first axis is no batch, such as states of layers, several are no longer array.
        inferences = self.inferences if all(len(values) == 1 for values in one.values()) else 1
        several = folder / "several.npz"
        write_npz(several, several_of(one, inferences))
        all_of = {
            name: np.concatenate([values] * inferences) for name, values in expected.items()
        }
        reference = self._reference(case, several, folder / "reference", all_of)
        batches = self._sim(case, several, folder / "batches", all_of)
        for name in expected:
            first = reference[name][: len(given[name])]
            row.problems += differences(name, given[name], first)
            row.problems += differences(f"{name} in batches", batches[name], reference[name])
        row.bounds = read_bounds(folder / "reference/bounds.txt")
        if not row.bounds.worst <= self.arguments.bound:
            row.problems.append(f"a sum of {row.bounds.where} is {row.bounds.worst:.1e} off")
        row.decibels = min(
            signal_to_noise(given[name].astype(np.float64), values.astype(np.float64))
            for name, values in expected.items()
        )
        highest = ["--set", f"{PRECISION}=highest"]
        exact = self._sim(case, inputs, folder / "highest", expected, highest)
        about = json.loads((case / "case.json").read_text())
        for name, rule in about["outputs"].items():
            problem = compare_reals(exact[name], expected[name], Rule.from_json(rule))
            if problem:
                row.problems.append(f"{name}, precision highest: {problem}")

    def _sim(
        self,
        case: Path,
        inputs: Path,
        folder: Path,
        expected: Arrays,
        options: list[str] | None = None,
    ) -> Arrays:
        command = [str(self.arguments.sim), "run", "--machine", self.arguments.machine, "--quiet"]
        command += ["--batch", str(self.batch), "--out", str(folder), *(options or [])]
        return self._outputs(command, case, inputs, folder, expected)

    def _reference(self, case: Path, inputs: Path, folder: Path, expected: Arrays) -> Arrays:
        machine = f"configs/machines/{self.arguments.machine}.json"
        command = [str(self.arguments.reference), "run", "--machine", machine]
        command += ["--batch", str(self.batch), "--bounds", str(folder / "bounds.txt")]
        return self._outputs(command, case, inputs, folder, expected)

    def _outputs(
        self, command: list[str], case: Path, inputs: Path, folder: Path, expected: Arrays
    ) -> Arrays:
        folder.mkdir(parents=True, exist_ok=True)
        model = next(path for path in sorted(case.iterdir()) if path.stem == "model")
        command += ["--model", str(model), "--input", str(inputs)]
        command += ["--outputs", str(folder)]
        ended = subprocess.run(command, capture_output=True, text=True)
        lines = ended.stderr.strip().splitlines() or ["(no message)"]
        if ended.returncode == REFUSED and len(lines) == 1:
            raise Refused(lines[0])
        if ended.returncode != 0:
            raise Failure(f"exit code {ended.returncode}: {lines[-1]}")
        outputs = {}
        for name, values in expected.items():
            path = folder / f"{file_name(name)}.npy"
            if not path.exists():
                raise Failure(f"{name}: {command[0]} has written no such file")
            outputs[name] = np.load(path, allow_pickle=False)
            if outputs[name].shape != values.shape:
                raise Failure(f"{name}: shape {outputs[name].shape} instead of {values.shape}")
        return outputs


def several_of(inputs: Arrays, count: int) -> Arrays:
    """The inputs of one inference, these mirrored, upside down, and moved along by 1, 2, ..."""

    def drawn(values: np.ndarray) -> list[np.ndarray]:
        turned = [values, np.flip(values, axis=-2), np.flip(values, axis=1)]
        return turned + [np.roll(values, by, axis=-2) for by in range(1, count - 2)]

    return {name: np.concatenate(drawn(values)[:count]) for name, values in inputs.items()}


def cores_of(machine: str) -> int:
    file = Path("configs/machines") / f"{machine}.json"
    system = json.loads(file.read_text()).get("system", {})
    return system.get("chips", 1) * system.get("cores", 1)


def differences(name: str, given: np.ndarray, expected: np.ndarray) -> list[str]:
    """What differs in any bit."""
    count = np.count_nonzero(given.view(np.uint32) != expected.view(np.uint32))
    of = f"{count} of {given.size} elements"
    return [f"{name}: {of} have other bits than the reference's"] if count else []


def read_bounds(path: Path) -> Bounds:
    bounds = Bounds()
    for line in path.read_text().splitlines():
        operator, addends, worst, layer = line.split("\t", 3)
        bounds.layers += 1
        bounds.addends = max(bounds.addends, int(addends))
        if not float(worst) <= bounds.worst:
            bounds.worst, bounds.where = float(worst), f"{operator} {layer}"
    return bounds


def is_in_float(case: Path) -> bool:
    about = json.loads((case / "case.json").read_text())
    return about["types"] != "int8" and all(
        Rule.from_json(rule).in_float and rule["rule"] == "float"
        for rule in about["outputs"].values()
    )


def main() -> None:
    arguments = parse_arguments()
    cases = sorted(path.parent for path in arguments.cases.glob("*/case.json"))
    cases = [case for case in cases if arguments.only in case.name and is_in_float(case)]
    if not cases:
        sys.exit(f"tensor_core.py: no cases in float32 in {arguments.cases}")
    judge = Judge(arguments, cores_of(arguments.machine))
    print("| network | sums | addends, at most | bound | dB | cycles | seconds | result |")
    print("|---|---:|---:|---:|---:|---:|---:|---|")
    failed = False
    for case in cases:
        row = judge.judge(case)
        failed |= row.result == FAILED
        print(
            f"| {row.case} | {row.bounds.layers} | {row.bounds.addends:,} | {row.bounds.worst:.1e} | "
            f"{row.decibels:.0f} | {row.cycles:,} | {row.seconds:.1f} | "
            f"{': '.join([row.result, *row.problems])} |",
            flush=True,
        )
    if failed:
        sys.exit(1)


def parse_arguments() -> argparse.Namespace:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawTextHelpFormatter)
    add = parser.add_argument
    add("--cases", type=Path, default=Path("build/judges/networks"), help="folder of cases")
    add("--only", default="", metavar="TEXT", help="only cases with this text in their name")
    add("--sim", type=Path, default=Path("build/release/sim"), help="the simulator")
    add("--reference", type=Path, default=Path("build/release/judge_reference"), help="its reference")
    add("--machine", default="tpu_v2_1core", help="a machine of configs/machines (tpu_v2_1core)")
    add("--answers", type=Path, default=Path("build/judges/answers"), help="what both write")
    add("--bound", type=float, default=1e-5, help="of sums, relative to their addends' sizes (1e-5)")
    return parser.parse_args()


if __name__ == "__main__":
    main()
