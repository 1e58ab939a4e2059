"""Comparisons, truth values, and choices between two tensors by them."""

import numpy as np

from draw import Draw
from tflite_file import Quantization, TfliteFile, any_quantization
from tflite_operators.registry import tflite

COMPARISONS = {
    "EQUAL": "EqualOptions",
    "NOT_EQUAL": "NotEqualOptions",
    "GREATER": "GreaterOptions",
    "GREATER_EQUAL": "GreaterEqualOptions",
    "LESS": "LessOptions",
    "LESS_EQUAL": "LessEqualOptions",
}
COMPARED = ("float32", "int32", "int8", "uint8")


def _numbers(
    file: TfliteFile,
    draw: Draw,
    types: str,
    name: str,
    shape: list[int],
    quantization: Quantization | None,
    is_constant: bool,
) -> int:
    """Numbers of which many are equal."""
    if types == "float32":
        values = draw.integers(shape, -2, 2, "int8").astype(np.float32)
    elif types == "int32":
        values = draw.integers(shape, -2, 2, "int32")
    else:
        middle = quantization.zero_points[0] if quantization else 0
        least, greatest = (0, 255) if types == "uint8" else (-128, 127)
        near = draw.integers(shape, -3, 3, "int32") + middle
        values = np.clip(near, least, greatest).astype(types)
    add = file.constant if is_constant else file.input
    return add(name, values, quantization)


def _truth(file: TfliteFile, draw: Draw, types: str, name: str, result: int, shape: list[int]) -> None:
    """Compares two tensors, which broadcast to each other."""
    quantization = any_quantization(draw, types)
    other = draw.broadcast_from(shape) if draw.chance(0.4) else shape
    operands = [
        _numbers(file, draw, types, f"{name}_a", shape, quantization, False),
        _numbers(file, draw, types, f"{name}_b", other, quantization, draw.chance(0.4)),
    ]
    if draw.chance(0.25):
        operands.reverse()
    operator = name if name in COMPARISONS else draw.choice(list(COMPARISONS))
    file.operator(operator, operands, [result], COMPARISONS[operator], version=2)


def _comparison(name: str, draw: Draw, types: str) -> TfliteFile:
    file = TfliteFile()
    shape = draw.shape((2, 4), (2, 6))
    if draw.chance(0.5):
        _truth(file, draw, types, name, file.output("output", "bool"), shape)
        return file
    truth = file.value("truth", "bool")
    _truth(file, draw, types, name, truth, shape)
    file.operator("CAST", [truth], [file.output("output", "float32")], "CastOptions")
    return file


@tflite("EQUAL", *COMPARED)
def equal(draw: Draw, types: str) -> TfliteFile:
    return _comparison("EQUAL", draw, types)


@tflite("NOT_EQUAL", *COMPARED)
def not_equal(draw: Draw, types: str) -> TfliteFile:
    return _comparison("NOT_EQUAL", draw, types)


@tflite("GREATER", *COMPARED)
def greater(draw: Draw, types: str) -> TfliteFile:
    return _comparison("GREATER", draw, types)


@tflite("GREATER_EQUAL", *COMPARED)
def greater_or_equal(draw: Draw, types: str) -> TfliteFile:
    return _comparison("GREATER_EQUAL", draw, types)


@tflite("LESS", *COMPARED)
def less(draw: Draw, types: str) -> TfliteFile:
    return _comparison("LESS", draw, types)


@tflite("LESS_EQUAL", *COMPARED)
def less_or_equal(draw: Draw, types: str) -> TfliteFile:
    return _comparison("LESS_EQUAL", draw, types)


def _logical(name: str, options: str, draw: Draw, types: str) -> TfliteFile:
    file = TfliteFile()
    shape = draw.shape((2, 4), (2, 6))
    operands = [file.value("first", "bool")]
    _truth(file, draw, types, "first", operands[0], shape)
    if name != "LOGICAL_NOT":
        operands.append(file.value("second", "bool"))
        _truth(file, draw, types, "second", operands[1], shape)
    file.operator(name, operands, [file.output("output", "bool")], options)
    return file


@tflite("LOGICAL_AND", "float32", "int8")
def logical_and(draw: Draw, types: str) -> TfliteFile:
    return _logical("LOGICAL_AND", "LogicalAndOptions", draw, types)


@tflite("LOGICAL_OR", "float32", "int8")
def logical_or(draw: Draw, types: str) -> TfliteFile:
    return _logical("LOGICAL_OR", "LogicalOrOptions", draw, types)


@tflite("LOGICAL_NOT", "float32", "int8")
def logical_not(draw: Draw, types: str) -> TfliteFile:
    return _logical("LOGICAL_NOT", "LogicalNotOptions", draw, types)


def _choice(name: str, options: str, draw: Draw, types: str) -> TfliteFile:
    file = TfliteFile()
    shape = draw.shape((2, 4), (2, 6))
    condition = file.value("condition", "bool")
    _truth(file, draw, types, "condition", condition, shape)
    quantization = any_quantization(draw, types)
    tensors = [condition]
    for index in range(2):
        extents = draw.broadcast_from(shape) if name == "SELECT_V2" and draw.chance(0.4) else shape
        values = draw.stored(extents, types)
        add = file.constant if draw.chance(0.3) else file.input
        tensors.append(add(f"chosen_{index}", values, quantization))
    file.operator(name, tensors, [file.output("output", types, quantization)], options)
    return file


@tflite("SELECT", "float32", "int8", "uint8")
def select(draw: Draw, types: str) -> TfliteFile:
    return _choice("SELECT", "SelectOptions", draw, types)


@tflite("SELECT_V2", "float32", "int8", "uint8", weight=2)
def select_with_broadcast(draw: Draw, types: str) -> TfliteFile:
    return _choice("SELECT_V2", "SelectV2Options", draw, types)
