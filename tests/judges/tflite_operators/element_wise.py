"""Element-wise operators of two inputs, and functions that are not activations."""

import numpy as np

from draw import Draw
from tflite_file import TfliteFile, any_quantization, covering, real_range
from tflite_operators.registry import any_activation, tflite


def _operands(
    file: TfliteFile, draw: Draw, types: str, same_quantization: bool = False
) -> tuple[list[int], list[tuple[float, float]]]:
    """Two tensors that broadcast to each other, the second perhaps a constant; their ranges."""
    shape = draw.shape((1, 4)) if draw.chance(0.5) else draw.image(sides=(1, 8))
    other = draw.broadcast_from(shape) if draw.chance(0.6) else shape
    first_quantization = any_quantization(draw, types)
    second_quantization = any_quantization(draw, types)
    if same_quantization:
        second_quantization = first_quantization
    first = file.input("input", draw.stored(shape, types), first_quantization)
    second_values = draw.stored(other, types)
    if draw.chance(0.4):
        second = file.constant("constant", second_values, second_quantization)
    else:
        second = file.input("input_1", second_values, second_quantization)
    tensors = [first, second]
    ranges = [real_range(first_quantization, types), real_range(second_quantization, types)]
    if draw.chance(0.25):
        tensors.reverse()
        ranges.reverse()
    return tensors, ranges


def _products(ranges: list[tuple[float, float]]) -> tuple[float, float]:
    (a, b), (c, d) = ranges
    corners = [a * c, a * d, b * c, b * d]
    return min(corners), max(corners)


@tflite("ADD", "float32", "int8", "uint8", "int16", weight=3)
def add(draw: Draw, types: str) -> TfliteFile:
    file = TfliteFile()
    tensors, ((a, b), (c, d)) = _operands(file, draw, types)
    output = file.output("output", types, covering(draw, types, a + c, b + d))
    file.operator(
        "ADD",
        tensors,
        [output],
        "AddOptions",
        version=2,
        fused_activation_function=any_activation(draw),
        pot_scale_int16=False,
    )
    return file


@tflite("SUB", "float32", "int8", "uint8", "int16", weight=2)
def sub(draw: Draw, types: str) -> TfliteFile:
    file = TfliteFile()
    tensors, ((a, b), (c, d)) = _operands(file, draw, types)
    output = file.output("output", types, covering(draw, types, a - d, b - c))
    file.operator(
        "SUB",
        tensors,
        [output],
        "SubOptions",
        version=2,
        fused_activation_function=any_activation(draw),
        pot_scale_int16=False,
    )
    return file


@tflite("MUL", "float32", "int8", "uint8", "int16", weight=2)
def mul(draw: Draw, types: str) -> TfliteFile:
    file = TfliteFile()
    tensors, ranges = _operands(file, draw, types)
    output = file.output("output", types, covering(draw, types, *_products(ranges)))
    file.operator(
        "MUL",
        tensors,
        [output],
        "MulOptions",
        version=2,
        fused_activation_function=any_activation(draw),
    )
    return file


@tflite("DIV", "float32", "uint8")
def div(draw: Draw, types: str) -> TfliteFile:
    file = TfliteFile()
    shape = draw.shape((2, 4))
    divisor_shape = draw.broadcast_from(shape)
    quantizations = [any_quantization(draw, types) for _ in range(2)]
    first = file.input("input", draw.stored(shape, types), quantizations[0])
    if types == "float32":
        divisor_values = draw.positive_floats(divisor_shape, 0.3, 3)
        divisor_values *= draw.random.choice([-1, 1], divisor_values.shape).astype(np.float32)
        output_quantization = None
    else:
        # The kernel requires that no divisor is 0.
        zero_point = quantizations[1].zero_points[0]
        divisor_values = draw.stored(divisor_shape, types)
        divisor_values[divisor_values == zero_point] = 255 if zero_point < 255 else 0
        # Where the output's quantum is larger, the kernel shifts some sums by more bits than they have.
        low, high = real_range(quantizations[0], types)
        divisor = 200 * quantizations[1].scales[0]
        output_quantization = covering(draw, types, low / divisor, high / divisor)
    if draw.chance(0.4):
        second = file.constant("constant", divisor_values, quantizations[1])
    else:
        second = file.input("input_1", divisor_values, quantizations[1])
    output = file.output("output", types, output_quantization)
    file.operator(
        "DIV",
        [first, second],
        [output],
        "DivOptions",
        version=2,
        fused_activation_function=any_activation(draw),
    )
    return file


def _extreme(name: str, draw: Draw, types: str) -> TfliteFile:
    file = TfliteFile()
    tensors, _ = _operands(file, draw, types, same_quantization=True)
    first = file.graph.tensors[tensors[0]]
    output = file.output("output", types)
    file.graph.tensors[output].quantization = first.quantization
    file.operator(name, tensors, [output], "MaximumMinimumOptions", version=2)
    return file


@tflite("MAXIMUM", "float32", "int8", "uint8", "int16")
def maximum(draw: Draw, types: str) -> TfliteFile:
    return _extreme("MAXIMUM", draw, types)


@tflite("MINIMUM", "float32", "int8", "uint8", "int16")
def minimum(draw: Draw, types: str) -> TfliteFile:
    return _extreme("MINIMUM", draw, types)


@tflite("SQUARED_DIFFERENCE", "float32", "int8")
def squared_difference(draw: Draw, types: str) -> TfliteFile:
    file = TfliteFile()
    tensors, ((a, b), (c, d)) = _operands(file, draw, types)
    largest = max(b - c, d - a) ** 2
    output = file.output("output", types, covering(draw, types, 0, largest))
    file.operator("SQUARED_DIFFERENCE", tensors, [output], "SquaredDifferenceOptions")
    return file


@tflite("POW", "float32")
def power(draw: Draw, types: str) -> TfliteFile:
    file = TfliteFile()
    shape = draw.shape()
    base = file.input("input", draw.positive_floats(shape, 0.1, 3))
    exponent = file.constant("exponent", np.float32(draw.choice([0.5, 1, 1.5, 2, 3, -1])))
    file.operator("POW", [base, exponent], [file.output("output", types)], "PowOptions")
    return file


def _function(name: str, options: str, draw: Draw, low: float, high: float) -> TfliteFile:
    file = TfliteFile()
    values = file.input("input", draw.positive_floats(draw.shape(), low, high))
    file.operator(name, [values], [file.output("output", "float32")], options)
    return file


def _table(name: str, draw: Draw, low: float, high: float, results: tuple[float, float]) -> TfliteFile:
    """A function of int8 whose input has the range low to high; many results are outside of theirs."""
    file = TfliteFile()
    quantization = covering(draw, "int8", low, high, slack=(1.0, 1.0))
    values = draw.stored(draw.shape((2, 4), (2, 9)), "int8")
    if name == "RSQRT":  # the runtime takes no negative numbers
        values = np.maximum(values, quantization.zero_points[0]).astype(np.int8)
    source = file.input("input", values, quantization)
    output = file.output("output", "int8", covering(draw, "int8", *results))
    options = "ExpOptions" if name == "EXP" else ""
    file.operator(name, [source], [output], options, version=2)
    return file


@tflite("EXP", "float32", "int8")
def exponential(draw: Draw, types: str) -> TfliteFile:
    if types == "float32":
        return _function("EXP", "ExpOptions", draw, -5, 3)
    high = draw.real(0.1, 5)
    return _table("EXP", draw, draw.real(-5, 0), high, (0, np.exp(high)))


@tflite("LOG", "float32", "int8")
def logarithm(draw: Draw, types: str) -> TfliteFile:
    if types == "float32":
        return _function("LOG", "", draw, 0.01, 20)
    high = draw.real(0.1, 20)
    return _table("LOG", draw, draw.choice([0, draw.real(-3, 0)]), high, (draw.real(-5, 0), np.log(high)))


@tflite("SQRT", "float32")
def square_root(draw: Draw, types: str) -> TfliteFile:
    return _function("SQRT", "", draw, 0, 20)


@tflite("RSQRT", "float32", "int8")
def reciprocal_square_root(draw: Draw, types: str) -> TfliteFile:
    if types == "float32":
        return _function("RSQRT", "", draw, 0.01, 20)
    return _table("RSQRT", draw, draw.choice([0, draw.real(-3, 0)]), draw.real(0.1, 20), (0, draw.real(1, 9)))


@tflite("SQUARE", "float32")
def square(draw: Draw, types: str) -> TfliteFile:
    return _function("SQUARE", "SquareOptions", draw, -3, 3)


@tflite("NEG", "float32")
def negative(draw: Draw, types: str) -> TfliteFile:
    return _function("NEG", "NegOptions", draw, -3, 3)


@tflite("FLOOR", "float32")
def floor(draw: Draw, types: str) -> TfliteFile:
    return _function("FLOOR", "", draw, -9, 9)


@tflite("CEIL", "float32")
def ceil(draw: Draw, types: str) -> TfliteFile:
    return _function("CEIL", "", draw, -9, 9)


@tflite("ROUND", "float32")
def round_(draw: Draw, types: str) -> TfliteFile:
    """Many are halves."""
    file = TfliteFile()
    values = draw.integers(draw.shape(), -9, 9, "int8").astype(np.float32) / np.float32(2)
    file.operator("ROUND", [file.input("input", values)], [file.output("output", types)])
    return file


@tflite("SIGN", "float32")
def sign(draw: Draw, types: str) -> TfliteFile:
    """Many are 0."""
    file = TfliteFile()
    values = draw.integers(draw.shape(), -2, 2, "int8").astype(np.float32) * np.float32(0.7)
    file.operator("SIGN", [file.input("input", values)], [file.output("output", types)], "SignOptions")
    return file


@tflite("SIN", "float32")
def sine(draw: Draw, types: str) -> TfliteFile:
    return _function("SIN", "", draw, -9, 9)


@tflite("COS", "float32")
def cosine(draw: Draw, types: str) -> TfliteFile:
    return _function("COS", "CosOptions", draw, -9, 9)


def _floor_of_quotient(name: str, options: str, draw: Draw, types: str) -> TfliteFile:
    """A quotient that is rounded down, or its remainder: with all four pairs of signs."""
    file = TfliteFile()
    shape = draw.shape((2, 4))
    other = draw.broadcast_from(shape) if draw.chance(0.5) else shape
    divisors = draw.integers(other, 1, 9, "int32") * draw.random.choice([-1, 1], tuple(other))
    if types == "float32":
        first = file.input("input", draw.floats(shape, 20))
        divisors = divisors * draw.real(0.3, 1.2)
    else:
        first = file.input("input", draw.integers(shape, -99, 99, types))
    add = file.constant if draw.chance(0.5) else file.input
    second = add("divisor", np.asarray(divisors).astype(types))
    file.operator(name, [first, second], [file.output("output", types)], options)
    return file


@tflite("FLOOR_DIV", "float32", "int32")
def floor_divide(draw: Draw, types: str) -> TfliteFile:
    return _floor_of_quotient("FLOOR_DIV", "FloorDivOptions", draw, types)


@tflite("FLOOR_MOD", "float32", "int32")
def floor_modulo(draw: Draw, types: str) -> TfliteFile:
    return _floor_of_quotient("FLOOR_MOD", "FloorModOptions", draw, types)


@tflite("ABS", "float32", "int8")
def absolute(draw: Draw, types: str) -> TfliteFile:
    file = TfliteFile()
    quantization = any_quantization(draw, types)
    values = file.input("input", draw.stored(draw.shape(), types), quantization)
    low, high = real_range(quantization, types)
    output = file.output("output", types, covering(draw, types, 0, max(-low, high)))
    file.operator("ABS", [values], [output], "AbsOptions")
    return file
