"""Activation functions, softmax and its logarithm."""

import numpy as np

from draw import Draw
from tflite_file import Quantization, TfliteFile, any_quantization, covering, real_range
from tflite_operators.registry import tflite

# Quantizations that TFLite fixes for the results of some functions.
LOGISTIC_RESULT = {
    "int8": Quantization([1 / 256], [-128]),
    "uint8": Quantization([1 / 256], [0]),
    "int16": Quantization([1 / 32768], [0]),
}
TANH_RESULT = {
    "int8": Quantization([1 / 128], [0]),
    "uint8": Quantization([1 / 128], [128]),
    "int16": Quantization([1 / 32768], [0]),
}
LOG_SOFTMAX_RESULT = {
    "int8": Quantization([16 / 256], [127]),
    "uint8": Quantization([16 / 256], [255]),
}


def _input(
    file: TfliteFile, draw: Draw, types: str, largest: tuple[float, float] = (-0.3, 1)
) -> int:
    """An input of any shape whose largest value is 10 to a power of the given range."""
    shape = draw.shape((2, 4), (1, 9)) if draw.chance(0.5) else draw.image(sides=(1, 8))
    if types == "float32":
        return file.input("input", draw.floats(shape, 10 ** draw.real(*largest)))
    quantization = any_quantization(draw, types, 10 ** draw.real(*largest))
    return file.input("input", draw.stored(shape, types), quantization)


def _quantization(file: TfliteFile, tensor: int) -> Quantization | None:
    stored = file.graph.tensors[tensor].quantization
    return Quantization(stored.scale, stored.zeroPoint) if stored is not None else None


def _rectifier(name: str, draw: Draw, types: str, low: float, high: float) -> TfliteFile:
    """A clamp; integer results often have the quantization of the input."""
    file = TfliteFile()
    values = _input(file, draw, types)
    quantization = _quantization(file, values)
    if types != "float32" and draw.chance(0.6):
        least, greatest = real_range(quantization, types)
        quantization = covering(draw, types, max(low, least), min(high, greatest))
    file.operator(name, [values], [file.output("output", types, quantization)])
    return file


@tflite("RELU", "float32", "int8", "uint8", "int16")
def relu(draw: Draw, types: str) -> TfliteFile:
    return _rectifier("RELU", draw, types, 0, np.inf)


@tflite("RELU6", "float32", "int8", "uint8", "int16")
def relu6(draw: Draw, types: str) -> TfliteFile:
    return _rectifier("RELU6", draw, types, 0, 6)


@tflite("RELU_N1_TO_1", "float32", "int8", "uint8")
def relu_n1_to_1(draw: Draw, types: str) -> TfliteFile:
    return _rectifier("RELU_N1_TO_1", draw, types, -1, 1)


@tflite("RELU_0_TO_1", "float32", "int8", "uint8")
def relu_0_to_1(draw: Draw, types: str) -> TfliteFile:
    return _rectifier("RELU_0_TO_1", draw, types, 0, 1)


@tflite("LEAKY_RELU", "float32", "int8", "uint8", "int16", weight=2)
def leaky_relu(draw: Draw, types: str) -> TfliteFile:
    file = TfliteFile()
    values = _input(file, draw, types)
    alpha = draw.choice([0.01, 0.1, 0.2, 0.3, draw.real(0, 1), draw.real(-1, 1.5)])
    low, high = real_range(_quantization(file, values), types)
    corners = [0, high, alpha * low]
    output = file.output("output", types, covering(draw, types, min(corners), max(corners)))
    file.operator("LEAKY_RELU", [values], [output], "LeakyReluOptions", alpha=alpha)
    return file


@tflite("PRELU", "float32", "int8", "uint8")
def prelu(draw: Draw, types: str) -> TfliteFile:
    file = TfliteFile()
    shape = draw.image(sides=(1, 8))
    alpha_shape = draw.choice([[1, 1, shape[3]], [1, 1, shape[3]], [1, 1, 1], shape[1:]])
    quantization = any_quantization(draw, types)
    values = file.input("input", draw.stored(shape, types), quantization)
    alpha_quantization = any_quantization(draw, types, 10 ** draw.real(-1, 0))
    alpha_values = draw.stored(alpha_shape, types) * (0.3 if types == "float32" else 1)
    alpha = file.constant("alpha", alpha_values.astype(types), alpha_quantization)
    low, high = real_range(quantization, types)
    steepest = max(abs(bound) for bound in real_range(alpha_quantization, types))
    largest = max(high, -low * steepest)
    output = file.output("output", types, covering(draw, types, low * steepest, largest))
    file.operator("PRELU", [values, alpha], [output])
    return file


@tflite("ELU", "float32", "int8")
def elu(draw: Draw, types: str) -> TfliteFile:
    file = TfliteFile()
    values = _input(file, draw, types)
    _, high = real_range(_quantization(file, values), types)
    output = file.output("output", types, covering(draw, types, -1, high))
    file.operator("ELU", [values], [output])
    return file


@tflite("HARD_SWISH", "float32", "int8", "uint8", weight=2)
def hard_swish(draw: Draw, types: str) -> TfliteFile:
    file = TfliteFile()
    values = _input(file, draw, types)
    _, high = real_range(_quantization(file, values), types)
    output = file.output("output", types, covering(draw, types, -0.375, max(high, 0.5)))
    file.operator("HARD_SWISH", [values], [output], "HardSwishOptions")
    return file


@tflite("GELU", "float32", "int8", "uint8")
def gelu(draw: Draw, types: str) -> TfliteFile:
    file = TfliteFile()
    values = _input(file, draw, types)
    _, high = real_range(_quantization(file, values), types)
    output = file.output("output", types, covering(draw, types, -0.2, max(high, 0.5)))
    file.operator("GELU", [values], [output], "GeluOptions", approximate=draw.chance(0.5))
    return file


@tflite("LOGISTIC", "float32", "int8", "uint8", "int16", weight=2)
def logistic(draw: Draw, types: str) -> TfliteFile:
    file = TfliteFile()
    values = _input(file, draw, types)
    output = file.output("output", types, LOGISTIC_RESULT.get(types))
    file.operator("LOGISTIC", [values], [output])
    return file


@tflite("TANH", "float32", "int8", "uint8", "int16", weight=2)
def tanh(draw: Draw, types: str) -> TfliteFile:
    file = TfliteFile()
    values = _input(file, draw, types)
    file.operator("TANH", [values], [file.output("output", types, TANH_RESULT.get(types))])
    return file


@tflite("SOFTMAX", "float32", "int8", "uint8", "int16", weight=2)
def softmax(draw: Draw, types: str) -> TfliteFile:
    file = TfliteFile()
    values = _input(file, draw, types)
    output = file.output("output", types, LOGISTIC_RESULT.get(types))
    beta = 1.0 if draw.chance(0.7) else draw.real(0.3, 2)
    file.operator("SOFTMAX", [values], [output], "SoftmaxOptions", beta=beta)
    return file


@tflite("LOG_SOFTMAX", "float32", "int8", "uint8")
def log_softmax(draw: Draw, types: str) -> TfliteFile:
    file = TfliteFile()
    values = _input(file, draw, types)
    output = file.output("output", types, LOG_SOFTMAX_RESULT.get(types))
    file.operator("LOG_SOFTMAX", [values], [output], "LogSoftmaxOptions")
    return file
