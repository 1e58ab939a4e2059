"""Operators that find places by indices, sort, reverse, or work on bits."""

import numpy as np

from draw import Draw
from onnx_file import OnnxFile
from onnx_operators.registry import onnx


def _real(file: OnnxFile, draw: Draw, shape: list[int], name: str = "x") -> str:
    return file.input(name, draw.floats(shape))


def _indices(file: OnnxFile, draw: Draw, values: np.ndarray) -> str:
    """Mostly an input of the network, else a constant."""
    add = file.input if draw.chance(0.6) else file.constant
    return add("indices", values.astype("int64"))


def _drawn(draw: Draw, shape: list[int], extent: int) -> np.ndarray:
    low = -extent if draw.chance(0.4) else 0
    return draw.integers(shape, low, extent - 1, "int64")


def _distinct(draw: Draw, shape: list[int], axis: int, extent: int) -> np.ndarray:
    """Indices of which none is twice in a line: the standard leaves open which update would stay."""
    count = shape[axis]
    lines = [draw.permutation(extent)[:count] for _ in range(int(np.prod(shape)) // count)]
    moved = [extents for place, extents in enumerate(shape) if place != axis] + [count]
    return np.moveaxis(np.array(lines).reshape(moved), -1, axis)


def _finish(file: OnnxFile, name: str, inputs: list[str], **attributes: object) -> None:
    file.node(name, inputs, "y", **attributes)
    file.output("y", "float32")


@onnx("GatherElements", oldest=11, weight=2)
def gather_elements(draw: Draw, types: str, file: OnnxFile) -> None:
    shape = draw.shape((2, 4), (1, 6))
    axis = draw.integer(0, len(shape) - 1)
    wanted = [draw.integer(1, extent) for extent in shape]
    wanted[axis] = draw.integer(1, 7)
    indices = _indices(file, draw, _drawn(draw, wanted, shape[axis]))
    written = axis - len(shape) if draw.chance(0.3) else axis
    _finish(file, "GatherElements", [_real(file, draw, shape), indices], axis=written)


def _tuples(draw: Draw, rows: list[int], shape: list[int]) -> np.ndarray:
    """Tuples of indices of the first axes of a shape."""
    return np.stack([_drawn(draw, rows, extent) for extent in shape], axis=-1)


@onnx("GatherND", oldest=11, weight=2)
def gather_nd(draw: Draw, types: str, file: OnnxFile) -> None:
    shape = draw.shape((2, 4), (1, 6))
    batch = draw.integer(0, len(shape) - 1) if file.opset >= 12 else 0
    axes = draw.integer(1, len(shape) - batch)
    rows = shape[:batch] + [draw.integer(1, 4) for _ in range(draw.integer(1, 2))]
    tuples = _tuples(draw, rows, shape[batch : batch + axes])
    inputs = [_real(file, draw, shape), _indices(file, draw, tuples)]
    _finish(file, "GatherND", inputs, **({"batch_dims": batch} if batch else {}))


def _reduction(draw: Draw, file: OnnxFile) -> str | None:
    reductions = [None, "none"]
    if file.opset >= 16:
        reductions += ["add", "mul"]
    if file.opset >= 18:
        reductions += ["max", "min"]
    return draw.choice(reductions)


@onnx("ScatterElements", oldest=11, newest=20, weight=2)
def scatter_elements(draw: Draw, types: str, file: OnnxFile) -> None:
    shape = draw.shape((2, 4), (1, 6))
    axis = draw.integer(0, len(shape) - 1)
    updated = [draw.integer(1, extent) for extent in shape]
    reduction = _reduction(draw, file) if file.opset >= 16 else None
    if reduction in (None, "none"):
        places = _distinct(draw, updated, axis, shape[axis])
    else:
        places = _drawn(draw, updated, shape[axis])
    inputs = [
        _real(file, draw, shape),
        _indices(file, draw, places),
        _real(file, draw, updated, "updates"),
    ]
    _finish(file, "ScatterElements", inputs, axis=axis, reduction=reduction)


@onnx("Scatter", oldest=9, newest=10)
def scatter(draw: Draw, types: str, file: OnnxFile) -> None:
    """The name of ScatterElements before operator set 11."""
    shape = draw.shape((2, 3), (1, 6))
    axis = draw.integer(0, len(shape) - 1)
    updated = [draw.integer(1, extent) for extent in shape]
    inputs = [
        _real(file, draw, shape),
        _indices(file, draw, _distinct(draw, updated, axis, shape[axis])),
        _real(file, draw, updated, "updates"),
    ]
    _finish(file, "Scatter", inputs, axis=axis)


@onnx("ScatterND", oldest=11, newest=20, weight=2)
def scatter_nd(draw: Draw, types: str, file: OnnxFile) -> None:
    shape = draw.shape((2, 4), (1, 6))
    axes = draw.integer(1, len(shape))
    reduction = _reduction(draw, file) if file.opset >= 16 else None
    if reduction in (None, "none"):
        # Places that differ: the standard leaves open which update of a place would stay.
        count = int(np.prod(shape[:axes]))
        chosen = draw.permutation(count)[: draw.integer(1, min(count, 6))]
        tuples = np.stack(np.unravel_index(chosen, shape[:axes]), axis=-1)
    else:
        tuples = _tuples(draw, [draw.integer(1, 6)], shape[:axes])
    inputs = [
        _real(file, draw, shape),
        _indices(file, draw, tuples),
        _real(file, draw, [tuples.shape[0], *shape[axes:]], "updates"),
    ]
    _finish(file, "ScatterND", inputs, reduction=reduction)


@onnx("TopK", "float32", "float32", "int32", weight=2)
def top_k(draw: Draw, types: str, file: OnnxFile) -> None:
    shape = draw.shape((2, 4), (1, 7))
    axis = draw.integer(0, len(shape) - 1)
    k = draw.integer(1, shape[axis])
    if types == "int32" and file.opset >= 11:
        # Of few numbers, many are equal.
        x = file.input("x", draw.integers(shape, -3, 3, "int32"))
    else:
        x = _real(file, draw, shape)
    attributes: dict[str, object] = {"axis": axis}
    inputs = [x]
    if file.opset < 10:
        attributes["k"] = k
    else:
        inputs.append(file.integers("k", [k]))
    if file.opset >= 11:
        attributes["largest"] = draw.integer(0, 1)
        attributes["sorted"] = 1
    file.nodes_with_outputs("TopK", inputs, ["values", "places"], **attributes)
    file.output("values", file.values["x"].dtype.name)
    file.output("places", "int64")


@onnx("Embedding")
def embedding(draw: Draw, types: str, file: OnnxFile) -> None:
    """Rows of a constant table at indices that are an input, as PyTorch exports them."""
    rows, columns = draw.integer(2, 9), draw.integer(1, 6)
    indices = draw.integers([1, draw.integer(1, 6)], 0, rows - 1, "int64")
    table = file.constant("table", draw.floats([rows, columns]))
    found = file.node("Gather", [table, file.input("indices", indices)], "", axis=0)
    positions = _real(file, draw, [1, indices.shape[1], columns])
    _finish(file, "Add", [found, positions])


@onnx("Trilu", oldest=14)
def trilu(draw: Draw, types: str, file: OnnxFile) -> None:
    inputs = [_real(file, draw, draw.shape((2, 4), (1, 6)))]
    if draw.chance(0.7):
        inputs.append(file.integers("k", draw.integer(-4, 4)))
    _finish(file, "Trilu", inputs, upper=draw.choice([None, 0, 1]))


@onnx("EyeLike", oldest=9)
def eye_like(draw: Draw, types: str, file: OnnxFile) -> None:
    x = _real(file, draw, [draw.integer(1, 6), draw.integer(1, 6)])
    attributes = {"k": draw.integer(-3, 3)} if draw.chance(0.6) else {}
    if draw.chance(0.5):
        attributes["dtype"] = 1
    _finish(file, "Add", [x, file.node("EyeLike", [x], "", **attributes)])


@onnx("ReverseSequence", oldest=10)
def reverse_sequence(draw: Draw, types: str, file: OnnxFile) -> None:
    shape = draw.shape((2, 4), (2, 6))
    time = draw.integer(0, 1)
    lengths = draw.integers([shape[1 - time]], 1, shape[time], "int64")
    add = file.constant if draw.chance(0.7) else file.input
    inputs = [_real(file, draw, shape), add("lengths", lengths)]
    _finish(file, "ReverseSequence", inputs, batch_axis=1 - time, time_axis=time)


@onnx("Compress", oldest=9)
def compress(draw: Draw, types: str, file: OnnxFile) -> None:
    shape = draw.shape((2, 4), (2, 5))
    axis = draw.choice([None, *range(len(shape))])
    extent = int(np.prod(shape)) if axis is None else shape[axis]
    condition = draw.integers([draw.integer(1, extent)], 0, 1, "int8").astype(bool)
    condition[draw.integer(0, condition.size - 1)] = True
    inputs = [_real(file, draw, shape), file.constant("condition", condition)]
    _finish(file, "Compress", inputs, axis=axis)


@onnx("NonZero", oldest=9)
def non_zero(draw: Draw, types: str, file: OnnxFile) -> None:
    """Of a constant, whose places a node then gathers."""
    numbers = draw.integers([draw.integer(2, 7)], -1, 1, "int8").astype(np.float32)
    numbers[draw.integer(0, numbers.size - 1)] = 1
    places = file.node("NonZero", [file.constant("numbers", numbers)])
    found = file.node("Reshape", [places, file.integers("shape", [-1])])
    _finish(file, "Gather", [_real(file, draw, [1, numbers.size, 3]), found], axis=1)


@onnx("Hardmax")
def hardmax(draw: Draw, types: str, file: OnnxFile) -> None:
    """Of few numbers, so that many are equal."""
    shape = draw.shape((2, 4), (1, 6))
    x = file.input("x", draw.integers(shape, -2, 2, "int8").astype(np.float32))
    attributes = {"axis": draw.integer(0, len(shape) - 1)} if draw.chance(0.7) else {}
    _finish(file, "Hardmax", [x], **attributes)


def _not_numbers(name: str, draw: Draw, file: OnnxFile, **attributes: object) -> None:
    """Of quotients with 0, which are infinite or no number; a network of integers runs with them."""
    scale = file.constant("scale", np.array(1.0, dtype=np.float32))
    zero = file.constant("zero", np.array(0, dtype=np.int8))
    shape = draw.shape((2, 4), (2, 6))
    numbers = [
        file.node("DequantizeLinear", [file.input(each, draw.integers(shape, -1, 1, "int8")), scale, zero])
        for each in ("a", "b")
    ]
    truth = file.node(name, [file.node("Div", numbers)], "", **attributes)
    chosen = [file.constant(each, np.array(number, np.float32)) for each, number in (("yes", 2), ("no", -1))]
    _finish(file, "Where", [truth, *chosen])


@onnx("IsNaN", oldest=13)
def is_nan(draw: Draw, types: str, file: OnnxFile) -> None:
    _not_numbers("IsNaN", draw, file)


@onnx("IsInf", oldest=13)
def is_infinite(draw: Draw, types: str, file: OnnxFile) -> None:
    signs = {f"detect_{sign}": draw.integer(0, 1) for sign in ("negative", "positive")}
    _not_numbers("IsInf", draw, file, **(signs if draw.chance(0.7) else {}))


def _bits(name: str, draw: Draw, types: str, file: OnnxFile) -> None:
    shape = draw.shape((2, 4), (1, 6))
    other = draw.broadcast_from(shape) if draw.chance(0.4) else shape
    add = file.constant if draw.chance(0.4) else file.input
    inputs = [file.input("a", draw.stored(shape, types)), add("b", draw.stored(other, types))]
    file.node(name, inputs, "y")
    file.output("y", types)


@onnx("BitwiseAnd", "int32", "uint8", "int8", oldest=18, newest=20)
def bitwise_and(draw: Draw, types: str, file: OnnxFile) -> None:
    _bits("BitwiseAnd", draw, types, file)


@onnx("BitwiseOr", "int32", "uint8", "int8", oldest=18, newest=20)
def bitwise_or(draw: Draw, types: str, file: OnnxFile) -> None:
    _bits("BitwiseOr", draw, types, file)


@onnx("BitwiseXor", "int32", "uint8", "int8", oldest=18, newest=20)
def bitwise_xor(draw: Draw, types: str, file: OnnxFile) -> None:
    _bits("BitwiseXor", draw, types, file)


@onnx("BitwiseNot", "int32", "uint8", "int8", oldest=18, newest=20)
def bitwise_not(draw: Draw, types: str, file: OnnxFile) -> None:
    file.node("BitwiseNot", [file.input("x", draw.stored(draw.shape(), types))], "y")
    file.output("y", types)


@onnx("BitShift", "uint8", oldest=11)
def bit_shift(draw: Draw, types: str, file: OnnxFile) -> None:
    shape = draw.shape((2, 4), (1, 6))
    add = file.constant if draw.chance(0.4) else file.input
    inputs = [
        file.input("a", draw.stored(shape, types)),
        add("b", draw.integers(shape, 0, 7, types)),
    ]
    file.node("BitShift", inputs, "y", direction=draw.choice(["LEFT", "RIGHT"]))
    file.output("y", types)


def _function(
    name: str, draw: Draw, file: OnnxFile, low: float, high: float, **attributes: object
) -> None:
    x = file.input("x", draw.positive_floats(draw.shape(), low, high))
    _finish(file, name, [x], **attributes)


@onnx("Tan")
def tangent(draw: Draw, types: str, file: OnnxFile) -> None:
    _function("Tan", draw, file, -1.4, 1.4)


@onnx("Asin")
def inverse_sine(draw: Draw, types: str, file: OnnxFile) -> None:
    _function("Asin", draw, file, -1, 1)


@onnx("Acos")
def inverse_cosine(draw: Draw, types: str, file: OnnxFile) -> None:
    _function("Acos", draw, file, -1, 1)


@onnx("Atan")
def inverse_tangent(draw: Draw, types: str, file: OnnxFile) -> None:
    _function("Atan", draw, file, -9, 9)


@onnx("Sinh", oldest=9)
def hyperbolic_sine(draw: Draw, types: str, file: OnnxFile) -> None:
    _function("Sinh", draw, file, -4, 4)


@onnx("Cosh", oldest=9)
def hyperbolic_cosine(draw: Draw, types: str, file: OnnxFile) -> None:
    _function("Cosh", draw, file, -4, 4)


@onnx("Asinh", oldest=9)
def inverse_hyperbolic_sine(draw: Draw, types: str, file: OnnxFile) -> None:
    _function("Asinh", draw, file, -9, 9)


@onnx("Acosh", oldest=9)
def inverse_hyperbolic_cosine(draw: Draw, types: str, file: OnnxFile) -> None:
    _function("Acosh", draw, file, 1, 9)


@onnx("Atanh", oldest=9)
def inverse_hyperbolic_tangent(draw: Draw, types: str, file: OnnxFile) -> None:
    _function("Atanh", draw, file, -0.95, 0.95)


@onnx("Shrink", oldest=9)
def shrink(draw: Draw, types: str, file: OnnxFile) -> None:
    keys = {"lambd": draw.real(0.1, 1.5), "bias": draw.real(-1, 1)} if draw.chance(0.8) else {}
    _function("Shrink", draw, file, -3, 3, **keys)
