"""Element-wise operators of one, two and more inputs."""

import numpy as np

from draw import Draw
from onnx_file import OnnxFile
from onnx_operators.registry import floats, onnx, real_type


def _operands(file: OnnxFile, draw: Draw, types: str, positive: bool = False) -> list[str]:
    """Two tensors that broadcast to each other, the second perhaps a constant."""
    shape = draw.shape((1, 5), (1, 6))
    other = draw.broadcast_from(shape) if draw.chance(0.6) else shape
    first, second = floats(draw, shape, types), floats(draw, other, types)
    if positive:
        second = (draw.positive_floats(other, 0.3, 3) * np.sign(second)).astype(second.dtype)
    if draw.chance(0.5):
        right = file.constant("b", second)
    else:
        right = file.input("b", second)
    tensors = [file.input("a", first), right]
    if not positive and draw.chance(0.25):
        tensors.reverse()
    return tensors


@onnx("Add", "float32", "float32", "float16", weight=2)
def add(draw: Draw, types: str, file: OnnxFile) -> None:
    file.node("Add", _operands(file, draw, types), "y")
    file.output("y", real_type(types))


@onnx("Sub")
def sub(draw: Draw, types: str, file: OnnxFile) -> None:
    file.node("Sub", _operands(file, draw, types), "y")
    file.output("y", "float32")


@onnx("Mul", "float32", "float32", "float16", weight=2)
def mul(draw: Draw, types: str, file: OnnxFile) -> None:
    file.node("Mul", _operands(file, draw, types), "y")
    file.output("y", real_type(types))


@onnx("Div")
def div(draw: Draw, types: str, file: OnnxFile) -> None:
    file.node("Div", _operands(file, draw, types, positive=True), "y")
    file.output("y", "float32")


@onnx("Pow")
def power(draw: Draw, types: str, file: OnnxFile) -> None:
    base = file.input("a", draw.positive_floats(draw.shape(), 0.1, 3))
    exponent = np.array(draw.choice([0.5, 1, 1.5, 2, 3, -1]), dtype=np.float32)
    file.node("Pow", [base, file.constant("b", exponent)], "y")
    file.output("y", "float32")


def _several(name: str, draw: Draw, file: OnnxFile) -> None:
    shape = draw.shape((1, 4), (1, 6))
    tensors = [file.input("x0", draw.floats(shape))]
    for index in range(1, draw.integer(1, 4)):
        other = draw.broadcast_from(shape) if draw.chance(0.4) else shape
        tensors.append(file.input(f"x{index}", draw.floats(other)))
    file.node(name, tensors, "y")
    file.output("y", "float32")


@onnx("Sum", oldest=8)
def sum_(draw: Draw, types: str, file: OnnxFile) -> None:
    _several("Sum", draw, file)


@onnx("Mean", oldest=8)
def mean(draw: Draw, types: str, file: OnnxFile) -> None:
    _several("Mean", draw, file)


@onnx("Max", oldest=8)
def maximum(draw: Draw, types: str, file: OnnxFile) -> None:
    _several("Max", draw, file)


@onnx("Min", oldest=8)
def minimum(draw: Draw, types: str, file: OnnxFile) -> None:
    _several("Min", draw, file)


def _function(name: str, draw: Draw, file: OnnxFile, low: float, high: float) -> None:
    file.node(name, [file.input("x", draw.positive_floats(draw.shape(), low, high))], "y")
    file.output("y", "float32")


@onnx("Abs")
def absolute(draw: Draw, types: str, file: OnnxFile) -> None:
    _function("Abs", draw, file, -4, 4)


@onnx("Neg")
def negative(draw: Draw, types: str, file: OnnxFile) -> None:
    _function("Neg", draw, file, -4, 4)


@onnx("Exp")
def exponential(draw: Draw, types: str, file: OnnxFile) -> None:
    _function("Exp", draw, file, -5, 3)


@onnx("Log")
def logarithm(draw: Draw, types: str, file: OnnxFile) -> None:
    _function("Log", draw, file, 0.01, 20)


@onnx("Sqrt")
def square_root(draw: Draw, types: str, file: OnnxFile) -> None:
    _function("Sqrt", draw, file, 0, 20)


@onnx("Reciprocal")
def reciprocal(draw: Draw, types: str, file: OnnxFile) -> None:
    _function("Reciprocal", draw, file, 0.1, 5)


@onnx("Floor")
def floor(draw: Draw, types: str, file: OnnxFile) -> None:
    _function("Floor", draw, file, -9, 9)


@onnx("Ceil")
def ceil(draw: Draw, types: str, file: OnnxFile) -> None:
    _function("Ceil", draw, file, -9, 9)


@onnx("Round", oldest=11)
def round_(draw: Draw, types: str, file: OnnxFile) -> None:
    """Half to even."""
    values = draw.integers(draw.shape(), -20, 20, "int32").astype(np.float32) / 2
    file.node("Round", [file.input("x", values)], "y")
    file.output("y", "float32")


@onnx("Erf", oldest=9)
def erf(draw: Draw, types: str, file: OnnxFile) -> None:
    _function("Erf", draw, file, -3, 3)


@onnx("Cast")
def cast(draw: Draw, types: str, file: OnnxFile) -> None:
    """Real numbers become int32 (towards 0), and float32 again. Ours does not round to float16."""
    x = file.input("x", draw.floats(draw.shape(), 20))
    kind = draw.integer(0, 2)
    if kind == 0:
        file.node("Cast", [x], "y", to=6)
        file.output("y", "int32")
        return
    between = file.node("Cast", [x], "", to=6 if kind == 1 else 7)
    file.node("Cast", [between], "y", to=1)
    file.output("y", "float32")


@onnx("Identity")
def identity(draw: Draw, types: str, file: OnnxFile) -> None:
    x = file.input("x", draw.floats(draw.shape()))
    file.node("Identity", [file.node("Relu", [file.node("Identity", [x])])], "y")
    file.output("y", "float32")


@onnx("Dropout")
def dropout(draw: Draw, types: str, file: OnnxFile) -> None:
    """Which passes its input on in inference."""
    x = file.input("x", draw.floats(draw.shape()))
    attributes = {"ratio": 0.4} if file.opset < 12 else {}
    file.node("Dropout", [x], "y", **attributes)
    file.output("y", "float32")
