"""Functions that exporters write as several nodes, and that are one operator in other files."""

import numpy as np

from draw import Draw
from onnx_file import OnnxFile
from onnx_operators.registry import onnx


class _Writer:
    """Writes nodes on one input, with operands in any order."""

    def __init__(self, draw: Draw, file: OnnxFile) -> None:
        self.draw, self.file = draw, file
        self.shape = draw.shape((2, 4), (2, 8))
        self.x = file.input("x", draw.floats(self.shape, 10 ** draw.real(-0.3, 0.6)))
        self.numbers = 0

    def number(self, value: float) -> str:
        self.numbers += 1
        array = np.array(value, dtype=np.float32)
        return self.file.constant(f"number_{self.numbers}", array)

    def pair(self, operator: str, a: str, b: str) -> str:
        """A node whose operands may have either order."""
        return self.file.node(operator, [a, b] if self.draw.chance(0.5) else [b, a])

    def product(self, *factors: str) -> str:
        """A product in any order and grouping."""
        left = list(factors)
        while len(left) > 1:
            a = left.pop(self.draw.integer(0, len(left) - 1))
            b = left.pop(self.draw.integer(0, len(left) - 1))
            left.append(self.file.node("Mul", [a, b]))
        return left[0]

    def square(self, x: str) -> str:
        if self.draw.chance(0.5):
            return self.file.node("Mul", [x, x])
        return self.file.node("Pow", [x, self.number(2)])

    def mean(self, x: str, axes: list[int]) -> str:
        return self.file.node("ReduceMean", [x], axes=axes, keepdims=1)

    def over_root(self, factors: list[str], squares: str, axes: list[int]) -> str:
        """The product of the factors, divided by the root of a mean of squares."""
        epsilon = self.number(10 ** self.draw.real(-5, -2))
        root = self.file.node("Sqrt", [self.pair("Add", self.mean(squares, axes), epsilon)])
        if self.draw.chance(0.5):
            return self.file.node("Div", [self.product(*factors), root])
        one_over_root = (
            self.file.node("Reciprocal", [root])
            if self.draw.chance(0.5)
            else self.file.node("Div", [self.number(1), root])
        )
        return self.product(*factors, one_over_root)

    def finish(self) -> None:
        """Makes the result of the last node the output."""
        self.file.nodes[-1].output[0] = "y"
        self.file.output("y", "float32")

    def last_axes(self) -> list[int]:
        rank = len(self.shape)
        axes = list(range(self.draw.integer(1, rank - 1), rank))
        may_be_negative = self.file.opset >= 11
        if may_be_negative and self.draw.chance(0.5):
            return [axis - rank for axis in axes]
        return axes

    def parameter(self, name: str, axes: list[int]) -> str:
        return self.file.constant(name, self.draw.floats([self.shape[axis] for axis in axes]))


@onnx("LayerNormalization_nodes", weight=2)
def layer_normalization(draw: Draw, types: str, file: OnnxFile) -> None:
    """(x - mean) / sqrt(variance + epsilon), at times with scale and offset."""
    writer = _Writer(draw, file)
    axes = writer.last_axes()
    centered = file.node("Sub", [writer.x, writer.mean(writer.x, axes)])
    factors = [centered]
    if draw.chance(0.7):
        factors.append(writer.parameter("scale", axes))
    result = writer.over_root(factors, writer.square(centered), axes)
    if draw.chance(0.7):
        writer.pair("Add", result, writer.parameter("offset", axes))
    writer.finish()


@onnx("RMSNormalization_nodes")
def rms_normalization(draw: Draw, types: str, file: OnnxFile) -> None:
    """x / sqrt(mean(x * x) + epsilon), at times with a scale."""
    writer = _Writer(draw, file)
    axes = writer.last_axes()
    factors = [writer.x]
    if draw.chance(0.7):
        factors.append(writer.parameter("scale", axes))
    writer.over_root(factors, writer.square(writer.x), axes)
    writer.finish()


@onnx("Gelu_factors", oldest=9)
def gelu_factors(draw: Draw, types: str, file: OnnxFile) -> None:
    """x * 0.5 * (1 + erf(x / sqrt(2))), with the factors in any order."""
    writer = _Writer(draw, file)
    if draw.chance(0.5):
        scaled = file.node("Div", [writer.x, writer.number(2**0.5)])
    else:
        scaled = writer.pair("Mul", writer.x, writer.number(0.5**0.5))
    share = writer.pair("Add", file.node("Erf", [scaled]), writer.number(1))
    writer.product(writer.x, writer.number(0.5), share)
    writer.finish()


@onnx("Gelu_tanh_nodes")
def gelu_tanh(draw: Draw, types: str, file: OnnxFile) -> None:
    """0.5 * x * (1 + tanh(sqrt(2 / pi) * (x + 0.044715 * x^3)))."""
    writer = _Writer(draw, file)
    if draw.chance(0.5):
        cube = file.node("Pow", [writer.x, writer.number(3)])
    else:
        cube = writer.product(writer.x, writer.x, writer.x)
    added = writer.pair("Add", writer.x, writer.pair("Mul", cube, writer.number(0.044715)))
    inner = writer.pair("Mul", added, writer.number((2 / np.pi) ** 0.5))
    share = writer.pair("Add", file.node("Tanh", [inner]), writer.number(1))
    writer.product(writer.x, writer.number(0.5), share)
    writer.finish()


def _softmax(writer: _Writer) -> str:
    axis = writer.draw.integer(1, len(writer.shape) - 1)
    largest = writer.file.node("ReduceMax", [writer.x], axes=[axis], keepdims=1)
    power = writer.file.node("Exp", [writer.file.node("Sub", [writer.x, largest])])
    if writer.file.opset < 13:
        total = writer.file.node("ReduceSum", [power], axes=[axis], keepdims=1)
    else:
        axes = writer.file.integers("axes", [axis])
        total = writer.file.node("ReduceSum", [power, axes], keepdims=1)
    return writer.file.node("Div", [power, total])


@onnx("Softmax_nodes")
def softmax(draw: Draw, types: str, file: OnnxFile) -> None:
    """exp(x - max(x)) divided by its sum."""
    writer = _Writer(draw, file)
    _softmax(writer)
    writer.finish()


@onnx("LogSoftmax_nodes")
def log_softmax(draw: Draw, types: str, file: OnnxFile) -> None:
    """The logarithm of a softmax, in one node or in several."""
    writer = _Writer(draw, file)
    if draw.chance(0.5):
        shares = _softmax(writer)
    else:
        # Before opset 13, softmax is over all axes from the given one on: here, over the last.
        shares = file.node("Softmax", [writer.x], axis=len(writer.shape) - 1)
    file.node("Log", [shares])
    writer.finish()
