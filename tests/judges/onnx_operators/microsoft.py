"""The operators on integers that ONNX Runtime adds to ONNX's own (domain com.microsoft)."""

import numpy as np

from draw import Draw
from onnx_file import OnnxFile
from onnx_operators.registry import image, onnx

DOMAIN = "com.microsoft"


class Tensors:
    """The inputs of a node: each tensor is followed by its scale and zero point."""

    def __init__(self, draw: Draw, types: str, file: OnnxFile) -> None:
        self.draw, self.types, self.file = draw, types, file
        self.names: list[str] = []

    def parameters(
        self, name: str, low: float = 0.005, high: float = 0.05, even: bool = False
    ) -> np.ndarray:
        scale = self.draw.positive_floats([], low, high).reshape(())
        scale = self.draw.powers_at_times(scale)
        zero = self.draw.stored([], self.types).reshape(())
        if even:
            zero = zero & np.array(-2).astype(self.types)
        self.names += [
            self.file.constant(f"{name}_scale", scale),
            self.file.constant(f"{name}_zero", zero),
        ]
        return scale

    def input(self, name: str, shape: list[int]) -> np.ndarray:
        self.names.append(self.file.input(name, self.draw.stored(shape, self.types)))
        return self.parameters(name)

    def constant(self, name: str, shape: list[int]) -> np.ndarray:
        self.names.append(self.file.constant(name, self.draw.stored(shape, self.types)))
        return self.parameters(name)

    def node(self, operator: str, **attributes: object) -> None:
        self.file.node(operator, self.names, "y", domain=DOMAIN, **attributes)
        self.file.output("y", self.types)


def _pair(operator: str, draw: Draw, types: str, file: OnnxFile) -> None:
    tensors = Tensors(draw, types, file)
    shape = draw.shape((2, 4), (1, 9))
    other = draw.broadcast_from(shape) if draw.chance(0.4) else shape
    a = tensors.input("a", shape)
    b = tensors.constant("b", other) if draw.chance(0.4) else tensors.input("b", other)
    # Some results saturate.
    if operator == "QLinearAdd":
        largest = float(max(a, b)) * 2
    else:
        largest = float(a) * float(b) * 128
    # QLinearAdd rounds behind the zero point: with an odd one, halves go to the other side.
    tensors.parameters("y", largest * 0.4, largest * 1.2, even=operator == "QLinearAdd")
    tensors.node(operator)


@onnx("QLinearAdd", "uint8", "int8", oldest=10, weight=2)
def qlinear_add(draw: Draw, types: str, file: OnnxFile) -> None:
    _pair("QLinearAdd", draw, types, file)


@onnx("QLinearMul", "uint8", "int8", oldest=10, weight=2)
def qlinear_mul(draw: Draw, types: str, file: OnnxFile) -> None:
    _pair("QLinearMul", draw, types, file)


@onnx("QLinearSigmoid", "uint8", "int8", oldest=10)
def qlinear_sigmoid(draw: Draw, types: str, file: OnnxFile) -> None:
    tensors = Tensors(draw, types, file)
    tensors.input("x", draw.shape((2, 4), (1, 9)))
    tensors.parameters("y", 0.003, 0.008)
    tensors.node("QLinearSigmoid")


@onnx("QLinearLeakyRelu", "uint8", "int8", oldest=10)
def qlinear_leaky_relu(draw: Draw, types: str, file: OnnxFile) -> None:
    tensors = Tensors(draw, types, file)
    tensors.input("x", draw.shape((2, 4), (1, 9)))
    tensors.parameters("y")
    alpha = draw.real(0.01, 0.5) if draw.chance(0.7) else None
    tensors.node("QLinearLeakyRelu", alpha=alpha)


@onnx("QLinearGlobalAveragePool", "uint8", "int8", oldest=10)
def qlinear_global_average_pool(draw: Draw, types: str, file: OnnxFile) -> None:
    tensors = Tensors(draw, types, file)
    shape = image(draw)
    last = draw.chance(0.4)
    if last:
        shape = [shape[0], *shape[2:], shape[1]]
    scale = float(tensors.input("x", shape))
    tensors.parameters("y", scale * 0.3, scale)
    tensors.node("QLinearGlobalAveragePool", channels_last=int(last))


@onnx("QLinearConcat", "uint8", "int8", oldest=10)
def qlinear_concat(draw: Draw, types: str, file: OnnxFile) -> None:
    tensors = Tensors(draw, types, file)
    tensors.parameters("y")
    shape = draw.shape((2, 4), (1, 6))
    axis = draw.integer(1, len(shape) - 1)
    for index in range(draw.integer(2, 3)):
        shape[axis] = draw.integer(1, 6)
        add = tensors.constant if index > 0 and draw.chance(0.2) else tensors.input
        add(f"x{index}", list(shape))
    tensors.node("QLinearConcat", axis=axis)


@onnx("QGemm", "uint8", "int8", oldest=10, weight=2)
def qgemm(draw: Draw, types: str, file: OnnxFile) -> None:
    tensors = Tensors(draw, types, file)
    rows = draw.choice([1, 1, draw.integer(2, 4)])
    size, units = draw.integer(1, 60), draw.integer(1, 33)
    a_scale = tensors.input("a", [rows, size])
    transposed = draw.chance(0.5)
    weights = draw.stored([units, size] if transposed else [size, units], types)
    count = [units] if draw.chance(0.4) else []
    scales = draw.positive_floats(count, 0.002, 0.02).reshape(count)
    zero = draw.stored([], types).reshape(())
    if count:
        zero = np.full(count, 128 if types == "uint8" else 0, dtype=types)
    tensors.names += [
        file.constant("b", weights),
        file.constant("b_scale", scales),
        file.constant("b_zero", zero),
    ]
    has_bias = draw.chance(0.7)
    bias = draw.integers([units], -9000, 9000, "int32")
    tensors.names.append(file.constant("c", bias) if has_bias else "")
    spread = 80 * 80 * np.sqrt(size) * float(a_scale) * float(np.mean(scales))
    tensors.parameters("y", spread / 120, spread / 30)
    tensors.node("QGemm", transB=int(transposed))
