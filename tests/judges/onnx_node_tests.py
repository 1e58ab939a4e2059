#!/usr/bin/env python3
"""Runs `sim` on ONNX's own node tests and writes the table of docs/operators.md.

Each test is a model of one node with inputs and outputs, from the test data of the onnx package
whose opset is 17. Many give weights, shapes or axes as inputs of the network. If `sim` does
not claim such a test as it stands, all inputs but the first become constants of the same values;
the table counts these tests in a column of their own.
"""

import argparse
import sys
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from pathlib import Path

import numpy as np
import onnx
from onnx import numpy_helper

from cases import Arrays, Case, Rule, float_rule
from simulator import FAILED, NOT_CLAIMED, PASSED, Judge, Verdict

BEGIN = "<!-- ONNX's node tests: begin -->"
END = "<!-- ONNX's node tests: end -->"


@dataclass
class NodeTest:
    name: str
    operator: str
    model: onnx.ModelProto
    inputs: Arrays
    outputs: Arrays


@dataclass
class Result:
    test: NodeTest | None
    name: str
    operator: str
    verdict: Verdict
    with_constants: bool = False


@dataclass
class Counts:
    passed: int = 0
    failed: int = 0
    with_constants: int = 0
    not_claimed: int = 0


def main() -> None:
    arguments = parse_arguments()
    tests = arguments.data.glob("test_*")
    folders = sorted(path for path in tests if arguments.only in path.name)
    if not folders:
        sys.exit(f"onnx_node_tests.py: no tests in {arguments.data}")
    judge = Judge(arguments.sim, arguments.machine, arguments.work / "answers")
    with ThreadPoolExecutor(arguments.jobs) as pool:
        results = list(pool.map(lambda folder: run_test(folder, judge, arguments.work), folders))
    for result in results:
        refused = result.verdict.result == NOT_CLAIMED and arguments.refusals
        if result.verdict.result == FAILED or refused:
            print(f"{result.verdict.result}: {result.name}: {result.verdict.message}")
    page = block(results)
    print(page)
    if arguments.docs:
        replace_block(arguments.docs, page)
    if any(result.verdict.result == FAILED for result in results):
        sys.exit(1)


def run_test(folder: Path, judge: Judge, work: Path) -> Result:
    try:
        test = read_test(folder)
    except (ValueError, TypeError, KeyError) as error:
        verdict = Verdict(folder.name, "", NOT_CLAIMED, f"not tensors: {error}")
        return Result(None, folder.name, operator_of(onnx.load(folder / "model.onnx")), verdict)
    (verdict,) = judge.judge(to_case(test, test.model, test.inputs).write(work / "cases"))
    result = Result(test, test.name, test.operator, verdict)
    if verdict.result == NOT_CLAIMED and len(test.inputs) > 1:
        model, inputs = with_constants(test)
        (again,) = judge.judge(to_case(test, model, inputs).write(work / "cases_with_constants"))
        if again.result != NOT_CLAIMED:
            return Result(test, test.name, test.operator, again, with_constants=True)
    return result


def read_test(folder: Path) -> NodeTest:
    model = onnx.load(folder / "model.onnx")
    data = folder / "test_data_set_0"
    inputs = read_tensors([value.name for value in model.graph.input], data, "input")
    outputs = read_tensors([value.name for value in model.graph.output], data, "output")
    return NodeTest(folder.name, operator_of(model), model, inputs, outputs)


def operator_of(model: onnx.ModelProto) -> str:
    names = [node.op_type for node in model.graph.node if node.op_type != "Constant"]
    return names[0] if len(names) == 1 else "(several nodes)"


def read_tensors(names: list[str], folder: Path, kind: str) -> Arrays:
    arrays = {}
    for index, name in enumerate(names):
        tensor = onnx.TensorProto()
        tensor.ParseFromString((folder / f"{kind}_{index}.pb").read_bytes())
        if not tensor.data_type:
            raise ValueError(f"{kind} {name} is no tensor")
        values = numpy_helper.to_array(tensor)
        if values.dtype.kind not in "fiub" or values.dtype.itemsize > 8:
            raise ValueError(f"{kind} {name} has the type {values.dtype}")
        arrays[name] = values
    return arrays


def with_constants(test: NodeTest) -> tuple[onnx.ModelProto, Arrays]:
    """The model with all inputs but the first as constants."""
    model = onnx.ModelProto()
    model.CopyFrom(test.model)
    first, *others = list(model.graph.input)
    del model.graph.input[1:]
    for value in others:
        model.graph.initializer.append(numpy_helper.from_array(test.inputs[value.name], value.name))
    return model, {first.name: test.inputs[first.name]}


def to_case(test: NodeTest, model: onnx.ModelProto, inputs: Arrays) -> Case:
    rules = {name: rule_of(values, test.operator) for name, values in test.outputs.items()}
    content = model.SerializeToString()
    return Case(test.name, "onnx", test.operator, "onnx", content, inputs, test.outputs, rules)


def rule_of(expected: np.ndarray, operator: str) -> Rule:
    """ONNX's own tolerance for real numbers: 0.001 of the value."""
    is_quantized = "Linear" in operator or "Integer" in operator
    if expected.dtype.kind == "f":
        tolerance = float_rule(expected, relative=1e-3)
        tolerance.of = "outputs" if is_quantized else "float_reference"
        return tolerance
    if is_quantized:
        return Rule("quantum" if expected.dtype in (np.int8, np.uint8) else "equal")
    return Rule("equal", of="float_reference")


def block(results: list[Result]) -> str:
    """The table, and the operators of which no test is claimed."""
    rows: dict[str, Counts] = {}
    for result in results:
        counts = rows.setdefault(result.operator, Counts())
        counts.passed += result.verdict.result == PASSED
        counts.failed += result.verdict.result == FAILED
        counts.not_claimed += result.verdict.result == NOT_CLAIMED
        counts.with_constants += result.with_constants and result.verdict.result == PASSED
    claimed = {name: row for name, row in sorted(rows.items()) if row.passed + row.failed}
    lines = [
        BEGIN,
        "| operator | passed | of them with constants | claimed | not claimed |",
        "|---|---:|---:|---:|---:|",
    ]
    total = Counts()
    for name, row in claimed.items():
        lines.append(table_row(name, row))
    for row in rows.values():
        total.passed += row.passed
        total.failed += row.failed
        total.with_constants += row.with_constants
        total.not_claimed += row.not_claimed
    lines.append(table_row("**all tests**", total))
    others = ", ".join(f"`{name}`" for name in sorted(rows) if name not in claimed)
    if others:
        lines += ["", f"No test is claimed of: {others}."]
    return "\n".join([*lines, END])


def table_row(name: str, row: Counts) -> str:
    claimed = row.passed + row.failed
    label = name if name.startswith(("*", "(")) else f"`{name}`"
    return f"| {label} | {row.passed} | {row.with_constants} | {claimed} | {row.not_claimed} |"


def replace_block(page: Path, text: str) -> None:
    content = page.read_text()
    if content.count(BEGIN) != 1 or content.count(END) != 1:
        sys.exit(f"onnx_node_tests.py: {page} has no place for the table: {BEGIN} ... {END}")
    before, rest = content.split(BEGIN)
    page.write_text(before + text + rest.split(END)[1])


def parse_arguments() -> argparse.Namespace:
    parser = argparse.ArgumentParser(description=__doc__)
    add = parser.add_argument
    add("--data", type=Path, default=Path("build/judges/node_tests_17"), help="folder of tests")
    add("--only", default="", metavar="TEXT", help="only tests with this text in their name")
    add("--sim", type=Path, default=Path("build/release/sim"), help="the simulator")
    add("--machine", default="tpu_v1", help="the machine (tpu_v1)")
    add("--work", type=Path, default=Path("build/judges/node_tests"), help="folder for cases")
    add("--docs", type=Path, metavar="FILE", help="put the table into this page")
    add("--refusals", action="store_true", help="also print why tests are not claimed")
    add("--jobs", type=int, default=2, help="simulators at a time (2)")
    return parser.parse_args()


if __name__ == "__main__":
    main()
