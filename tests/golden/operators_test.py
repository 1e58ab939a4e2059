#!/usr/bin/env python3
"""Holds `sim` to the cases of tests/golden/operators. Needs nothing but Python itself.

Every case is computed and right, or it is in not_claimed.txt and `sim` says that something is not
supported. --write writes that list anew, a line for each such case with what `sim` says.
Each operator, layer and function that docs/operators.md lists for ONNX, TFLite and Keras is in the file of a case.

usage: operators_test.py SIM [--write] [--only TEXT]
"""

import argparse
import array
import json
import math
import re
import struct
import subprocess
import sys
import tempfile
import zipfile
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from pathlib import Path

CASES = Path(__file__).parent / "operators"
NOT_CLAIMED = CASES / "not_claimed.txt"
ROOT = Path(__file__).parents[2]
# Keras 3 has no such layers, and writes functions by other names; tests/unit has files of Keras 2.
OF_KERAS_2 = {"RandomHeight", "RandomWidth", "ThresholdedReLU", "hard_sigmoid", "hard_swish", "swish"}
NOT_SUPPORTED = re.compile(
    r"not supported|does not support|unsupported|not one of the operators|the chip computes none of its layers"
)
ARRAY = ("tpu_v1",)
TILES = ("edge_tpu_usb", "--set", "machine.tile_array.rounding=tflite")

# Of the elements of quantized ONNX operators, how many may be 1 off.
ALLOWED_QUANTA = 0.001

# Letters of Python's array for numpy's names of types.
LETTERS = {"i1": "b", "u1": "B", "b1": "B", "i2": "h", "u2": "H", "i4": "i", "i8": "q"}
LETTERS |= {"f4": "f", "f8": "d"}


@dataclass
class Tensor:
    shape: tuple[int, ...]
    values: list[float]
    is_real: bool


@dataclass
class Result:
    case: str
    claimed: bool
    problems: list[str]
    reason: str = ""  # why it is not claimed
    elements: int = 0  # compared by the rule "quantum"
    off_by_one: int = 0


def main() -> None:
    parser = argparse.ArgumentParser(description="Hold sim to tests/golden/operators.")
    parser.add_argument("sim", type=Path)
    parser.add_argument("--write", action="store_true", help="write not_claimed.txt anew")
    parser.add_argument("--only", default="", help="only cases with this text in their name")
    parser.add_argument(
        "--tiles", action="store_true", help="cases of 8 bits, on the Edge TPU with a TFLite runtime's rounding"
    )
    parser.add_argument("--jobs", type=int, default=2, help="simulators at a time (2)")
    arguments = parser.parse_args()

    cases = sorted(path.parent for path in CASES.glob("*/case.json"))
    cases = [case for case in cases if arguments.only in case.name]
    runs = [(case, runtime) for case in cases for runtime in runtimes_of(case)]
    if arguments.tiles:
        sys.exit(check_tiles(arguments.sim, runs, arguments.jobs))
    with ThreadPoolExecutor(arguments.jobs) as pool:
        results = list(pool.map(lambda each: check(arguments.sim, *each), runs))
    refused = [result for result in results if not result.claimed]
    if arguments.write:
        # Each case once, also if several runtimes are asked for.
        said = dict.fromkeys(f"{result.case}: {result.reason}\n" for result in refused)
        NOT_CLAIMED.write_text("".join(said))
    lines = NOT_CLAIMED.read_text().splitlines() if NOT_CLAIMED.exists() else []
    listed = [line.partition(":")[0] for line in lines]
    failures = 0
    for result in results:
        problems = result.problems
        if result.claimed and result.case in listed:
            problems = [*problems, "it is claimed now: remove it from not_claimed.txt"]
        if not result.claimed and result.case in listed:
            problems = []
        for problem in problems:
            print(f"{result.case}: {problem}")
        failures += bool(problems)
    elements = sum(result.elements for result in results)
    off_by_one = sum(result.off_by_one for result in results)
    if off_by_one > ALLOWED_QUANTA * elements:
        print(f"{off_by_one} of {elements} elements of ONNX's integer operators are 1 off")
        failures += 1
    if not cases:
        print("there are no cases")
        failures += 1
    for name in [] if arguments.only else operators_without_case():
        print(f"{name}: docs/operators.md lists it; no case has it")
        failures += 1
    claimed = len(results) - len(refused)
    print(f"{len(cases)} cases, {len(results)} runs: {claimed} claimed, {failures} wrong")
    sys.exit(1 if failures else 0)


def check_tiles(sim: Path, runs: list[tuple[Path, str]], jobs: int) -> int:
    """Cases whose tensors have 8 bits, on tiles: right, or refused as a network without a layer for them."""
    of_bytes = [(case, runtime) for case, runtime in runs if has_bytes(case)]
    with ThreadPoolExecutor(jobs) as pool:
        results = list(pool.map(lambda each: check(sim, *each, TILES), of_bytes))
    wrong = [result for result in results if result.claimed and result.problems]
    for result in wrong:
        for problem in result.problems:
            print(f"{result.case}: {problem}")
    claimed = [result for result in results if result.claimed]
    elements = sum(result.elements for result in claimed)
    off_by_one = sum(result.off_by_one for result in claimed)
    if off_by_one > ALLOWED_QUANTA * elements:
        print(f"{off_by_one} of {elements} elements of ONNX's integer operators are 1 off")
    print(f"{len(results)} runs on tiles: {len(claimed)} claimed, {len(wrong)} wrong")
    return 1 if wrong or off_by_one > ALLOWED_QUANTA * elements or not claimed else 0


def has_bytes(case: Path) -> bool:
    return "int8" in json.loads((case / "case.json").read_text())["types"]


def operators_without_case() -> list[str]:
    """What docs/operators.md lists and no case has, as "ONNX Conv"."""
    row = r"^\| (ONNX|TFLite|Keras) \| (?:function )?`([^`]+)`(?: of another layer)? \|"
    page = (ROOT / "docs/operators.md").read_text()
    listed = set(re.findall(row, page, re.MULTILINE))
    found = {("Keras", name) for name in OF_KERAS_2}
    for ending, names_in in (("tflite", tflite_names), ("keras", keras_names), ("h5", keras_names)):
        format_name = "TFLite" if ending == "tflite" else "Keras"
        for path in CASES.glob(f"*/model.{ending}"):
            found |= {(format_name, name) for name in names_in(path)}
    models = [path.read_bytes() for path in CASES.glob("*/model.onnx")]
    for format_name, name in listed - found:
        # The field op_type of a node: its tag, its length, its text.
        own = name.rpartition(".")[2].encode()
        if format_name == "ONNX" and any(b"\x22" + bytes([len(own)]) + own in model for model in models):
            found.add((format_name, name))
    return sorted(f"{format_name} {name}" for format_name, name in listed - found)


def tflite_names(path: Path) -> set[str]:
    """The operators that a file's table of operator codes names."""
    schema = (ROOT / "compiler/frontend/tflite/tflite.fbs").read_text()
    members = re.search(r"enum BuiltinOperator : int {(.*?)}", schema, re.DOTALL)[1]
    names = [name.strip() for name in members.split(",")]
    content = path.read_bytes()

    def number(place: int, letter: str) -> int:
        return struct.unpack_from(f"<{letter}", content, place)[0]

    def field(table: int, index: int) -> int:
        """The place of a table's field; 0 if it is absent."""
        fields = table - number(table, "i")
        at = 4 + 2 * index
        offset = number(fields + at, "H") if at < number(fields, "H") else 0
        return table + offset if offset else 0

    codes = field(number(0, "I"), 1)
    codes += number(codes, "I")
    found = set()
    for index in range(number(codes, "I")):
        place = codes + 4 + 4 * index
        code = place + number(place, "I")
        former, now = field(code, 0), field(code, 3)
        found.add(names[max(number(former, "b") if former else 0, number(now, "i") if now else 0)])
    return found


def keras_names(path: Path) -> set[str]:
    """Classes of layers, and functions. Files of both kinds describe the network in the same JSON."""
    content = path.read_bytes()
    if path.suffix == ".keras":
        with zipfile.ZipFile(path) as archive:
            content = archive.read("config.json")
    found = {name.decode() for name in re.findall(rb'"class_name": "(\w+)"', content)}
    functions = {name.decode() for name in re.findall(rb'"activation": "(\w+)"', content)}
    return found | {"hard_sigmoid of Keras 3" if name == "hard_sigmoid" else name for name in functions}


def runtimes_of(case: Path) -> list[str]:
    """The TFLite runtimes that give the outputs; one empty name for another format."""
    return json.loads((case / "case.json").read_text()).get("tflite_runtimes", [""])


def check(sim: Path, case: Path, runtime: str, machine: tuple[str, ...] = ARRAY) -> Result:
    rules = json.loads((case / "case.json").read_text())["outputs"]
    model = next(path for path in sorted(case.iterdir()) if path.stem == "model")
    with tempfile.TemporaryDirectory() as folder:
        stored, real = Path(folder) / "stored", Path(folder) / "float"
        command = [sim, "run", "--machine", *machine, "--model", model, "--quiet"]
        command += ["--input", case / "inputs.npz", "--outputs", stored]
        if runtime:
            command += ["--tflite-runtime", runtime]
        if any(rule.get("of") == "float_reference" for rule in rules.values()):
            command += ["--float-outputs", real]
        ended = subprocess.run(command, capture_output=True, text=True)
        if ended.returncode != 0:
            claimed = ended.returncode != 2 or not NOT_SUPPORTED.search(ended.stderr)
            message = f"exit code {ended.returncode}: {ended.stderr.strip()}"
            reason = ended.stderr.strip().partition(f"{model}: ")[2]
            return Result(case.name, claimed, [message], reason)
        result = Result(case.name, True, [])
        for name, expected in read_npz(case / "outputs.npz").items():
            is_float = rules[name].get("of") == "float_reference"
            problem = compare(real if is_float else stored, name, expected, rules[name], result)
            if problem:
                result.problems.append(f"{name}: {problem}")
        return result


def compare(folder: Path, name: str, expected: Tensor, rule: dict, result: Result) -> str:
    """What is wrong with an output, or nothing."""
    stem = re.sub(r"[^A-Za-z0-9._-]", "_", name)
    raw, real = folder / f"{stem}.raw.npy", folder / f"{stem}.npy"
    path = raw if raw.exists() and not expected.is_real else real
    if not path.exists():
        return "no such file was written"
    given = read_npy(path.read_bytes())
    # A single number without an axis is an array of one number here.
    if given.shape != (expected.shape or (1,)):
        return f"shape {given.shape} instead of {expected.shape}"
    pairs = list(zip(given.values, expected.values, strict=True))
    if rule["rule"] == "noise":
        noise = sum((g - e) ** 2 for g, e in pairs)
        signal = sum(e**2 for _, e in pairs)
        too_loud = noise * 10 ** (rule["decibels"] / 10) > signal
        return f"not {rule['decibels']} dB above the difference" if too_loud else ""
    if rule["rule"] == "quantum":
        result.elements += len(pairs)
        result.off_by_one += sum(abs(g - e) == 1 for g, e in pairs)
    wrong = [(g, e) for g, e in pairs if not close(g, e, rule)]
    if not wrong:
        return ""
    return (
        f"{len(wrong)} of {len(pairs)} elements differ: {wrong[0][0]!r} instead of {wrong[0][1]!r}"
    )


def close(given: float, expected: float, rule: dict) -> bool:
    if given == expected or (math.isnan(given) and math.isnan(expected)):
        return True
    if rule["rule"] == "float":
        return abs(given - expected) <= rule["absolute"] + rule["relative"] * abs(expected)
    return rule["rule"] == "quantum" and abs(given - expected) <= 1


def read_npz(path: Path) -> dict[str, Tensor]:
    with zipfile.ZipFile(path) as archive:
        names = archive.namelist()
        return {name.removesuffix(".npy"): read_npy(archive.read(name)) for name in names}


def read_npy(content: bytes) -> Tensor:
    """An array in C order, of little-endian numbers."""
    header_size = int.from_bytes(content[8:10], "little")
    header = content[10 : 10 + header_size].decode("latin1")
    described = re.search(
        r"'descr': '([<|])(\w+)', 'fortran_order': False, 'shape': \(([^)]*)\)", header
    )
    if content[:8] != b"\x93NUMPY\x01\x00" or described is None:
        raise ValueError(f"no array as expected: {header}")
    shape = tuple(int(extent) for extent in described[3].split(",") if extent.strip())
    data = content[10 + header_size :]
    if described[2] == "f2":
        return Tensor(shape, list(struct.unpack(f"<{len(data) // 2}e", data)), True)
    values = array.array(LETTERS[described[2]], data).tolist()
    return Tensor(shape, values, described[2].startswith("f"))


if __name__ == "__main__":
    main()
