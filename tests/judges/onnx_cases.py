"""Draws ONNX cases: a file, its inputs, and what ONNX Runtime gives."""

import numpy as np

import onnx_runtime
from cases import Arrays, Case, Rule, float_rule
from draw import Draw
from onnx_file import OnnxFile
from onnx_operators import OPERATORS, OnnxOperator


def kinds() -> dict[str, int]:
    """All kinds of cases, with how many each gets relative to the others."""
    return {operator.name: operator.weight for operator in OPERATORS}


def draw_case(kind: str, index: int, seed: str) -> Case:
    """The case of a kind with this index. Its kind of numbers goes round with the index."""
    operator = next(operator for operator in OPERATORS if operator.name == kind)
    types = operator.types[index % len(operator.types)]
    file, model, outputs = _draw_file(operator, types, f"{seed} {kind} {index}")
    notes: dict[str, object] = {"opset": file.opset}
    different = optimized_differences(model, file.values, outputs)
    if different:
        notes["optimized_differ_by"] = different
    name = f"onnx_{kind.lower()}_{types}_{index:04d}"
    rules = {output: rule(values, file) for output, values in outputs.items()}
    written = file.with_newer_name(model)
    return Case(name, "onnx", kind, types, written, file.values, outputs, rules, notes)


def rule(expected: np.ndarray, file: OnnxFile) -> Rule:
    operators = {node.op_type for node in file.nodes}
    if expected.dtype in (np.int8, np.uint8, np.int16, np.uint16):
        starts = ("QuantizeLinear", "QLinear", "QGemm")
        quantizes = any(name.startswith(starts) for name in operators)
        return Rule("quantum") if quantizes else Rule("equal")
    has_reals = any(values.dtype.kind == "f" for values in file.values.values())
    if expected.dtype in (np.int32, np.int64) and not has_reals:
        return Rule("equal")
    if "DynamicQuantizeLinear" in operators:
        # A quantum more or less is far more than rounding of floats.
        return Rule("noise", decibels=30, of="float_reference")
    if "QuantizeLinear" in operators or ("DequantizeLinear" in operators and not has_reals):
        return Rule("noise", decibels=30)
    if operators & {"ConvInteger", "MatMulInteger"}:
        return Rule("equal")
    if expected.dtype.kind != "f":
        return Rule("equal", of="float_reference")
    if expected.dtype == np.float16:
        tolerance = float_rule(expected, relative=5e-3)
        tolerance.absolute *= 200
        return tolerance
    return float_rule(expected)


def optimized_differences(model: bytes, inputs: Arrays, expected: Arrays) -> dict[str, float]:
    """How far integer outputs are from those of ONNX Runtime with all its optimizations."""
    found = {}
    outputs = onnx_runtime.run(model, inputs, optimized=True)
    for name, values in expected.items():
        if values.dtype.kind in "iu" and values.size:
            largest = np.abs(values.astype(np.int64) - outputs[name].astype(np.int64)).max()
            if largest > 0:
                found[name] = float(largest)
    return found


def _draw_file(operator: OnnxOperator, types: str, seed: str) -> tuple[OnnxFile, bytes, Arrays]:
    """Draws until the runtime takes the file; the shapes that it finds are written into it."""
    reason = ""
    for attempt in range(20):
        draw = Draw(f"{seed} {attempt}")
        file = OnnxFile(draw, operator.opset(draw, types))
        operator.make(draw, types, file)
        try:
            outputs = onnx_runtime.run(file.to_bytes({}), file.values)
            model = file.to_bytes({name: values.shape for name, values in outputs.items()})
            judge = onnx_runtime.evaluate if operator.judged_by_onnx else onnx_runtime.run
            return file, model, judge(model, file.values)
        except Exception as error:  # the runtime raises classes of its own
            reason = str(error).splitlines()[0]
    raise RuntimeError(f"{operator.name} {types}: no file is accepted: {reason}")
