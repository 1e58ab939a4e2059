"""Runs `sim` on a case and compares its answers with the expected ones."""

import json
import re
import shutil
import subprocess
from collections import defaultdict
from collections.abc import Iterable
from dataclasses import dataclass, field
from pathlib import Path

import numpy as np

from cases import Rule, read_npz

# `sim` ends with this code and one line if a file asks for what it does not have.
REFUSED = 2

PASSED, FAILED, NOT_CLAIMED = "passed", "failed", "not claimed"

# Of a quantized ONNX operator's elements, how many may be 1 off.
ALLOWED_QUANTA = 0.001


@dataclass
class Verdict:
    case: str
    operator: str
    result: str
    message: str = ""
    elements: int = 0  # compared by the rule "quantum"
    off_by_one: int = 0
    quantized_decibels: float | None = None  # of a float network that `sim` quantized
    cycles: int = 0
    layers_on_host: int = 0  # which the chip does not compute
    seconds: float = 0.0  # of `sim`


@dataclass
class Judge:
    """How `sim` is asked."""

    sim: Path
    machine: str
    answers: Path  # a folder for what `sim` writes
    seconds: float = 120
    options: list[str] = field(default_factory=list)

    def judge(self, case: Path) -> list[Verdict]:
        """A verdict for each runtime whose outputs the case has."""
        about = json.loads((case / "case.json").read_text())
        return [self._judge(case, about, runtime) for runtime in about.get("tflite_runtimes", [""])]

    def _judge(self, case: Path, about: dict, runtime: str) -> Verdict:
        operator = f"{about['format']} {about['operator']}"
        verdict = Verdict(f"{case.name} {runtime}".rstrip(), operator, PASSED)
        rules = {name: Rule.from_json(rule) for name, rule in about["outputs"].items()}
        answers = self.answers / runtime / case.name
        quantized, real = answers / "stored", answers / "float"
        shutil.rmtree(quantized.parent, ignore_errors=True)
        model = next(path for path in sorted(case.iterdir()) if path.stem == "model")
        command = [str(self.sim), "run", "--machine", self.machine, "--model", str(model)]
        command += ["--input", str(case / "inputs.npz"), "--outputs", str(quantized), "--quiet"]
        command += ["--out", str(answers / "report")]
        if runtime:
            command += ["--tflite-runtime", runtime]
        in_float = any(rule.in_float for rule in rules.values())
        if in_float:
            command += ["--float-outputs", str(real)]
        try:
            ended = subprocess.run(
                command + self.options, capture_output=True, text=True, timeout=self.seconds
            )
        except subprocess.TimeoutExpired:
            verdict.result, verdict.message = FAILED, f"no answer in {self.seconds:.0f} s"
            return verdict
        if ended.returncode != 0:
            lines = ended.stderr.strip().splitlines() or ["(no message)"]
            refused = ended.returncode == REFUSED and len(lines) == 1
            verdict.result = NOT_CLAIMED if refused else FAILED
            verdict.message = f"exit code {ended.returncode}: {lines[-1]}"
            return verdict
        _read_report(answers / "report/report.json", verdict)
        problems = []
        for name, expected in read_npz(case / "outputs.npz").items():
            folder = real if rules[name].in_float else quantized
            problem = _compare(folder, name, expected, rules[name], verdict)
            if problem:
                problems.append(f"{name}: {problem}")
            if in_float and expected.dtype.kind == "f":
                verdict.quantized_decibels = _decibels_of(quantized, name, expected)
        if problems:
            verdict.result, verdict.message = FAILED, "; ".join(problems)
        else:
            shutil.rmtree(quantized.parent, ignore_errors=True)
        return verdict


def _read_report(path: Path, verdict: Verdict) -> None:
    """Its figures; `judge_reference` writes no report."""
    if not path.exists():
        return
    report = json.loads(path.read_text())
    verdict.cycles = report["cycles"]
    verdict.layers_on_host = sum(len(each.get("layers", [""])) for each in report["host_operations"])
    verdict.seconds = report["simulator"]["wall_seconds"]


def file_name(output: str) -> str:
    """The name of an output's file, without its ending."""
    return re.sub(r"[^A-Za-z0-9._-]", "_", output)


def _read(folder: Path, name: str, stored: bool) -> np.ndarray | None:
    """An output as stored, if asked for and there, else as float32."""
    raw, real = folder / f"{file_name(name)}.raw.npy", folder / f"{file_name(name)}.npy"
    for path in [raw, real] if stored else [real]:
        if path.exists():
            return np.load(path, allow_pickle=False)
    return None


def _compare(folder: Path, name: str, expected: np.ndarray, rule: Rule, verdict: Verdict) -> str:
    """What is wrong with an output, or nothing."""
    as_stored = rule.kind in ("equal", "quantum")
    given = _read(folder, name, as_stored and expected.dtype.kind != "f")
    if given is None:
        return "no such file was written"
    # Outputs have the number of inferences in front, so a scalar is a list of one.
    if given.shape != (expected.shape or (1,)):
        return f"shape {list(given.shape)} instead of {list(expected.shape)}"
    if not expected.size:
        return ""
    if as_stored:
        return _compare_integers(given, expected, rule, verdict)
    return compare_reals(given, expected, rule)


def _compare_integers(given: np.ndarray, expected: np.ndarray, rule: Rule, verdict: Verdict) -> str:
    distance = np.abs(given.astype(np.float64) - expected.astype(np.float64))
    off, largest = int(np.count_nonzero(distance)), float(distance.max())
    if rule.kind == "quantum":
        verdict.elements += expected.size
        verdict.off_by_one += off
    if largest > (1 if rule.kind == "quantum" else 0):
        return f"{off} of {expected.size} elements differ, by up to {largest:g}"
    return ""


def compare_reals(given: np.ndarray, expected: np.ndarray, rule: Rule) -> str:
    expected, given = expected.astype(np.float64), given.astype(np.float64)
    if rule.kind == "noise":
        decibels = signal_to_noise(given, expected)
        if decibels < rule.decibels:
            return (
                f"the difference is only {decibels:.1f} dB below the signal, not {rule.decibels:g}"
            )
        return ""
    allowed = rule.absolute + rule.relative * np.abs(np.nan_to_num(expected, posinf=0, neginf=0))
    with np.errstate(invalid="ignore"):
        close = (given == expected) | (np.abs(given - expected) <= allowed)
    close |= np.isnan(given) & np.isnan(expected)
    wrong = int(np.count_nonzero(~close))
    if not wrong:
        return ""
    worst = int(np.argmax(np.where(close, 0, np.abs(np.nan_to_num(given - expected)))))
    pair = f"{given.flat[worst]:.7g} instead of {expected.flat[worst]:.7g}"
    return f"{wrong} of {expected.size} elements differ: {pair}"


def signal_to_noise(given: np.ndarray, expected: np.ndarray) -> float:
    noise = float(np.mean((given - expected) ** 2))
    signal = float(np.mean(expected**2))
    if noise == 0:
        return float("inf")
    return 10 * float(np.log10(signal / noise)) if signal > 0 else float("-inf")


def _decibels_of(folder: Path, name: str, expected: np.ndarray) -> float | None:
    given = _read(folder, name, stored=False)
    if given is None or given.shape != expected.shape or not expected.size:
        return None
    return signal_to_noise(given.astype(np.float64), expected.astype(np.float64))


@dataclass
class Row:
    """The verdicts on an operator."""

    passed: int = 0
    failed: int = 0
    not_claimed: int = 0
    elements: int = 0
    off_by_one: int = 0
    decibels: list[float] = field(default_factory=list)

    @property
    def claimed(self) -> int:
        return self.passed + self.failed

    @property
    def within_quanta(self) -> bool:
        return self.off_by_one <= ALLOWED_QUANTA * self.elements


def table(verdicts: Iterable[Verdict]) -> dict[str, Row]:
    """By operator, in order of names."""
    rows: dict[str, Row] = defaultdict(Row)
    for verdict in verdicts:
        row = rows[verdict.operator]
        row.passed += verdict.result == PASSED
        row.failed += verdict.result == FAILED
        row.not_claimed += verdict.result == NOT_CLAIMED
        row.elements += verdict.elements
        row.off_by_one += verdict.off_by_one
        if verdict.quantized_decibels is not None and np.isfinite(verdict.quantized_decibels):
            row.decibels.append(verdict.quantized_decibels)
    return dict(sorted(rows.items()))


def print_table(rows: dict[str, Row]) -> bool:
    """Prints passed / claimed / not claimed by operator; true if all that is claimed passed."""
    print(f"{'operator':44} {'passed':>7} {'claimed':>8} {'not claimed':>12}   quantized here")
    for operator, row in rows.items():
        line = f"{operator:44} {row.passed:7} {row.claimed:8} {row.not_claimed:12}"
        if row.decibels:
            line += f"   {np.median(row.decibels):.0f} dB"
        if row.elements:
            line += f"   {row.off_by_one} of {row.elements} elements 1 off"
        print(line)
    passed, claimed = sum(row.passed for row in rows.values()), sum(
        r.claimed for r in rows.values()
    )
    not_claimed = sum(row.not_claimed for row in rows.values())
    print(f"{'all':44} {passed:7} {claimed:8} {not_claimed:12}")
    too_many = [operator for operator, row in rows.items() if not row.within_quanta]
    for operator in too_many:
        print(f"{operator}: more than {ALLOWED_QUANTA:.1%} of the elements are 1 off")
    return passed == claimed and not too_many
