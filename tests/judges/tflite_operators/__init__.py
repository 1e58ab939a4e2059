"""The TFLite operators that the judges try, one file a group."""

from tflite_operators import (
    activations,
    choices,
    convolutions,
    element_wise,
    indices,
    normalization,
    pooling,
    quantization,
    recurrences,
    reductions,
    resize,
    shapes,
)
from tflite_operators.registry import OPERATORS, TfliteOperator

__all__ = [
    "OPERATORS",
    "TfliteOperator",
    "activations",
    "choices",
    "convolutions",
    "element_wise",
    "indices",
    "normalization",
    "pooling",
    "quantization",
    "recurrences",
    "reductions",
    "resize",
    "shapes",
]
