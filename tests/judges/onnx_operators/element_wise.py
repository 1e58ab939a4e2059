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


def _integers(name: str, draw: Draw, types: str, file: OnnxFile) -> None:
    """Integers over their whole range, of which the low bits of a result are kept."""
    shape = draw.shape((1, 4), (1, 6))
    other = draw.broadcast_from(shape) if draw.chance(0.4) else shape
    tensors = [
        file.input("a", draw.stored(shape, types)),
        file.input("b", draw.stored(other, types)),
    ]
    file.node(name, tensors, "y")
    file.output("y", types)


def _real_or_integer(name: str, draw: Draw, types: str, file: OnnxFile) -> None:
    if types == "int32":
        return _integers(name, draw, types, file)
    file.node(name, _operands(file, draw, types), "y")
    file.output("y", real_type(types))


@onnx("Add", "float32", "float32", "float16", "int32", weight=2)
def add(draw: Draw, types: str, file: OnnxFile) -> None:
    _real_or_integer("Add", draw, types, file)


@onnx("Sub", "float32", "int32")
def sub(draw: Draw, types: str, file: OnnxFile) -> None:
    _real_or_integer("Sub", draw, types, file)


@onnx("Mul", "float32", "float32", "float16", "int32", weight=2)
def mul(draw: Draw, types: str, file: OnnxFile) -> None:
    _real_or_integer("Mul", draw, types, file)


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


@onnx("Sign", oldest=9)
def sign(draw: Draw, types: str, file: OnnxFile) -> None:
    """Many are 0."""
    values = draw.integers(draw.shape(), -2, 2, "int8").astype(np.float32) * np.float32(0.7)
    file.node("Sign", [file.input("x", values)], "y")
    file.output("y", "float32")


@onnx("Sin")
def sine(draw: Draw, types: str, file: OnnxFile) -> None:
    _function("Sin", draw, file, -9, 9)


@onnx("Cos")
def cosine(draw: Draw, types: str, file: OnnxFile) -> None:
    _function("Cos", draw, file, -9, 9)


@onnx("Erf", oldest=9)
def erf(draw: Draw, types: str, file: OnnxFile) -> None:
    _function("Erf", draw, file, -3, 3)


CODES = {"float32": 1, "uint8": 2, "int8": 3, "uint16": 4, "int16": 5, "int32": 6}


@onnx("Cast", "float32", "uint8", "int8", "uint16", "int16", "int32", oldest=13, weight=2)
def cast(draw: Draw, types: str, file: OnnxFile) -> None:
    """Real numbers become int32 (towards 0), and float32 again. Ours does not round to float16."""
    if types != "float32":
        # Integers over their whole range become real numbers, or others with their low bits.
        to = draw.choice([name for name in CODES if name != types])
        file.node("Cast", [file.input("x", draw.stored(draw.shape(), types))], "y", to=CODES[to])
        file.output("y", to)
        return
    x = file.input("x", draw.floats(draw.shape(), 20))
    kind = draw.integer(0, 2)
    if kind == 0:
        file.node("Cast", [x], "y", to=6)
        file.output("y", "int32")
        return
    between = file.node("Cast", [x], "", to=6 if kind == 1 else 7)
    file.node("Cast", [between], "y", to=1)
    file.output("y", "float32")


@onnx("CastLike", "float32", "int32", oldest=15)
def cast_like(draw: Draw, types: str, file: OnnxFile) -> None:
    """To the type of a constant and, at times, back to that of the input."""
    shape = draw.shape()
    is_real = types == "float32"
    x = file.input("x", draw.floats(shape, 20) if is_real else draw.integers(shape, -99, 99, types))
    other = "int32" if is_real else "float32"
    like = file.constant("like", np.array([1], dtype=other))
    if draw.chance(0.5):
        file.node("CastLike", [file.node("CastLike", [x, like]), x], "y")
        file.output("y", types)
    else:
        file.node("CastLike", [x, like], "y")
        file.output("y", other)


@onnx("Mod", "float32", "int32", oldest=13)
def modulo(draw: Draw, types: str, file: OnnxFile) -> None:
    """With all four pairs of signs."""
    shape = draw.shape((2, 4))
    other = draw.broadcast_from(shape) if draw.chance(0.5) else shape
    divisors = draw.integers(other, 1, 9, "int32") * draw.random.choice([-1, 1], tuple(other))
    fmod = 1 if types == "float32" else draw.integer(0, 1)
    if types == "float32":
        x = file.input("x", draw.floats(shape, 20))
        divisors = divisors * draw.real(0.3, 1.2)
    else:
        x = file.input("x", draw.integers(shape, -99, 99, types))
    add = file.constant if draw.chance(0.5) else file.input
    file.node("Mod", [x, add("d", np.asarray(divisors).astype(types))], "y", fmod=fmod)
    file.output("y", types)


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


COMPARISONS = ("Greater", "Less", "Equal", "GreaterOrEqual", "LessOrEqual")


@onnx("Where", "float32", "int8", oldest=13, weight=4)
def where(draw: Draw, types: str, file: OnnxFile) -> None:
    """Choices by numbers of which some are infinite or none: what is divided by 0, and roots.

    A network of float32 that has them is not quantized; one whose inputs are integers runs.
    """
    shape = draw.shape((1, 4), (1, 6))

    def real(name: str, values: np.ndarray, scale: float) -> str:
        if types == "float32":
            return file.input(name, values.astype(np.float32) * np.float32(scale))
        parameters = [
            file.constant(f"{name}_scale", np.array(scale, dtype=np.float32)),
            file.constant(f"{name}_zero", np.array(0, dtype=np.int8)),
        ]
        return file.node("DequantizeLinear", [file.input(name, values), *parameters])

    def number(name: str) -> str:
        """Small integers, so that many are 0, equal, or opposite."""
        return real(name, draw.integers(shape, -2, 2, "int8"), 1.0)

    def any_number(index: int) -> str:
        kind = draw.integer(0, 3)
        if kind == 0:
            return number(f"n{index}")
        if kind == 1:
            return file.node(draw.choice(["Sqrt", "Log"]), [number(f"r{index}")])
        return file.node("Div", [number(f"a{index}"), number(f"b{index}")])

    def truth(index: int) -> str:
        kind = draw.integer(0, 6)
        if kind == 0:
            return file.node("Cast", [any_number(index)], to=9)
        compared = [any_number(index), any_number(index + 1)]
        result = file.node(draw.choice(COMPARISONS), compared)
        return file.node("Not", [result]) if kind == 1 else result

    condition = truth(0)
    if draw.chance(0.4):
        condition = file.node(draw.choice(["And", "Or", "Xor"]), [condition, truth(2)])
    chosen = [real(name, draw.stored(shape, "int8"), 0.02) for name in ("chosen", "other")]
    file.node("Where", [condition, *chosen], "y")
    file.output("y", "float32")
