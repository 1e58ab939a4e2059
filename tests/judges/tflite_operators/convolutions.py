"""Convolutions and the fully connected layer."""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from tensorflow.lite.python import schema_py_generated as schema

from draw import INTEGER_RANGES, Draw
from tflite_file import ABSENT, Quantization, TfliteFile, any_quantization, covering
from tflite_operators.registry import RELU, SAME, VALID, any_activation, tflite

WEIGHTED = ("float32", "float16", "hybrid", "int8", "uint8", "int16")


@dataclass
class Layer:
    """The tensors that all layers with weights have."""

    input: int
    weights: int
    bias: list[int]  # empty if there is none
    output: int
    # Said by files with 16-bit activations and a bias of 32 bits, otherwise the runtime reads 64; without a
    # bias, it is the width in which the runtime adds.
    quantized_bias_type: int = 0


def make_layer(
    file: TfliteFile,
    draw: Draw,
    types: str,
    input_shape: Sequence[int],
    weights_shape: Sequence[int],
    channel_axis: int,
    products: int,
    per_channel: bool = True,
) -> Layer:
    """Draws input, weights, bias and output of a layer that adds so many products an element."""
    channels = weights_shape[channel_axis]
    # TFLite's optimized kernels for depthwise layers read the bias even if there is none.
    is_depthwise = channel_axis == 3
    with_bias = is_depthwise or draw.chance(0.8)
    if types in ("float32", "float16", "hybrid"):
        return _float_layer(
            file, draw, types, input_shape, weights_shape, channel_axis, with_bias, per_channel
        )
    input_type = types
    weights_type = "uint8" if types == "uint8" else "int8"
    input_quantization = any_quantization(draw, input_type)
    values = file.input("input", draw.stored(input_shape, input_type), input_quantization)
    weights, scales = _weights(file, draw, weights_type, weights_shape, channel_axis, per_channel)

    input_scale = input_quantization.scales[0]
    bias_scales = [float(np.float32(input_scale) * np.float32(scale)) for scale in scales]
    # Standard deviation of a sum of products of uniform numbers.
    least, greatest = INTEGER_RANGES[input_type]
    spread = np.sqrt(products) * (greatest - least) * 255 / 12 * max(bias_scales)
    bias, declared_type = [], 0
    if with_bias:
        bias_type = "int32"
        if types == "int16":
            bias_type = draw.choice(["int64", "int64", "int32"])
            if bias_type == "int32":
                declared_type = schema.TensorType.INT32
        largest = min(spread / max(bias_scales), 2.0**30)
        numbers = draw.random.uniform(-largest, largest, channels).astype(bias_type)
        axis_scales = bias_scales if len(bias_scales) == channels else bias_scales[:1]
        zeros = [0] * len(axis_scales)
        bias = [file.constant("bias", numbers, Quantization(axis_scales, zeros))]
    elif types == "int16":
        declared_type = draw.choice([0, schema.TensorType.INT32, schema.TensorType.INT64])
    output_quantization = covering(draw, input_type, -2 * spread, 2 * spread)
    output = file.output("output", input_type, output_quantization)
    return Layer(values, weights, bias, output, declared_type)


def _weights(
    file: TfliteFile,
    draw: Draw,
    type_name: str,
    shape: Sequence[int],
    channel_axis: int,
    per_channel: bool,
) -> tuple[int, list[float]]:
    """Integer weights; their scales, one a channel or only one."""
    if type_name == "uint8":
        quantization = any_quantization(draw, "uint8", 10 ** draw.real(-2, 0))
        return (
            file.constant("weights", draw.stored(shape, "uint8"), quantization),
            quantization.scales,
        )
    count = shape[channel_axis] if per_channel else 1
    scales = [float(np.float32(10 ** draw.real(-3, -1.5))) for _ in range(count)]
    quantization = Quantization(scales, [0] * count, channel_axis)
    # Symmetric weights never hold -128.
    values = draw.integers(shape, -127, 127, "int8")
    return file.constant("weights", values, quantization), scales


def _float_layer(
    file: TfliteFile,
    draw: Draw,
    types: str,
    input_shape: Sequence[int],
    weights_shape: Sequence[int],
    channel_axis: int,
    with_bias: bool,
    per_channel: bool,
) -> Layer:
    values = file.input("input", draw.floats(input_shape))
    channels = weights_shape[channel_axis]
    bias_values = draw.floats([channels])
    if types == "hybrid":
        weights, _ = _weights(file, draw, "int8", weights_shape, channel_axis, per_channel)
    elif types == "float16":
        weights = halved(file, "weights", draw.floats(weights_shape, 0.3))
    else:
        weights = file.constant("weights", draw.floats(weights_shape, 0.3))
    bias = []
    if with_bias and types == "float16":
        bias = [halved(file, "bias", bias_values)]
    elif with_bias:
        bias = [file.constant("bias", bias_values)]
    return Layer(values, weights, bias, file.output("output", "float32"))


def halved(file: TfliteFile, name: str, values: np.ndarray) -> int:
    """A constant of float16, and the operator that makes float32 of it."""
    stored = file.constant(f"{name}_float16", values.astype(np.float16))
    result = file.value(name, "float32")
    file.set_shape(result, values.shape)
    file.operator("DEQUANTIZE", [stored], [result], "DequantizeOptions")
    return result


@tflite("CONV_2D", *WEIGHTED, weight=5)
def conv_2d(draw: Draw, types: str) -> TfliteFile:
    file = TfliteFile()
    kernel = [draw.integer(1, 5), draw.integer(1, 5)]
    dilation = [draw.integer(1, 3), draw.integer(1, 3)] if draw.chance(0.2) else [1, 1]
    covered = [(k - 1) * d + 1 for k, d in zip(kernel, dilation)]
    height, width = (draw.integer(covered[i], covered[i] + 9) for i in range(2))
    groups = draw.integer(2, 3) if types in ("float32", "int8") and draw.chance(0.15) else 1
    group_inputs, filters = draw.integer(1, 9), groups * draw.integer(1, 9)
    layer = make_layer(
        file,
        draw,
        types,
        [draw.batch(), height, width, groups * group_inputs],
        [filters, *kernel, group_inputs],
        channel_axis=0,
        products=kernel[0] * kernel[1] * group_inputs,
        per_channel=draw.chance(0.9),
    )
    file.operator(
        "CONV_2D",
        [layer.input, layer.weights, *layer.bias],
        [layer.output],
        "Conv2DOptions",
        version=2,
        quantized_bias_type=layer.quantized_bias_type,
        padding=draw.choice([SAME, VALID]),
        stride_h=draw.integer(1, 3),
        stride_w=draw.integer(1, 3),
        dilation_h_factor=dilation[0],
        dilation_w_factor=dilation[1],
        fused_activation_function=any_activation(draw),
    )
    return file


@tflite("DEPTHWISE_CONV_2D", *WEIGHTED, weight=3)
def depthwise_conv_2d(draw: Draw, types: str) -> TfliteFile:
    file = TfliteFile()
    kernel = [draw.integer(1, 5), draw.integer(1, 5)]
    dilation = [draw.integer(1, 3), draw.integer(1, 3)] if draw.chance(0.2) else [1, 1]
    covered = [(k - 1) * d + 1 for k, d in zip(kernel, dilation)]
    height, width = (draw.integer(covered[i], covered[i] + 9) for i in range(2))
    channels, multiplier = draw.integer(1, 9), draw.choice([1, 1, 1, 2, 3])
    layer = make_layer(
        file,
        draw,
        types,
        [draw.batch(), height, width, channels],
        [1, *kernel, channels * multiplier],
        channel_axis=3,
        products=kernel[0] * kernel[1],
    )
    stride = draw.integer(1, 3)
    file.operator(
        "DEPTHWISE_CONV_2D",
        [layer.input, layer.weights, *layer.bias],
        [layer.output],
        "DepthwiseConv2DOptions",
        version=2,
        padding=draw.choice([SAME, VALID]),
        stride_h=stride,
        stride_w=stride if draw.chance(0.8) else draw.integer(1, 3),
        depth_multiplier=multiplier,
        dilation_h_factor=dilation[0],
        dilation_w_factor=dilation[1],
        fused_activation_function=any_activation(draw),
    )
    return file


@tflite("TRANSPOSE_CONV", "float32", "float16", "int8", "uint8", "int16", weight=2)
def transpose_conv(draw: Draw, types: str) -> TfliteFile:
    file = TfliteFile()
    kernel = [draw.integer(1, 5), draw.integer(1, 5)]
    stride = [draw.integer(1, 3), draw.integer(1, 3)]
    batch, height, width, channels = draw.image(sides=(2, 7))
    filters = draw.integer(1, 9)
    padding = draw.choice([SAME, VALID])
    layer = make_layer(
        file,
        draw,
        types,
        [batch, height, width, channels],
        [filters, *kernel, channels],
        channel_axis=0,
        products=kernel[0] * kernel[1] * channels // (stride[0] * stride[1]) + 1,
    )
    outside = [max(k - s, 0) if padding == VALID else 0 for k, s in zip(kernel, stride)]
    output_shape = [batch, height * stride[0] + outside[0], width * stride[1] + outside[1], filters]
    file.operator(
        "TRANSPOSE_CONV",
        [file.integers("output_shape", output_shape), layer.weights, layer.input, *layer.bias],
        [layer.output],
        "TransposeConvOptions",
        version=3,
        quantized_bias_type=layer.quantized_bias_type,
        padding=padding,
        stride_h=stride[0],
        stride_w=stride[1],
    )
    return file


@tflite("BATCH_MATMUL", "float32", "hybrid", "int8", weight=2)
def batch_matmul(draw: Draw, types: str) -> TfliteFile:
    """A product of two matrices of which one, on either side, is a constant."""
    file = TfliteFile()
    rows, depth, columns = draw.integer(1, 9), draw.integer(1, 30), draw.integer(1, 17)
    is_left = draw.chance(0.3) and types != "hybrid"  # which the runtime quantizes by rows of the left one
    swaps = [draw.chance(0.3), draw.chance(0.3)]
    shapes = [[rows, depth], [depth, columns]]
    shapes = [shape[::-1] if swap else shape for shape, swap in zip(shapes, swaps, strict=True)]
    images = [1] * draw.integer(0, 1) if is_left else [1] + [draw.integer(1, 3)] * draw.integer(0, 1)
    shapes[1 if is_left else 0] = [*images, *shapes[1 if is_left else 0]]
    # The runtime mistakes the axes of matrices of other ranks if there are several.
    if draw.chance(0.3) and len(images) < 2:
        shapes[0 if is_left else 1] = [1, *shapes[0 if is_left else 1]]
    elif draw.chance(0.3) and images:
        shapes[0 if is_left else 1] = [*images, *shapes[0 if is_left else 1]]
    constant, source = (shapes[0], shapes[1]) if is_left else (shapes[1], shapes[0])
    layer = make_layer(
        file, draw, types, source, constant, channel_axis=0, products=depth, per_channel=False
    )
    tensors = [layer.weights, layer.input] if is_left else [layer.input, layer.weights]
    file.operator(
        "BATCH_MATMUL",
        tensors,
        [layer.output],
        "BatchMatMulOptions",
        version=4,
        adj_x=swaps[0],
        adj_y=swaps[1],
    )
    return file


@tflite("BATCH_MATMUL_computed", "float32", "int8", weight=2)
def batch_matmul_computed(draw: Draw, types: str) -> TfliteFile:
    """A product of two inputs; the leading axes are broadcast."""
    file = TfliteFile()
    rows, depth, columns = draw.integer(1, 9), draw.integer(1, 30), draw.integer(1, 17)
    leading = [draw.integer(1, 3) for _ in range(draw.integer(0, 2))]
    swaps = [draw.chance(0.3), draw.chance(0.3)]
    inputs, scales = [], []
    for name, swap, shape in zip("ab", swaps, ([rows, depth], [depth, columns]), strict=True):
        # Of int8, the runtime takes wrong matrices where axes are broadcast and sides are exchanged.
        own = [extent if types == "int8" or draw.chance(0.8) else 1 for extent in leading]
        whole = [*own, *(shape[::-1] if swap else shape)]
        if types == "float32":
            inputs.append(file.input(name, draw.floats(whole)))
            continue
        quantization = any_quantization(draw, "int8")
        scales.append(quantization.scales[0])
        inputs.append(file.input(name, draw.stored(whole, "int8"), quantization))
    result = None
    if scales:
        spread = np.sqrt(depth) * 74 * 74 * scales[0] * scales[1]
        scale = float(np.float32(spread * draw.real(0.5, 4) / 127))
        result = Quantization([scale], [draw.integer(-128, 127)])
    output = file.output("output", types, result)
    file.operator(
        "BATCH_MATMUL", inputs, [output], "BatchMatMulOptions", version=4, adj_x=swaps[0], adj_y=swaps[1]
    )
    return file


@tflite("SVDF", "float32", "hybrid", "int8", weight=2)
def svdf(draw: Draw, types: str) -> TfliteFile:
    """One call, with a state of 0 before it."""
    file = TfliteFile()
    rank, units, calls = draw.integer(1, 3), draw.integer(1, 9), draw.integer(1, 5)
    depth, batch = draw.integer(1, 30), draw.batch()
    filters = rank * units
    state_shape = [batch, calls * filters]
    features = draw.floats([filters, depth], 0.3)
    times = draw.floats([filters, calls])
    bias = [] if draw.chance(0.3) else [draw.floats([units])]
    if types == "float32":
        source = file.input("input", draw.floats([batch, depth]))
        weights = [file.constant("features", features), file.constant("times", times)]
        biases = [file.constant("bias", numbers) for numbers in bias]
        state, output = file.variable("state", "float32", state_shape), file.output("output", types)
    elif types == "hybrid":
        source = file.input("input", draw.floats([batch, depth]))
        weights = []
        for name, numbers in (("features", features), ("times", times)):
            scale = float(np.float32(np.abs(numbers).max() / 127 + 1e-6))
            stored = np.rint(numbers / scale).astype(np.int8)
            weights.append(file.constant(name, stored, Quantization([scale], [0])))
        biases = [file.constant("bias", numbers) for numbers in bias]
        state, output = file.variable("state", "float32", state_shape), file.output("output", "float32")
    else:
        quantization = any_quantization(draw, "int8")
        source = file.input("input", draw.stored([batch, depth], "int8"), quantization)
        scales = [float(np.float32(10 ** draw.real(-3, -1))), float(np.float32(10 ** draw.real(-5, -3)))]
        spread = np.sqrt(depth) * 74 * 74 * quantization.scales[0] * scales[0]
        state_scale = float(np.float32(spread * draw.real(1, 4) / 32767))
        spread *= np.sqrt(rank) * 19000 * scales[1]
        weights = [
            file.constant(
                "features", draw.integers([filters, depth], -127, 127, "int8"), Quantization([scales[0]], [0])
            ),
            file.constant("times", draw.stored([filters, calls], "int16"), Quantization([scales[1]], [0])),
        ]
        bias_scale = float(np.float32(state_scale) * np.float32(scales[1]))
        largest = min(spread / bias_scale, 2.0**28)
        numbers = draw.random.uniform(-largest, largest, units).astype(np.int32)
        biases = [file.constant("bias", numbers, Quantization([bias_scale], [0])) for _ in bias]
        state = file.variable("state", "int16", state_shape, Quantization([state_scale], [0]))
        output = file.output("output", "int8", covering(draw, "int8", -2 * spread, 2 * spread))
    # Of integers, the runtime wants a RELU in the file, and computes none.
    function = any_activation(draw) if types == "float32" else RELU if types == "int8" else 0
    file.operator(
        "SVDF",
        [source, *weights, *(biases or [ABSENT]), state],
        [output],
        "SVDFOptions",
        version=3,
        rank=rank,
        fused_activation_function=function,
    )
    return file


@tflite("FULLY_CONNECTED_OF_CONSTANT", "float32", "hybrid", "int8")
def fully_connected_of_constant(draw: Draw, types: str) -> TfliteFile:
    """The product of a constant, which is known before the network runs, added to an input."""
    file = TfliteFile()
    units, size = draw.integer(1, 9), draw.integer(1, 30)
    layer = make_layer(
        file, draw, types, [1, size], [units, size], channel_axis=0, products=size, per_channel=False
    )
    file.make_constant(layer.input)
    number_type = "int8" if types == "int8" else "float32"
    quantization = any_quantization(draw, number_type)
    source = file.input("other", draw.stored([1, units], number_type), quantization)
    product = file.make_inner(layer.output)
    file.operator(
        "FULLY_CONNECTED",
        [layer.input, layer.weights, *layer.bias],
        [product],
        "FullyConnectedOptions",
        version=5,
        fused_activation_function=any_activation(draw),
    )
    output = file.output("sum", number_type, any_quantization(draw, number_type))
    file.operator(
        "ADD", [source, product], [output], "AddOptions", version=2, pot_scale_int16=False
    )
    return file


@tflite("FULLY_CONNECTED", *WEIGHTED, weight=3)
def fully_connected(draw: Draw, types: str) -> TfliteFile:
    file = TfliteFile()
    units, size = draw.integer(1, 33), draw.integer(1, 60)
    keep = draw.chance(0.3)
    batch = draw.integer(2, 4) if draw.chance(0.15) else 1
    input_shape = [batch, draw.integer(1, 4), size] if keep else [batch, size]
    layer = make_layer(
        file,
        draw,
        types,
        input_shape,
        [units, size],
        channel_axis=0,
        products=size,
        per_channel=types in ("int8", "int16") and draw.chance(0.5),
    )
    file.operator(
        "FULLY_CONNECTED",
        [layer.input, layer.weights, *layer.bias],
        [layer.output],
        "FullyConnectedOptions",
        version=5,
        quantized_bias_type=layer.quantized_bias_type,
        keep_num_dims=keep,
        fused_activation_function=any_activation(draw),
    )
    return file
