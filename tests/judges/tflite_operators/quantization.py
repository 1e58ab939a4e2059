"""From real numbers to integers, back, and from one quantization to another."""

from draw import Draw
from tflite_file import TfliteFile, any_quantization, covering, real_range
from tflite_operators.registry import tflite


@tflite("QUANTIZE", "float32", "int8", "uint8", "int16", weight=2)
def quantize(draw: Draw, types: str) -> TfliteFile:
    """`types` is the input's: float32 is quantized, integers get another quantization."""
    file = TfliteFile()
    shape = draw.shape((2, 4), (1, 9))
    quantization = any_quantization(draw, types)
    values = file.input("input", draw.stored(shape, types), quantization)
    results = {
        "float32": ["int8", "uint8", "int16"],
        "int8": ["int8", "uint8", "int16"],
        "uint8": ["int8", "uint8"],
        "int16": ["int8", "int16", "uint8"],
    }
    result = draw.choice(results[types])
    low, high = real_range(quantization, types)
    output = file.output("output", result, covering(draw, result, low, high))
    file.operator("QUANTIZE", [values], [output], "QuantizeOptions")
    return file


@tflite("DEQUANTIZE", "int8", "uint8", "int16")
def dequantize(draw: Draw, types: str) -> TfliteFile:
    file = TfliteFile()
    shape = draw.shape((2, 4), (1, 9))
    values = file.input("input", draw.stored(shape, types), any_quantization(draw, types))
    file.operator("DEQUANTIZE", [values], [file.output("output", "float32")], "DequantizeOptions")
    return file
