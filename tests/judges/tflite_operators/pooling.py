"""Pooling."""

from draw import Draw
from tflite_file import TfliteFile, any_quantization
from tflite_operators.registry import SAME, VALID, any_activation, tflite


def _pool(name: str, draw: Draw, types: str) -> TfliteFile:
    file = TfliteFile()
    shape = draw.image(sides=(4, 12))
    quantization = any_quantization(draw, types)
    values = file.input("input", draw.stored(shape, types), quantization)
    output = file.output("output", types, quantization)
    whole_image = draw.chance(0.15)
    file.operator(
        name,
        [values],
        [output],
        "Pool2DOptions",
        padding=VALID if whole_image else draw.choice([SAME, VALID]),
        filter_height=shape[1] if whole_image else draw.integer(1, 4),
        filter_width=shape[2] if whole_image else draw.integer(1, 4),
        stride_h=draw.integer(1, 3),
        stride_w=draw.integer(1, 3),
        fused_activation_function=any_activation(draw),
    )
    return file


@tflite("AVERAGE_POOL_2D", "float32", "int8", "uint8", "int16", weight=2)
def average_pool(draw: Draw, types: str) -> TfliteFile:
    return _pool("AVERAGE_POOL_2D", draw, types)


@tflite("MAX_POOL_2D", "float32", "int8", "uint8", "int16", weight=2)
def max_pool(draw: Draw, types: str) -> TfliteFile:
    return _pool("MAX_POOL_2D", draw, types)


@tflite("L2_POOL_2D", "float32")
def l2_pool(draw: Draw, types: str) -> TfliteFile:
    return _pool("L2_POOL_2D", draw, types)
