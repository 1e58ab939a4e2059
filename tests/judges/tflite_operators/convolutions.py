"""Convolutions and the fully connected layer."""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from tensorflow.lite.python import schema_py_generated as schema

from draw import INTEGER_RANGES, Draw
from tflite_file import Quantization, TfliteFile, any_quantization, covering
from tflite_operators.registry import SAME, VALID, any_activation, tflite

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
