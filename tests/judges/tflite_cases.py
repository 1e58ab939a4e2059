"""Draws TFLite cases: a file, its inputs, and what the reference kernels give."""

import numpy as np

import tflite_runtime
from cases import Arrays, Case, Rule, float_rule
from draw import Draw
from tflite_file import TfliteFile
from tflite_operators import OPERATORS, TfliteOperator
from tflite_operators.choices import COMPARISONS
from tflite_operators.converted import CONVERTED_TYPES, NETWORKS, draw_converted

CONVERTED_WEIGHT = 3


def kinds() -> dict[str, int]:
    """All kinds of cases, with how many each gets relative to the others."""
    found = {operator.name: operator.weight for operator in OPERATORS}
    found.update({f"converted_{make.__name__}": CONVERTED_WEIGHT for make in NETWORKS})
    return found


def draw_case(kind: str, index: int, seed: str) -> Case:
    """The case of a kind with this index. Its kind of numbers goes round with the index."""
    if kind.startswith("converted_"):
        types = CONVERTED_TYPES[index % len(CONVERTED_TYPES)]
        make = next(make for make in NETWORKS if f"converted_{make.__name__}" == kind)
        converted = draw_converted(make, Draw(f"{seed} {kind} {index}"), types)
        model, inputs = converted.model, converted.values
    else:
        operator = next(operator for operator in OPERATORS if operator.name == kind)
        types = operator.types[index % len(operator.types)]
        model, inputs = _draw_file(operator, types, f"{seed} {kind} {index}")
    outputs, kernels = tflite_runtime.run_reference(model, inputs)
    # Without a reference kernel: in 2.19, the rounding of the optimized one depends on the processor.
    is_later = kind.startswith("BATCH_MATMUL") and types == "int8"
    notes: dict[str, object] = {
        "tflite_runtimes": [] if is_later else [tflite_runtime.RELEASE],
        "kernels": kernels,
    }
    different = optimized_differences(model, inputs, outputs)
    if different:
        notes["optimized_kernels_differ_by"] = different
    name = f"tflite_{kind.lower()}_{types}_{index:04d}"
    rules = {output: rule(values, types, kind) for output, values in outputs.items()}
    return Case(name, "tflite", kind, types, model, inputs, outputs, rules, notes)


def rule(expected: np.ndarray, types: str, kind: str) -> Rule:
    # A network that takes no real numbers has no float reference.
    compares_integers = types == "int32" and kind in COMPARISONS
    if types in ("int8", "uint8", "int16") or kind == "QUANTIZE" or compares_integers:
        return Rule("equal")
    if expected.dtype.kind != "f":
        return Rule("equal", of="float_reference")
    if types == "hybrid":
        # The runtime quantizes the activations of each inference; the float reference does not.
        return Rule("noise", decibels=18, of="float_reference")
    return float_rule(expected)


def optimized_differences(model: bytes, inputs: Arrays, expected: Arrays) -> object:
    """How far the optimized kernels are from the reference kernels, or why they do not run."""
    try:
        outputs = tflite_runtime.run(model, inputs, tflite_runtime.OPTIMIZED)
    except (RuntimeError, ValueError) as error:
        return f"not run: {str(error).splitlines()[0]}"
    found = tflite_runtime.differences(expected, outputs)
    integers = {name for name, values in expected.items() if values.dtype.kind in "iu"}
    return {name: largest for name, largest in found.items() if name in integers}


def _draw_file(operator: TfliteOperator, types: str, seed: str) -> tuple[bytes, Arrays]:
    """Draws until the interpreter takes the file; the shapes that it finds are written into it."""
    reasons = []
    for attempt in range(20):
        file = operator.make(Draw(f"{seed} {attempt}"), types)
        try:
            _complete_shapes(file)
            model = file.to_bytes()
            tflite_runtime.run_reference(model, file.values)
            return model, file.values
        except (RuntimeError, ValueError) as error:
            reasons.append(str(error))
    raise RuntimeError(f"{operator.name} {types}: no file is accepted: {reasons[-1]}")


def _complete_shapes(file: TfliteFile) -> None:
    interpreter = tflite_runtime.load(file.to_bytes(), tflite_runtime.OPTIMIZED)
    for detail in interpreter.get_input_details():
        interpreter.set_tensor(detail["index"], file.values[detail["name"]])
    interpreter.invoke()
    for detail in interpreter.get_tensor_details():
        if detail["index"] < len(file.graph.tensors):
            file.set_shape(detail["index"], detail["shape"])
