"""Activation functions, those that exporters write as several nodes, and softmax."""

import numpy as np

from draw import Draw
from onnx_file import OnnxFile
from onnx_operators.registry import floats, image, onnx, real_type


def _input(file: OnnxFile, draw: Draw, types: str = "float32") -> str:
    shape = image(draw, sides=(1, 8)) if draw.chance(0.5) else draw.shape((2, 4), (1, 8))
    return file.input("x", floats(draw, shape, types, 10 ** draw.real(-0.3, 0.9)))


def _function(name: str, draw: Draw, file: OnnxFile, **attributes: float) -> None:
    """Attributes are left out at times; then they have their default."""
    given = attributes if draw.chance(0.7) else {}
    file.node(name, [_input(file, draw)], "y", **given)
    file.output("y", "float32")


@onnx("Relu", "float32", "float16")
def relu(draw: Draw, types: str, file: OnnxFile) -> None:
    file.node("Relu", [_input(file, draw, types)], "y")
    file.output("y", real_type(types))


@onnx("LeakyRelu")
def leaky_relu(draw: Draw, types: str, file: OnnxFile) -> None:
    _function("LeakyRelu", draw, file, alpha=draw.real(0, 1))


@onnx("PRelu")
def prelu(draw: Draw, types: str, file: OnnxFile) -> None:
    shape = image(draw, sides=(1, 8))
    slope_shape = draw.choice(
        [[shape[1], 1, 1], [shape[1], 1, 1], [1], shape[1:], [1, 1, shape[3]]]
    )
    slope = file.constant("slope", draw.floats(slope_shape, 0.4))
    file.node("PRelu", [file.input("x", draw.floats(shape)), slope], "y")
    file.output("y", "float32")


@onnx("Elu")
def elu(draw: Draw, types: str, file: OnnxFile) -> None:
    _function("Elu", draw, file, alpha=draw.real(0.2, 2))


@onnx("Selu")
def selu(draw: Draw, types: str, file: OnnxFile) -> None:
    _function("Selu", draw, file, alpha=draw.real(0.5, 2), gamma=draw.real(0.5, 2))


@onnx("Celu", oldest=12)
def celu(draw: Draw, types: str, file: OnnxFile) -> None:
    _function("Celu", draw, file, alpha=draw.real(0.5, 2))


@onnx("ThresholdedRelu", oldest=10)
def thresholded_relu(draw: Draw, types: str, file: OnnxFile) -> None:
    _function("ThresholdedRelu", draw, file, alpha=draw.real(0.1, 2))


@onnx("HardSigmoid")
def hard_sigmoid(draw: Draw, types: str, file: OnnxFile) -> None:
    _function("HardSigmoid", draw, file, alpha=draw.real(0.05, 0.5), beta=draw.real(0.2, 0.8))


@onnx("HardSwish", oldest=14)
def hard_swish(draw: Draw, types: str, file: OnnxFile) -> None:
    _function("HardSwish", draw, file)


@onnx("Sigmoid")
def sigmoid(draw: Draw, types: str, file: OnnxFile) -> None:
    _function("Sigmoid", draw, file)


@onnx("Tanh")
def tanh(draw: Draw, types: str, file: OnnxFile) -> None:
    _function("Tanh", draw, file)


@onnx("Softplus")
def softplus(draw: Draw, types: str, file: OnnxFile) -> None:
    _function("Softplus", draw, file)


@onnx("Softsign")
def softsign(draw: Draw, types: str, file: OnnxFile) -> None:
    _function("Softsign", draw, file)


@onnx("Clip")
def clip(draw: Draw, types: str, file: OnnxFile) -> None:
    x = _input(file, draw)
    low = draw.choice([None, 0.0, -1.0, draw.real(-2, 0)])
    high = draw.choice([None, 6.0, 1.0, draw.real(0.1, 3)])
    if file.opset < 11:
        file.node("Clip", [x], "y", min=low, max=high)
    else:
        tensors = [x]
        for name, bound in (("low", low), ("high", high)):
            tensors.append(
                "" if bound is None else file.constant(name, np.array(bound, np.float32))
            )
        while tensors[-1] == "":
            tensors.pop()
        file.node("Clip", tensors, "y")
    file.output("y", "float32")


@onnx("SiLU")
def silu(draw: Draw, types: str, file: OnnxFile) -> None:
    """x * sigmoid(x), in two nodes."""
    x = _input(file, draw)
    file.node("Mul", [x, file.node("Sigmoid", [x])], "y")
    file.output("y", "float32")


@onnx("Mish", oldest=18, newest=19)
def mish_operator(draw: Draw, types: str, file: OnnxFile) -> None:
    file.node("Mish", [_input(file, draw)], "y")
    file.output("y", "float32")


@onnx("Gelu", oldest=20, newest=21)
def gelu_operator(draw: Draw, types: str, file: OnnxFile) -> None:
    approximate = draw.choice([None, "none", "tanh"])
    file.node("Gelu", [_input(file, draw)], "y", approximate=approximate)
    file.output("y", "float32")


@onnx("Mish_nodes")
def mish(draw: Draw, types: str, file: OnnxFile) -> None:
    """x * tanh(softplus(x)), in three nodes."""
    x = _input(file, draw)
    file.node("Mul", [x, file.node("Tanh", [file.node("Softplus", [x])])], "y")
    file.output("y", "float32")


@onnx("Gelu_nodes", oldest=9)
def gelu(draw: Draw, types: str, file: OnnxFile) -> None:
    """x * (1 + erf(x / sqrt(2))) / 2, as exporters write it."""
    x = _input(file, draw)
    root = file.constant("root", np.array(np.sqrt(2), dtype=np.float32))
    one = file.constant("one", np.array(1, dtype=np.float32))
    half = file.constant("half", np.array(0.5, dtype=np.float32))
    inner = file.node("Add", [file.node("Erf", [file.node("Div", [x, root])]), one])
    file.node("Mul", [file.node("Mul", [x, inner]), half], "y")
    file.output("y", "float32")


@onnx("HardSwish_nodes")
def hard_swish_nodes(draw: Draw, types: str, file: OnnxFile) -> None:
    """x * clip(x + 3, 0, 6) / 6, as exporters before opset 14 write it."""
    x = _input(file, draw)
    three = file.constant("three", np.array(3, dtype=np.float32))
    six = file.constant("six", np.array(6, dtype=np.float32))
    shifted = file.node("Add", [x, three])
    if file.opset < 11:
        clipped = file.node("Clip", [shifted], "", min=0.0, max=6.0)
    else:
        zero = file.constant("zero", np.array(0, dtype=np.float32))
        clipped = file.node("Clip", [shifted, zero, six])
    file.node("Div", [file.node("Mul", [x, clipped]), six], "y")
    file.output("y", "float32")


def _softmax(name: str, draw: Draw, file: OnnxFile) -> None:
    """Before opset 13 over all axes from the given one on, since then over one axis."""
    shape = draw.shape((2, 4), (1, 8))
    x = file.input("x", draw.floats(shape, 10 ** draw.real(-0.3, 0.9)))
    attributes = {}
    if draw.chance(0.7):
        axis = draw.integer(1, len(shape) - 1)
        if file.opset >= 11 and draw.chance(0.5):
            axis -= len(shape)
        attributes["axis"] = axis
    file.node(name, [x], "y", **attributes)
    file.output("y", "float32")


@onnx("Softmax", weight=2)
def softmax(draw: Draw, types: str, file: OnnxFile) -> None:
    _softmax("Softmax", draw, file)


@onnx("LogSoftmax")
def log_softmax(draw: Draw, types: str, file: OnnxFile) -> None:
    _softmax("LogSoftmax", draw, file)
