"""Normalization."""

from draw import Draw
from tflite_file import Quantization, TfliteFile, any_quantization
from tflite_operators.registry import tflite

L2_RESULT = {"int8": Quantization([1 / 128], [0]), "uint8": Quantization([1 / 128], [128])}


@tflite("L2_NORMALIZATION", "float32", "int8", "uint8")
def l2_normalization(draw: Draw, types: str) -> TfliteFile:
    file = TfliteFile()
    shape = draw.shape((2, 4), (1, 9))
    values = file.input("input", draw.stored(shape, types), any_quantization(draw, types))
    output = file.output("output", types, L2_RESULT.get(types))
    file.operator("L2_NORMALIZATION", [values], [output], "L2NormOptions")
    return file


@tflite("LOCAL_RESPONSE_NORMALIZATION", "float32")
def local_response_normalization(draw: Draw, types: str) -> TfliteFile:
    file = TfliteFile()
    values = file.input("input", draw.floats(draw.image(sides=(1, 6), channels=(1, 12))))
    file.operator(
        "LOCAL_RESPONSE_NORMALIZATION",
        [values],
        [file.output("output", types)],
        "LocalResponseNormalizationOptions",
        radius=draw.integer(1, 5),
        bias=draw.real(0.5, 2),
        alpha=draw.real(1e-4, 1),
        beta=draw.choice([0.5, 0.75, 1.0]),
    )
    return file
